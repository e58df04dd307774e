import BackgroundTasks
import BackgroundTasksTesting
import Foundation
import Testing

@Suite struct ScheduleTests {
    // MARK: Described days

    @Test("rule 99: 48 hours described in code are played, and tell who ran and who waited for what")
    func describedInCode() throws {
        var day = SimulatedDay(length: .seconds(48 * 3_600))
        try day.addProgram(
            photos, modes: [.refresh, .processing, .continued],
            permittedIdentifiers: ["\(photos).fetch", "\(photos).tidy", "\(photos).export.*"])
        day.set(.calm, at: .zero)
        var away = SimulatedConditions.calm
        away.set(.network, isMet: false)
        day.set(away, at: .seconds(3_600))
        day.set(.calm, at: .seconds(7_200))
        let tidy = BGProcessingTaskRequest(identifier: "\(photos).tidy")
        tidy.requiresNetworkConnectivity = true
        day.submit(tidy, at: .seconds(4_000), work: .seconds(600))
        for minute in stride(from: 0, to: 48 * 60, by: 4) {
            day.submit(exportRequest("n\(minute)"), at: .seconds(minute * 60), work: .seconds(100))
        }
        day.add(.stop("\(photos).export.n8"), at: .seconds(8 * 60 + 30))
        day.submit(BGProcessingTaskRequest(identifier: "\(photos).unknown"), at: .seconds(60), work: .seconds(1))
        let timeline = day.play()
        #expect(timeline.length == .seconds(48 * 3_600))
        #expect(timeline.requests.count == 721)
        let waiting = try #require(timeline.requests("\(photos).tidy").first)
        #expect(waiting.waitedFor["condition.network"] == .seconds(3_200))
        #expect(waiting.starts == [.seconds(7_200)])
        #expect(waiting.outcome == .completed(failures: 0))
        let stopped = try #require(timeline.requests("\(photos).export.n8").first)
        #expect(stopped.stops == [.init(at: .seconds(8 * 60 + 30), reason: .userStop)])
        #expect(stopped.outcome == .stopped(.userStop))
        #expect(timeline.refusals.map(\.error.code) == [.notPermitted])
        #expect(timeline.requests.filter { $0.outcome == .completed(failures: 0) }.count == 720)
        #expect(timeline.text().contains("tidy"))
        #expect(timeline.svg.contains("<svg"))
    }

