import BackgroundTasks
import BackgroundTasksTesting
import Foundation
import SystemConditions
import TaskModel
import Testing

@Suite(.timeLimit(.minutes(15)))
struct HostOnBusTests {
    @Test("rule 78: a host on a message bus delays sleep while it works, checkpoints for it, and goes on after it")
    func sleep() async throws {
        let bus = try MockBus()
        try bus.run("logind(False)")
        let fixture = try Fixture()
        let manifest = try Manifest(
            program: "org.example", modes: [.continued], permittedIdentifiers: ["org.example.export"])
        let scheduler = BGTaskScheduler(
            manifest: manifest, clock: SystemClock(), conditions: ConditionsMonitor(fixture.reader(bus: bus.address)),
            capabilities: SimulatedDevices([]), inhibitor: SleepInhibitor(bus.address))
        let (reasons, reason) = AsyncStream<BGStopReason?>.makeStream()
        scheduler.register(forTaskWithIdentifier: "org.example.export", using: nil) { task in
            task.expirationHandler = { [weak task] in
                reason.yield(task?.stopReason)
                task?.setTaskCompleted(success: false)
            }
        }
        let events = scheduler.events()
        try await scheduler.submitTaskRequest(
            BGContinuedProcessingTaskRequest(identifier: "org.example.export", title: "Export", subtitle: ""))
        try bus.run("wait(lambda: len(inhibitors()) == 1)")
        try bus.run("assert [i[0] + ' ' + i[3] for i in inhibitors()] == ['sleep:shutdown delay'], inhibitors()")
        try bus.run("signal_logind('PrepareForSleep', True)")
        var asked = reasons.makeAsyncIterator()
        #expect(await asked.next() == .sleep)
        try bus.run("wait(lambda: inhibitors() == [])")
        try bus.run("signal_logind('PrepareForSleep', False)")
        var starts = 0
        for await event in events {
            if case .started = event.kind { starts += 1 }
            if starts == 2 { break }
        }
        try bus.run("wait(lambda: len(inhibitors()) == 1)")
        scheduler.stop(taskWithIdentifier: "org.example.export")
        try bus.run("wait(lambda: inhibitors() == [])")
    }
}
