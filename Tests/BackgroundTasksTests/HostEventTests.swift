import BackgroundTasks
import BackgroundTasksTesting
import Foundation
import Testing

@Suite struct HostEventTests {
    @Test("rule 99, A39: a launch and an expiration can be simulated, with no debugger and whatever the conditions")
    func simulated() async throws {
        let machine = try photosMachine(conditions: .roaming)
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
}