    @Test func aDescribedTextIsPlayedAndItsMistakesAreTold() throws {
        let text = """
            start: 2026-03-02T08:00Z
            length: 4h
            programs:
              - {program: org.example.app, modes: [continued], identifiers: [org.example.app.job.*]}
            conditions:
              - {power: external}
            requests:
              - {at: 09:00, identifier: org.example.app.job.a, kind: continued, work: 10m}
            """
        let job = try #require(try SimulatedDay(parsing: text).play().requests.first)
        #expect(job.starts == [.seconds(3_600)])
        let error = try #require(throws: TraceError.self) {
            try SimulatedDay(parsing: text.replacing("kind: continued", with: "kind: continual"), file: "day.yml")
        }
        #expect(error.mistakes.map(\.line) == [8])
        #expect(error.mistakes.map(\.field) == ["requests[0].kind"])
    }

    // MARK: Real handlers

    @Test("rule 99: real launch handlers run through 48 hours of conditions, and the timeline says what came of them")
    func realHandlers() async throws {
        let machine = try photosMachine()
        let (scheduler, clock) = (machine.scheduler, machine.clock)
        let runs = Shared(0)
        scheduler.register(forTaskWithIdentifier: "\(photos).tidy", using: nil) { [weak scheduler] task in
            runs.change { $0 += 1 }
            task.expirationHandler = { [weak task] in task?.setTaskCompleted(success: false) }
            clock.after(.seconds(600)) { [weak scheduler] in
                let request = BGProcessingTaskRequest(identifier: task.identifier)
                request.earliestBeginDate = clock.date.addingTimeInterval(3_000)
                task.setTaskCompleted(success: true)
                try? scheduler?.submit(request)
            }
        }
        var trace = ConditionsTrace()
        var busy = SimulatedConditions.calm
        busy.isIdle = false
        for day in 0..<2 {
            trace.record(busy, at: .seconds(day * 86_400 + 8 * 3_600 + 1_800))
            trace.record(.calm, at: .seconds(day * 86_400 + 18 * 3_600))
        }
        machine.conditions.play(trace, on: clock)
        try scheduler.submit(BGProcessingTaskRequest(identifier: "\(photos).tidy"))
        await machine.advance(by: .seconds(48 * 3_600))
        let timeline = machine.timeline
        #expect(timeline.length == .seconds(48 * 3_600))
        let requests = timeline.requests("\(photos).tidy")
        #expect(requests.count == runs.current)
        let waited = requests.reduce(Duration.zero) { $0 + ($1.waitedFor["condition.idle"] ?? .zero) }
        #expect(waited > .seconds(17 * 3_600))
        for request in requests.dropLast() {
            #expect(request.spans.first?.from == request.submitted)
            #expect(zip(request.spans, request.spans.dropFirst()).allSatisfy { $0.to == $1.from })
            #expect(request.outcome == .completed(failures: 0))
            #expect(request.worked == .seconds(600))
        }
    }

    @Test("rule 99: async handlers sleep on the machine's clock, and are driven through two days")
    func asyncHandlers() async throws {
        let machine = try photosMachine()
        let clock = machine.clock
        machine.scheduler.register("\(photos).export.*", for: BGContinuedProcessingTask.self) { task in
            task.progress.totalUnitCount = 10
            for _ in 0..<10 {
                try await clock.sleep(for: .seconds(30))
                task.chunkCommitted(units: 1)
            }
        }
        for hour in 0..<48 {
            clock.after(.seconds(hour * 3_600)) { [weak scheduler = machine.scheduler] in
                try? scheduler?.submit(exportRequest("h\(hour)"))
            }
        }
        await machine.advance(by: .seconds(48 * 3_600))
        let requests = machine.timeline.requests
        #expect(requests.count == 48)
        #expect(requests.allSatisfy { $0.outcome == .completed(failures: 0) && $0.worked == .seconds(300) })
    }

    @Test("rule 99: an export a minute, stopped each hour, is driven through two days")
    func everyMinute() async throws {
        let machine = try photosMachine()
        let (scheduler, clock) = (machine.scheduler, machine.clock)
        scheduler.register(forTaskWithIdentifier: "\(photos).export.*", using: nil) { task in
            task.expirationHandler = { [weak task] in task?.setTaskCompleted(success: false) }
            clock.after(.seconds(20)) { task.setTaskCompleted(success: true) }
        }
        for minute in 0..<48 * 60 {
            try scheduler.submit(exportRequest("m\(minute)"))
            await machine.advance(by: .seconds(10))
            if minute % 60 == 0 { scheduler.stop(taskWithIdentifier: "\(photos).export.m\(minute)") }
            await machine.advance(by: .seconds(50))
        }
        let timeline = machine.timeline
        #expect(timeline.length == .seconds(48 * 3_600))
        #expect(timeline.requests.count == 2_880)
        #expect(timeline.requests.filter { $0.outcome == .stopped(.userStop) && $0.worked == .seconds(10) }.count == 48)
        #expect(
            timeline.requests.filter { $0.outcome == .completed(failures: 0) && $0.worked == .seconds(20) }.count
                == 2_832)
    }

    @Test func anAsyncHandlerThatSleepsIsWokenByItsExpiration() async throws {
        let machine = try photosMachine()
        let clock = machine.clock
        machine.scheduler.register("\(photos).export.*", for: BGContinuedProcessingTask.self) { _ in
            try await clock.sleep(for: .seconds(3_600))
        }
        try machine.scheduler.submit(exportRequest())
        await machine.advance(by: .seconds(60))
        machine.scheduler.simulateExpiration(forTaskWithIdentifier: "\(photos).export.one", reason: .sleep)
        await machine.settle()
        let export = try #require(machine.timeline.requests.first)
        #expect(export.stops == [.init(at: .seconds(60), reason: .sleep)])
        #expect(export.outcome == .stopped(.sleep))
        #expect(export.ended == .seconds(60))
    }

    @Test func aTimelineTellsRefusalsPausesAndPromotions() async throws {
        let machine = try photosMachine()
        let clock = machine.clock
        machine.scheduler.register("\(photos).export.*", for: BGContinuedProcessingTask.self) { task in
            for _ in 0..<10 {
                try await clock.sleep(for: .seconds(10))
                await task.waitWhilePaused()
            }
        }
        try machine.scheduler.submit(exportRequest())
        await machine.advance(by: .seconds(25))
        machine.scheduler.pause(taskWithIdentifier: "\(photos).export.one")
        await machine.advance(by: .seconds(20))
        machine.scheduler.resume(taskWithIdentifier: "\(photos).export.one")
        machine.scheduler.demote(taskWithIdentifier: "\(photos).export.one")
        #expect(throws: BGTaskScheduler.Error.self) { try machine.scheduler.submit(exportRequest()) }
        await machine.advance(by: .seconds(200))
        let timeline = machine.timeline
        let export = try #require(timeline.requests.first)
        #expect(export.spans.map(\.state) == [.foreground, .pausing, .paused, .background])
        #expect(export.spans.map(\.from) == [.zero, .seconds(25), .seconds(30), .seconds(45)])
        #expect(export.waitedFor["pausedByPerson"] == .seconds(20))
        #expect(timeline.refusals.map(\.error.failures.first?.detail) == ["alreadyRunning"])
        #expect(timeline.refusals.map(\.at) == [.seconds(45)])
    }
}
