package import TaskModel

extension Scheduler {
    /// The process that did a task's work was lost, and the work can be taken up again: it is tried again later, a few
    /// times, each time after a longer wait.
    package mutating func crashed(_ id: JobID, code: String, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        guard let run = running[id] else { return [] }
        return retryLater(run, code: code) + schedule()
    }

    /// Ends this attempt; the request waits for another one, or has failed when there were enough.
    mutating func retryLater(_ run: RunningEntry, code: String) -> [SchedulerAction] {
        if case .expiring(let reason, _) = run.machine.phase {
            return endRunning(run.id, .stopped(reason), isResumable: true)
        }
        guard run.attempt < settings.maxAttempts else {
            return endRunning(run.id, .failed(code: code), isResumable: true)
        }
        let delay = min(settings.backoff * (1 << min(run.attempt - 1, 20)), settings.longestBackoff)
        return requeue(run.id, notBefore: now + delay)
    }
}
