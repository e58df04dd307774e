import BackgroundTasks
import BackgroundTasksTesting
import Dispatch
import Foundation
import SchedulingCore
import TaskModel
import Testing

@Suite struct HostTests {
    private static var roaming: SimulatedConditions {
        var conditions = SimulatedConditions.calm
        conditions.power = .battery
        conditions.batteryPercent = 80
        return conditions
    }

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
        let machine = try photosMachine(conditions: Self.roaming)
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

    // MARK: Expiration

    @Test("rule 69, A21: the reason is set before the expiration handler runs", arguments: reasons)
    func reasonFirst(reason: BGStopReason) async throws {
        let machine = try photosMachine()
        let seen = Recorder<BGStopReason?>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), using: nil) { task in
            task.expirationHandler = { [weak task] in
                seen.add(task?.stopReason)
                task?.setTaskCompleted(success: false)
            }
        }
        try machine.scheduler.submit(exportRequest())
        await machine.settle()
        machine.scheduler.simulateExpiration(forTaskWithIdentifier: id("export.one"), reason: reason)
        await machine.settle()
        #expect(seen.values == [reason])
        #expect(machine.scheduler.jobs().map(\.outcome) == [.stopped(reason)])
    }

    private static let reasons: [BGStopReason] = [
        .userStop, .stalled, .slowDeclined, .timeBudget, .conditionLost(.thermal), .preempted, .memoryPressure,
        .deviceLost, .shutdown, .sleep, .hostRemoved, .quota, .simulated,
    ]

    @Test("rule 70, A24: the expiration handler runs at most once and is cleared then")
    func handlerOnce() async throws {
        let machine = try photosMachine()
        let tasks = Recorder<BGTask>()
        let calls = Recorder<Void>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), using: nil) { task in
            tasks.add(task)
            task.expirationHandler = { calls.add(()) }
        }
        try machine.scheduler.submit(exportRequest())
        await machine.settle()
        for _ in 0..<3 { machine.scheduler.stop(taskWithIdentifier: id("export.one")) }
        await machine.settle()
        #expect(calls.values.count == 1)
        #expect(tasks.values[0].expirationHandler == nil)
    }

    @Test("rule 71, A24: all handlers together have one fixed grace, whatever their number")
    func oneGrace() async throws {
        let machine = try photosMachine()
        for name in ["tidy", "index"] {
            machine.scheduler.register(forTaskWithIdentifier: id(name), using: nil) { task in
                task.expirationHandler = {}
            }
            try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id(name)))
        }
        await machine.settle()
        machine.scheduler.host.perform { state, now in state.add(state.scheduler.stopAll(.shutdown, at: now)) }
        await machine.advance(by: .milliseconds(4_999))
        #expect(machine.scheduler.jobs().map(\.state) == [.expiring, .expiring])
        await machine.advance(by: .milliseconds(1))
        #expect(machine.scheduler.jobs().map(\.state) == [.ended, .ended])
    }

    @Test("rule 72, A25: without a handler the task ends at once and without success")
    func noHandler() async throws {
        let machine = try photosMachine()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), using: nil) { _ in }
        try machine.scheduler.submit(exportRequest())
        await machine.settle()
        machine.scheduler.stop(taskWithIdentifier: id("export.one"))
        #expect(machine.scheduler.jobs().map(\.outcome) == [.stopped(.userStop)])
        #expect(!machine.scheduler.diagnostics.map(\.code).contains("graceExceeded"))
    }

    @Test("rule 73, A26: work that does not end within its grace is flagged, and counts as ended")
    func overrun() async throws {
        let machine = try photosMachine()
        let tasks = Recorder<BGTask>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), using: nil) { task in
            tasks.add(task)
            task.expirationHandler = {}
        }
        try machine.scheduler.submit(exportRequest())
        await machine.settle()
        machine.scheduler.stop(taskWithIdentifier: id("export.one"))
        await machine.advance(by: .seconds(5))
        #expect(machine.scheduler.diagnostics.map(\.code).contains("graceExceeded"))
        #expect(machine.scheduler.jobs().map(\.outcome) == [.stopped(.userStop)])
        tasks.values[0].setTaskCompleted(success: true)
        #expect(machine.scheduler.jobs().map(\.outcome) == [.stopped(.userStop)])
    }

    @Test("rule 73, A26: in strict mode work that does not end within its grace traps")
    func strictOverrun() async {
        await #expect(processExitsWith: .failure) {
            let machine = try photosMachine(isStrict: true)
            machine.scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { task in
                task.expirationHandler = {}
            }
            try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
            await machine.settle()
            machine.scheduler.stop(taskWithIdentifier: id("tidy"))
            await machine.advance(by: .seconds(5))
        }
    }

    @Test("rule 74: completion counts once, and later ones are noted")
    func completedTwice() async throws {
        let machine = try photosMachine()
        machine.scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { task in
            task.setTaskCompleted(success: false)
            task.setTaskCompleted(success: true)
        }
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
        await machine.settle()
        #expect(machine.scheduler.jobs().map(\.outcome) == [.failed(code: "unsuccessful")])
        #expect(machine.scheduler.diagnostics.map(\.code) == ["completedTwice"])
        #expect(machine.scheduler.diagnostics[0].identifier == id("tidy"))
    }

    @Test("rule 74: success after an expiration counts only when the progress is finished", arguments: [3, 4])
    func successAfterExpiry(units: Int64) async throws {
        let machine = try photosMachine()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            task.progress.totalUnitCount = 4
            task.expirationHandler = { [weak task] in
                task?.progress.completedUnitCount = units
                task?.setTaskCompleted(success: true)
            }
        }
        try machine.scheduler.submit(exportRequest())
        await machine.settle()
        machine.scheduler.stop(taskWithIdentifier: id("export.one"))
        await machine.settle()
        let expected: BGTaskScheduler.Outcome = units == 4 ? .completed(failures: 0) : .stopped(.userStop)
        #expect(machine.scheduler.jobs().map(\.outcome) == [expected])
    }

    @Test("rule 70: a task that has to stop before its handler was called is launched all the same, and told then")
    func expiredBeforeLaunch() async throws {
        let machine = try photosMachine()
        let queue = DispatchQueue(label: "busy")
        let seen = Recorder<String>()
        machine.scheduler.register(forTaskWithIdentifier: id("tidy"), using: queue) { task in
            seen.add("launched, \(task.stopReason?.code ?? "none")")
            task.expirationHandler = { [weak task] in
                seen.add("expired")
                task?.setTaskCompleted(success: false)
            }
        }
        queue.suspend()
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
        machine.scheduler.stop(taskWithIdentifier: id("tidy"))
        queue.resume()
        await machine.settle()
        #expect(seen.values == ["launched, userStop", "expired"])
        #expect(machine.scheduler.jobs().map(\.outcome) == [.stopped(.userStop)])
    }

    // MARK: Progress and titles

    @Test("rule 59, A20: the fraction of the whole progress tree is seen about once a second while work runs")
    func sampled() async throws {
        let machine = try photosMachine()
        let tasks = Recorder<BGContinuedProcessingTask>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            task.progress.totalUnitCount = 10
            let child = Progress(totalUnitCount: 4, parent: task.progress, pendingUnitCount: 5)
            child.completedUnitCount = 2
            tasks.add(task)
        }
        try machine.scheduler.submit(exportRequest())
        await machine.advance(by: .seconds(1))
        #expect(machine.scheduler.jobs()[0].fractionCompleted == 0.25)
        tasks.values[0].progress.completedUnitCount += 5
        await machine.advance(by: .seconds(1))
        #expect(machine.scheduler.jobs()[0].fractionCompleted == 0.75)
        tasks.values[0].setTaskCompleted(success: true)
        await machine.advance(by: .seconds(60))
        let rings = machine.clock.rings
        await machine.advance(by: .seconds(3_600))
        #expect(machine.clock.rings == rings)
    }

    @Test("rule 60: committed chunks are progress at once, totals may grow, and a fraction that falls is noted")
    func chunks() async throws {
        let machine = try photosMachine()
        let tasks = Recorder<BGContinuedProcessingTask>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            task.progress.totalUnitCount = 400
            tasks.add(task)
        }
        let events = machine.scheduler.events()
        try machine.scheduler.submit(exportRequest())
        await machine.settle()
        let task = tasks.values[0]
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { task.chunkCommitted(units: 2) } }
        }
        #expect(machine.scheduler.jobs()[0].fractionCompleted == 0.5)
        task.progress.totalUnitCount = 800
        task.chunkCommitted(units: 1)
        #expect(machine.scheduler.jobs()[0].fractionCompleted == 201.0 / 800)
        #expect(machine.scheduler.jobs()[0].state == .running)
        task.setTaskCompleted(success: true)
        var falls: [Double] = []
        for await event in events {
            if case .progressFell(let from, _) = event.kind { falls.append(from) }
            if case .ended = event.kind { break }
        }
        #expect(falls == [0.5])
    }

    @Test("rule 61, A20: work that shows no progress is warned of at half its limit and stopped at the limit")
    func stalled() async throws {
        let machine = try photosMachine()
        let seen = Recorder<BGStopReason?>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            task.progress.totalUnitCount = 10
            task.progress.completedUnitCount = 1
            task.expirationHandler = { [weak task] in
                seen.add(task?.stopReason)
                task?.setTaskCompleted(success: false)
            }
        }
        let events = machine.scheduler.events()
        try machine.scheduler.submit(exportRequest())
        await machine.advance(by: .seconds(400))
        #expect(seen.values == [.stalled])
        var warned = false
        for await event in events {
            if case .stallWarning = event.kind { warned = true }
            if case .ended = event.kind { break }
        }
        #expect(warned)
    }

    @Test("rule 62: a heartbeat with a phase extends the limit once for each phase")
    func heartbeat() async throws {
        let machine = try photosMachine()
        let tasks = Recorder<BGContinuedProcessingTask>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            tasks.add(task)
        }
        try machine.scheduler.submit(exportRequest())
        await machine.settle()
        for phase in ["load", "compile"] {
            await machine.advance(by: .seconds(250))
            tasks.values[0].heartbeat(phase: phase)
        }
        await machine.advance(by: .seconds(250))
        #expect(machine.scheduler.jobs()[0].state == .running)
        tasks.values[0].heartbeat(phase: "compile")
        await machine.advance(by: .seconds(60))
        #expect(machine.scheduler.jobs()[0].outcome == .stopped(.stalled))
    }

    @Test("rule 64: without a total counts are shown and no fraction, and counting proves life")
    func indeterminate() async throws {
        let machine = try photosMachine()
        let tasks = Recorder<BGContinuedProcessingTask>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            task.progress.totalUnitCount = -1
            tasks.add(task)
        }
        try machine.scheduler.submit(exportRequest())
        await machine.settle()
        for _ in 0..<10 {
            tasks.values[0].progress.completedUnitCount += 1
            await machine.advance(by: .seconds(200))
        }
        #expect(machine.scheduler.jobs()[0].state == .running)
        #expect(machine.scheduler.jobs()[0].fractionCompleted == nil)
    }

    @Test("rule 66, A18: a new title is shown at once, and a storm of titles ten times a second")
    func titles() async throws {
        let machine = try photosMachine()
        let tasks = Recorder<BGContinuedProcessingTask>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            tasks.add(task)
        }
        let events = machine.scheduler.events()
        try machine.scheduler.submit(exportRequest())
        await machine.settle()
        let task = tasks.values[0]
        #expect(task.title == "Export" && task.subtitle == "Starting")
        for index in 0...99 {
            task.updateTitle("Export", subtitle: "\(index) of 100")
            await machine.advance(by: .milliseconds(10))
        }
        #expect(machine.scheduler.jobs()[0].subtitle == "99 of 100")
        await machine.advance(by: .milliseconds(250))
        task.setTaskCompleted(success: true)
        var shown: [String] = []
        for await event in events {
            if case .titleChanged(_, let subtitle) = event.kind { shown.append(subtitle) }
            if case .ended = event.kind { break }
        }
        #expect(shown.first == "0 of 100" && shown.last == "99 of 100")
        #expect((5...11).contains(shown.count))
    }

    @Test("rule 80, A22: completed entries dismiss themselves after 5 s, failed ones stay until they are dismissed")
    func dismissal() async throws {
        let machine = try photosMachine()
        for (name, success) in [("tidy", true), ("index", false)] {
            machine.scheduler.register(forTaskWithIdentifier: id(name), using: nil) { task in
                task.setTaskCompleted(success: success)
            }
            try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id(name)))
        }
        await machine.advance(by: .milliseconds(4_900))
        #expect(machine.scheduler.jobs().count == 2)
        await machine.advance(by: .seconds(1))
        #expect(machine.scheduler.jobs().map(\.identifier) == [id("index")])
        let entry = machine.scheduler.jobs()[0].id
        machine.scheduler.retry(entry)
        await machine.settle()
        #expect(machine.scheduler.jobs().map(\.id) == [entry])
        machine.scheduler.dismiss(entry)
        #expect(machine.scheduler.jobs().isEmpty)
    }

    @Test("rule 79, A23: when the host is removed, queued continued work is dropped and running work ends unheard")
    func hostRemoved() async throws {
        let machine = try photosMachine()
        let heard = Recorder<Void>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), using: nil) { task in
            task.expirationHandler = { heard.add(()) }
        }
        for name in ["a", "b", "c"] { try machine.scheduler.submit(exportRequest(name)) }
        await machine.settle()
        machine.scheduler.host.perform { state, now in
            state.add(state.scheduler.hostRemoved(program: state.program, at: now))
        }
        await machine.settle()
        #expect(heard.values.isEmpty)
        #expect(Set(machine.scheduler.jobs().map(\.outcome)) == [.stopped(.hostRemoved)])
    }

    // MARK: Pausing and promotion

    @Test("rule 52: continued work that loses a condition pauses at its next chunk and goes on by itself")
    func pausing() async throws {
        let machine = try photosMachine()
        let (chunks, chunk) = AsyncStream<Int>.makeStream()
        let (steps, step) = AsyncStream<Void>.makeStream()
        machine.scheduler.register(id("export.*"), for: BGContinuedProcessingTask.self) { task in
            var count = 0
            for await _ in steps {
                await task.waitWhilePaused()
                count += 1
                chunk.yield(count)
                if count == 3 { break }
            }
        }
        var done = chunks.makeAsyncIterator()
        let request = exportRequest()
        request.initiator = .script
        let events = machine.scheduler.events()
        try machine.scheduler.submit(request)
        step.yield()
        #expect(await done.next() == 1)
        machine.conditions.change { $0.thermal = .critical }
        step.yield()
        for await event in events {
            if case .paused = event.kind { break }
        }
        #expect(machine.scheduler.jobs()[0].state == .paused)
        #expect(machine.scheduler.why(id("export.one")).map(\.code) == ["condition.thermal"])
        machine.conditions.change { $0.thermal = .nominal }
        await machine.advance(by: .seconds(120))
        #expect(await done.next() == 2)
        step.yield()
        #expect(await done.next() == 3)
        #expect(await ending(of: id("export.one"), in: machine.scheduler, is: .completed(failures: 0)))
    }

    @Test("rule 94: a person pauses work at its next chunk, a thread that blocks as well, and lets it go on")
    func blockingPause() async throws {
        let machine = try photosMachine()
        let start = DispatchSemaphore(value: 0)
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            start.wait()
            task.blockWhilePaused()
            task.setTaskCompleted(success: true)
        }
        let events = machine.scheduler.events()
        try machine.scheduler.submit(exportRequest())
        machine.scheduler.pause(taskWithIdentifier: id("export.one"))
        start.signal()
        for await event in events {
            if case .paused = event.kind { break }
        }
        #expect(machine.scheduler.why(id("export.one")).map(\.code) == ["pausedByPerson"])
        machine.scheduler.resume(taskWithIdentifier: id("export.one"))
        await machine.settle()
        #expect(machine.scheduler.jobs()[0].outcome == .completed(failures: 0))
    }

    @Test("rule 94: work that has to stop while it is paused is let go to do so")
    func stopWhilePaused() async throws {
        let machine = try photosMachine()
        let start = DispatchSemaphore(value: 0)
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            task.expirationHandler = {}
            start.wait()
            task.blockWhilePaused()
            task.setTaskCompleted(success: false)
        }
        let events = machine.scheduler.events()
        try machine.scheduler.submit(exportRequest())
        machine.scheduler.pause(taskWithIdentifier: id("export.one"))
        start.signal()
        for await event in events {
            if case .paused = event.kind { break }
        }
        machine.scheduler.stop(taskWithIdentifier: id("export.one"))
        await machine.settle()
        #expect(machine.scheduler.jobs()[0].outcome == .stopped(.userStop))
    }

    @Test("rule 89, A29: promotion and demotion reach running work as new terms")
    func promotion() async throws {
        let machine = try photosMachine()
        let tasks = Recorder<BGContinuedProcessingTask>()
        let heard = Recorder<BGRunTerms.Priority>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            task.termsHandler = { heard.add($0.priority) }
            tasks.add(task)
        }
        let request = exportRequest()
        request.initiator = .script
        try machine.scheduler.submit(request)
        await machine.settle()
        #expect(tasks.values[0].terms.priority == .background)
        #expect(machine.scheduler.promote(taskWithIdentifier: id("export.one")))
        await machine.settle()
        #expect(tasks.values[0].terms.priority == .foreground)
        #expect(tasks.values[0].terms.chunkTarget >= .milliseconds(200) && tasks.values[0].terms.dutyCycle == 1)
        await machine.advance(by: .seconds(10))
        #expect(machine.scheduler.demote(taskWithIdentifier: id("export.one")))
        await machine.settle()
        #expect(heard.values == [.foreground, .background])
    }

    // MARK: Test hooks and events

    @Test("rule 99, A39: a launch and an expiration can be simulated, with no debugger and whatever the conditions")
    func simulated() async throws {
        let machine = try photosMachine(conditions: Self.roaming)
        let reasons = Recorder<BGStopReason?>()
        machine.scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { task in
            task.expirationHandler = { [weak task] in
                reasons.add(task?.stopReason)
                task?.setTaskCompleted(success: false)
            }
        }
        #expect(!machine.scheduler.simulateLaunch(forTaskWithIdentifier: id("tidy")))
        let request = BGProcessingTaskRequest(identifier: id("tidy"))
        request.requiresExternalPower = true
        request.earliestBeginDate = machine.clock.date.addingTimeInterval(86_400)
        try machine.scheduler.submit(request)
        #expect(!machine.scheduler.simulateExpiration(forTaskWithIdentifier: id("tidy")))
        #expect(machine.scheduler.simulateLaunch(forTaskWithIdentifier: id("tidy")))
        await machine.settle()
        #expect(machine.scheduler.jobs().map(\.state) == [.running])
        #expect(machine.scheduler.simulateExpiration(forTaskWithIdentifier: id("tidy")))
        await machine.settle()
        #expect(reasons.values == [.simulated])
    }

    @Test("rule 96: every listener gets the same events in their order")
    func events() async throws {
        let machine = try photosMachine()
        machine.scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { $0.setTaskCompleted(success: true) }
        let streams = [machine.scheduler.events(), machine.scheduler.events()]
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
        for stream in streams {
            var names: [String] = []
            for await event in stream {
                #expect(event.identifier == id("tidy"))
                switch event.kind {
                case .submitted: names.append("submitted")
                case .started: names.append("started")
                case .ended: names.append("ended")
                default: names.append("other")
                }
                if names.last == "ended" { break }
            }
            #expect(names == ["submitted", "started", "ended"])
        }
    }

    @Test("rule 99: 48 hours of hourly requests run without waiting")
    func twoDays() async throws {
        let machine = try photosMachine()
        let runs = Recorder<Date>()
        let (scheduler, clock) = (machine.scheduler, machine.clock)
        func submitNext() throws {
            let request = BGProcessingTaskRequest(identifier: id("tidy"))
            request.earliestBeginDate = clock.date.addingTimeInterval(3_600)
            try scheduler.submit(request)
        }
        scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { [weak scheduler] task in
            runs.add(clock.date)
            let request = BGProcessingTaskRequest(identifier: task.identifier)
            request.earliestBeginDate = clock.date.addingTimeInterval(3_600)
            try? scheduler?.submit(request)
            task.setTaskCompleted(success: true)
        }
        try submitNext()
        await machine.advance(by: .seconds(48 * 3_600))
        #expect(runs.values.count == 48)
        #expect(zip(runs.values, runs.values.dropFirst()).allSatisfy { $1.timeIntervalSince($0) == 3_600 })
    }

    // MARK: Waiting for the end

    private func ending(
        of identifier: String, in events: AsyncStream<BGTaskScheduler.Event>
    ) async -> BGTaskScheduler.Outcome? {
        for await event in events where event.identifier == identifier {
            if case .ended(let outcome) = event.kind { return outcome }
        }
        return nil
    }

    /// Listens first and looks then, so that an end between the two is not missed.
    private func ending(
        of identifier: String, in scheduler: BGTaskScheduler, is expected: BGTaskScheduler.Outcome
    ) async -> Bool {
        let events = scheduler.events()
        if let outcome = scheduler.jobs().last(where: { $0.identifier == identifier })?.outcome {
            return outcome == expected
        }
        return await ending(of: identifier, in: events) == expected
    }
}
