import BackgroundTasks
import BackgroundTasksTesting
import Testing

@Suite struct HostLaunchTests {
    // MARK: Launching

    @Test("rule 55: continued work starts at once, and each launch calls its handler once")
    func launchedOnce() async throws {
        let machine = try photosMachine()
        let seen = Recorder<String>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), using: nil) { task in
            seen.add(task.identifier)
            task.setTaskCompleted(success: true)
        }
        for name in ["a", "b", "c", "d"] { try machine.scheduler.submit(exportRequest(name)) }
        await machine.settle()
        #expect(Set(seen.values) == Set(["a", "b", "c", "d"].map { id("export.\($0)") }))
        #expect(seen.values.count == 4)
        #expect(machine.scheduler.jobs().map(\.outcome) == Array(repeating: .completed(failures: 0), count: 4))
    }

    @Test("rule 56, A30: processing waits for an idle machine, and ends when its person returns")
    func idle() async throws {
        let machine = try photosMachine()
        let reasons = Recorder<BGStopReason?>()
        machine.scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { task in
            task.expirationHandler = { [weak task] in
                reasons.add(task?.stopReason)
                task?.setTaskCompleted(success: false)
            }
        }
        machine.conditions.change { $0.isIdle = false }
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
        await machine.settle()
        #expect(machine.scheduler.why(id("tidy")).map(\.code) == ["condition.idle"])
        machine.conditions.change { $0.isIdle = true }
        await machine.advance(by: .seconds(120))
        #expect(machine.scheduler.jobs().map(\.state) == [.running])
        machine.conditions.change { $0.isIdle = false }
        await machine.settle()
        #expect(reasons.values == [.conditionLost(.idle)])
        #expect(machine.scheduler.jobs().map(\.outcome) == [.stopped(.conditionLost(.idle))])
    }

    @Test("A32: a request that requires external power does not start before its machine was looked at")
    func conditionsFirst() async throws {
        let machine = try photosMachine(conditions: .roaming)
        machine.scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { _ in }
        let request = BGProcessingTaskRequest(identifier: id("tidy"))
        request.requiresExternalPower = true
        #expect(!machine.conditions.isWatched)
        try machine.scheduler.submit(request)
        #expect(machine.conditions.isWatched)
        #expect(machine.scheduler.why(id("tidy")).map(\.code) == ["condition.externalPower"])
    }

    // MARK: Async handlers

    @Test("rule 10, A46: the return of an async handler completes its task, an error does so without success")
    func asyncCompletion() async throws {
        struct Trouble: Error {}
        let machine = try photosMachine()
        machine.scheduler.register(id("tidy"), for: BGProcessingTask.self) { _ in }
        machine.scheduler.register(id("index"), for: BGProcessingTask.self) { _ in throw Trouble() }
        for (name, outcome) in [
            ("tidy", BGTaskScheduler.Outcome.completed(failures: 0)), ("index", .failed(code: "unsuccessful")),
        ] {
            let events = machine.scheduler.events()
            try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id(name)))
            #expect(await ending(of: id(name), in: events) == outcome)
        }
    }

    @Test("rule 10, A46: expiration cancels the Swift task of an async handler")
    func asyncExpiration() async throws {
        let machine = try photosMachine()
        let seen = Recorder<BGStopReason?>()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        machine.scheduler.register(id("tidy"), for: BGProcessingTask.self) { task in
            begin.yield()
            let (never, _) = AsyncStream<Void>.makeStream()
            for await _ in never {}
            seen.add(task.stopReason)
            try Task.checkCancellation()
        }
        let events = machine.scheduler.events()
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
        for await _ in begun { break }
        machine.scheduler.simulateExpiration(forTaskWithIdentifier: id("tidy"), reason: .shutdown)
        #expect(await ending(of: id("tidy"), in: events) == .stopped(.shutdown))
        #expect(seen.values == [.shutdown])
    }

    @Test("rule 10: the return of a closure is not completion")
    func closureReturn() async throws {
        let machine = try photosMachine()
        machine.scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { _ in }
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
        await machine.advance(by: .seconds(60))
        #expect(machine.scheduler.jobs().map(\.state) == [.running])
    }
}
