import BackgroundTasks
import BackgroundTasksTesting
import Dispatch
import Foundation
import Testing

@Suite struct RegistrationTests {
    @Test("rule 4, A3: an identifier that is not permitted is not registered, and the closest ones are named")
    func notPermitted() throws {
        let scheduler = try photosMachine().scheduler
        #expect(!scheduler.register(forTaskWithIdentifier: id("tydi"), using: nil) { _ in })
        let diagnostic = try #require(scheduler.diagnostics.last)
        #expect(diagnostic.code == "identifierNotPermitted")
        #expect(diagnostic.identifier == id("tydi"))
        #expect(diagnostic.sentence.contains("\"\(id("tidy"))\""))
        #expect(scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { _ in })
    }

    @Test("rule 5, A1: refresh and processing handlers come before activate(), continued ones at any time")
    func late() throws {
        let scheduler = try photosMachine().scheduler
        #expect(scheduler.register(forTaskWithIdentifier: id("refresh"), using: nil) { _ in })
        scheduler.activate()
        #expect(!scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { _ in })
        #expect(scheduler.diagnostics.last?.code == "registeredLate")
        #expect(!scheduler.register(id("index"), for: BGProcessingTask.self) { _ in })
        #expect(scheduler.register(forTaskWithIdentifier: id("export.one"), using: nil) { _ in })
        #expect(scheduler.register(id("upload"), for: BGContinuedProcessingTask.self) { _ in })
    }

    @Test("rule 6, A4: a second registration of an identifier returns false")
    func twice() throws {
        let scheduler = try photosMachine().scheduler
        #expect(scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { _ in })
        #expect(!scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { _ in })
        #expect(scheduler.diagnostics.last?.code == "registeredTwice")
    }

    @Test("rule 6, A4: in strict mode a second registration traps")
    func strict() async {
        await #expect(processExitsWith: .failure) {
            let scheduler = try photosMachine(isStrict: true).scheduler
            scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { _ in }
            scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { _ in }
        }
    }

    @Test("rule 7, A17: the handler of exactly the identifier is called, else that of the longest pattern")
    func exactFirst() async throws {
        let machine = try photosMachine()
        let called = Recorder<String>()
        for name in ["export.*", "export.big.*", "export.big.one"] {
            machine.scheduler.register(forTaskWithIdentifier: id(name), using: nil) { task in
                called.add("\(name) \(task.identifier)")
                task.setTaskCompleted(success: true)
            }
        }
        for name in ["one", "big.two", "big.one", "big.one.x"] {
            try machine.scheduler.submit(exportRequest(name))
            await machine.settle()
        }
        #expect(
            called.values == [
                "export.* \(id("export.one"))", "export.big.* \(id("export.big.two"))",
                "export.big.one \(id("export.big.one"))", "export.big.* \(id("export.big.one.x"))",
            ])
    }

    @Test("rule 3, A17: a wildcard needs a suffix, and a pattern itself cannot be submitted")
    func suffix() throws {
        let scheduler = try photosMachine().scheduler
        scheduler.register(forTaskWithIdentifier: id("export.*"), using: nil) { _ in }
        #expect(try refusal(scheduler, exportRequest("")).code == .notPermitted)
        #expect(try refusal(scheduler, exportRequest("*")).code == .notPermitted)
    }

    @Test("rule 8: a typed handler gets its class, and another kind of request is refused at submission")
    func typed() async throws {
        let machine = try photosMachine()
        let seen = Recorder<String>()
        machine.scheduler.register(forTaskWithIdentifier: id("tidy"), as: BGProcessingTask.self) { task in
            seen.add(task.identifier)
            task.setTaskCompleted(success: true)
        }
        let error = try refusal(machine.scheduler, BGAppRefreshTaskRequest(identifier: id("tidy")))
        #expect(error.code == .notPermitted)
        #expect(error.failures.contains { $0.detail == "handlerMismatch" })
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
        await machine.settle()
        #expect(seen.values == [id("tidy")])
    }

    @Test("rule 9, A5: handlers run away from the submitting thread, and never inside submit")
    func notInside() async throws {
        let machine = try photosMachine()
        let queue = DispatchQueue(label: "mine")
        let seen = Recorder<Bool>()
        machine.scheduler.register(forTaskWithIdentifier: id("tidy"), using: queue) { task in
            dispatchPrecondition(condition: .onQueue(queue))
            seen.add(true)
            task.setTaskCompleted(success: true)
        }
        machine.scheduler.register(forTaskWithIdentifier: id("index"), using: nil) { task in
            seen.add(!Thread.isMainThread)
            task.setTaskCompleted(success: true)
        }
        queue.suspend()
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
        #expect(seen.values.isEmpty)
        queue.resume()
        await machine.settle()
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("index")))
        await machine.settle()
        #expect(seen.values == [true, true])
    }

    @Test("rule 9: an async handler runs on the executor it was given")
    func executor() async throws {
        let machine = try photosMachine()
        let executor = CountingExecutor()
        let (ends, end) = AsyncStream<Void>.makeStream()
        machine.scheduler.register(id("tidy"), for: BGProcessingTask.self, on: executor) { _ in end.yield() }
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
        for await _ in ends { break }
        #expect(executor.jobs > 0)
    }

    @Test("rule 11, A2: activate() lists permitted identifiers without a handler, and submitting to one is refused")
    func handlerMissing() throws {
        let scheduler = try photosMachine().scheduler
        scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { _ in }
        let warnings = scheduler.activate()
        #expect(Set(warnings.map(\.code)) == ["handlerMissing"])
        #expect(warnings.contains { $0.sentence.contains(id("refresh")) })
        #expect(!warnings.contains { $0.sentence.contains(id("tidy")) })
        let error = try refusal(scheduler, BGAppRefreshTaskRequest(identifier: id("refresh")))
        #expect(error.code == .notPermitted)
        #expect(error.failures.map(\.detail).contains("handlerMissing"))
    }

    @Test("rule 1: without a manifest nothing can be registered or submitted, and the error says what to do")
    func noManifest() throws {
        let scheduler = SimulatedMachine(nil).scheduler
        #expect(!scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { _ in })
        let error = try refusal(scheduler, BGProcessingTaskRequest(identifier: id("tidy")))
        #expect(error.code == .notPermitted && !error.fix.isEmpty)
    }

    @Test("rule 1: a new manifest keeps the handlers that it still permits")
    func reconfigured() throws {
        let scheduler = try photosMachine().scheduler
        scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { _ in }
        scheduler.register(forTaskWithIdentifier: id("index"), using: nil) { _ in }
        try scheduler.configure(
            program: "org.example.photos", modes: [.processing], permittedIdentifiers: [id("tidy"), id("other")])
        #expect(!scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { _ in })
        #expect(try refusal(scheduler, BGProcessingTaskRequest(identifier: id("index"))).code == .notPermitted)
        try scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
    }
}

private final class CountingExecutor: TaskExecutor {
    private let recorder = Recorder<Void>()
    private let queue = DispatchQueue(label: "executor")

    var jobs: Int { recorder.values.count }

    func enqueue(_ job: consuming ExecutorJob) {
        recorder.add(())
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
