import BackgroundTasks

/// How a task ends that has not ended yet; nil when the stream ends before.
func ending(
    of identifier: String, in events: AsyncStream<BGTaskScheduler.Event>
) async -> BGTaskScheduler.Outcome? {
    for await event in events where event.identifier == identifier {
        if case .ended(let outcome) = event.kind { return outcome }
    }
    return nil
}

/// Listens first and looks then, so that an end between the two is not missed.
func ending(
    of identifier: String, in scheduler: BGTaskScheduler, is expected: BGTaskScheduler.Outcome
) async -> Bool {
    let events = scheduler.events()
    if let outcome = scheduler.jobs().last(where: { $0.identifier == identifier })?.outcome {
        return outcome == expected
    }
    return await ending(of: identifier, in: events) == expected
}
