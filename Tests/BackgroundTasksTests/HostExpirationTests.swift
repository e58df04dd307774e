import BackgroundTasks
import BackgroundTasksTesting
import Dispatch
import Foundation
import SchedulingCore
import TaskModel
import Testing

@Suite struct HostExpirationTests {
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
}
