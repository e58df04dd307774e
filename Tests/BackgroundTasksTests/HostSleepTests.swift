import BackgroundTasks
import BackgroundTasksTesting
import Foundation
import SystemConditions
import Testing

@Suite struct HostSleepTests {
    /// Continued work that stops when it is asked to.
    private func register(_ machine: SimulatedMachine, _ reasons: Recorder<BGStopReason?> = Recorder()) {
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), using: nil) { task in
            task.expirationHandler = { [weak task] in
                reasons.add(task?.stopReason)
                task?.setTaskCompleted(success: false)
            }
        }
    }

    @Test("rule 78: sleep is delayed only while something runs, and not by what waits or is paused")
    func inhibitor() async throws {
        let machine = try photosMachine()
        let tasks = Recorder<BGContinuedProcessingTask>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            tasks.add(task)
        }
        machine.scheduler.register(id("tidy"), for: BGProcessingTask.self) { _ in }
        machine.conditions.change { $0.isIdle = false }
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
        await machine.settle()
        #expect(!machine.inhibitor.isHeld)
        try machine.scheduler.submit(exportRequest())
        await machine.settle()
        #expect(machine.inhibitor.isHeld)
        machine.scheduler.pause(taskWithIdentifier: id("export.one"))
        await machine.settle()
        #expect(machine.inhibitor.isHeld, "it has not paused yet")
        let events = machine.scheduler.events()
        let task = tasks.values[0]
        async let waits: Void = task.waitWhilePaused()
        for await event in events {
            if case .paused = event.kind { break }
        }
        await machine.settle()
        #expect(!machine.inhibitor.isHeld)
        machine.scheduler.resume(taskWithIdentifier: id("export.one"))
        await waits
        await machine.settle()
        #expect(machine.inhibitor.isHeld)
        task.setTaskCompleted(success: true)
        await machine.settle()
        #expect(!machine.inhibitor.isHeld && machine.inhibitor.timesHeld == 2)
    }

    @Test(
        "rule 78, A21: before sleep and shutdown work is told to stop with that reason, and lets the machine go then",
        arguments: [(SleepEvent.willSleep, BGStopReason.sleep), (.willShutDown, .shutdown)])
    func stops(event: SleepEvent, reason: BGStopReason) async throws {
        let machine = try photosMachine()
        let reasons = Recorder<BGStopReason?>()
        register(machine, reasons)
        try machine.scheduler.submit(exportRequest())
        await machine.settle()
        machine.conditions.tell(event)
        await machine.settle()
        #expect(reasons.values == [reason])
        #expect(!machine.inhibitor.isHeld)
        #expect(machine.scheduler.jobs().map(\.state) == [.waiting])
        #expect(machine.scheduler.why(id("export.one")).map(\.code) == ["machineLeaves"])
    }

    @Test("rule 78: work that does not stop holds the machine up for less than 2 s")
    func slowWork() async throws {
        let machine = try photosMachine()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), using: nil) { task in
            task.expirationHandler = {}
        }
        try machine.scheduler.submit(exportRequest())
        await machine.settle()
        machine.conditions.tell(.willSleep)
        await machine.advance(by: .milliseconds(1_500))
        #expect(machine.inhibitor.isHeld)
        await machine.advance(by: .milliseconds(500))
        #expect(!machine.inhibitor.isHeld)
        #expect(machine.scheduler.jobs().map(\.state) == [.expiring])
    }

    @Test("rule 78: nothing starts before the machine is back, and then continued work goes on by itself")
    func goesOn() async throws {
        let machine = try photosMachine()
        register(machine)
        try machine.scheduler.submit(exportRequest("first"))
        await machine.settle()
        machine.conditions.tell(.willSleep)
        await machine.settle()
        try machine.scheduler.submit(exportRequest("second"))
        let atOnce = exportRequest("third")
        atOnce.strategy = .fail
        #expect(try refusal(machine.scheduler, atOnce).code == .immediateRunIneligible)
        await machine.settle()
        #expect(machine.scheduler.jobs().map(\.state) == [.waiting, .waiting])
        machine.conditions.tell(.didWake)
        await machine.settle()
        #expect(machine.scheduler.jobs().map(\.state) == [.running, .running])
        #expect(machine.inhibitor.isHeld)
    }

    @Test("rule 78: processing that was stopped for sleep ends, and what waits for its conditions goes on waiting")
    func processing() async throws {
        let machine = try photosMachine()
        for name in ["tidy", "index"] {
            machine.scheduler.register(forTaskWithIdentifier: id(name), using: nil) { task in
                task.expirationHandler = { [weak task] in task?.setTaskCompleted(success: false) }
            }
        }
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
        let onPower = BGProcessingTaskRequest(identifier: id("index"))
        onPower.requiresExternalPower = true
        machine.conditions.change { $0.power = .battery }
        try machine.scheduler.submit(onPower)
        await machine.settle()
        machine.conditions.tell(.willSleep)
        await machine.settle()
        #expect(machine.scheduler.jobs().map(\.outcome) == [.stopped(.sleep), nil])
        machine.conditions.tell(.didWake)
        await machine.settle()
        #expect(machine.scheduler.why(id("index")).map(\.code) == ["condition.externalPower"])
        machine.conditions.change { $0.power = .external }
        await machine.advance(by: .seconds(120))
        #expect(machine.scheduler.jobs().map(\.state) == [.ended, .running])
    }

    @Test("rule 78: work that a person paused stays paused over a sleep")
    func paused() async throws {
        let machine = try photosMachine()
        let reasons = Recorder<BGStopReason?>()
        let (stands, stand) = AsyncStream<Void>.makeStream()
        machine.scheduler.register(id("export.*"), for: BGContinuedProcessingTask.self) { task in
            for await _ in stands { await task.waitWhilePaused() }
            reasons.add(task.stopReason)
        }
        let events = machine.scheduler.events()
        try machine.scheduler.submit(exportRequest())
        machine.scheduler.pause(taskWithIdentifier: id("export.one"))
        stand.yield()
        for await event in events {
            if case .paused = event.kind { break }
        }
        machine.conditions.tell(.willSleep)
        await machine.settle()
        #expect(machine.scheduler.jobs().map(\.state) == [.paused])
        machine.conditions.tell(.didWake)
        await machine.settle()
        #expect(machine.scheduler.why(id("export.one")).map(\.code) == ["pausedByPerson"])
        machine.scheduler.stop(taskWithIdentifier: id("export.one"))
        await machine.settle()
    }

    @Test("rule 34: devices are looked at again after a sleep, before anything goes on")
    func devices() async throws {
        let machine = try photosMachine(gpus: [SimulatedGPU()])
        register(machine)
        let request = exportRequest()
        request.requiredResources = .gpu
        try machine.scheduler.submit(request)
        await machine.settle()
        #expect(machine.devices.timesAsked == 1)
        machine.conditions.tell(.willSleep)
        await machine.settle()
        machine.conditions.tell(.didWake)
        await machine.settle()
        #expect(machine.devices.timesAsked == 2)
        #expect(machine.scheduler.jobs().map(\.state) == [.running])
    }

    @Test("rule 78: where sleep cannot be delayed work goes on, and that is noted once")
    func noLogind() async throws {
        let machine = try photosMachine(inhibitor: SimulatedInhibitor(refusal: BusError(reason: "no system bus")))
        register(machine)
        for name in ["one", "two"] {
            try machine.scheduler.submit(exportRequest(name))
            await machine.settle()
            machine.scheduler.stop(taskWithIdentifier: id("export.\(name)"))
            await machine.settle()
        }
        #expect(machine.scheduler.diagnostics.map(\.code) == ["noInhibitor"])
        #expect(machine.scheduler.diagnostics[0].sentence.contains("no system bus"))
    }
}
