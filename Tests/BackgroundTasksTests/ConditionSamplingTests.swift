import BackgroundTasks
import BackgroundTasksTesting
import Foundation
import SystemConditions
import TaskModel
import Testing

@Suite struct ConditionSamplingTests {
    @Test("rule 54: conditions that report their changes are never looked at while work waits for them")
    func reported() {
        func sampling(_ awaited: [ConditionKind]) -> ConditionSampling {
            ConditionSampling(isRunning: false, awaited: ConditionSet(awaited), eventDriven: .all)
        }
        #expect(sampling([.externalPower, .network]) == .none)
        #expect(sampling([]) == .none)
        #expect(sampling([.thermal, .network]).kinds == ConditionSet(.thermal))
        // The profile of the machine reports itself, the person's switch does not.
        #expect(sampling([.lowPowerMode]).kinds == ConditionSet(.lowPowerMode))
    }

    @Test("rule 54: where no event tells of power and network, they are looked at")
    func unheard() {
        let awaited = ConditionSet([.externalPower, .network])
        let neither = ConditionSampling(isRunning: false, awaited: awaited, eventDriven: [])
        #expect(neither.kinds == awaited && neither.interval != nil)
        let power = ConditionSampling(isRunning: false, awaited: awaited, eventDriven: ConditionSet(.externalPower))
        #expect(power.kinds == ConditionSet(.network))
        let running = ConditionSampling(isRunning: true, awaited: [], eventDriven: [])
        #expect(running.kinds == ConditionSampling.unreported.union(awaited))
    }

    @Test("rule 54: while nothing runs or waits nothing is looked at, and while work runs what could stop it is")
    func host() async throws {
        let machine = try photosMachine()
        machine.scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { _ in }
        #expect(machine.conditions.sampled.isEmpty)
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
        #expect(machine.conditions.sampled == ConditionSampling.unreported)
        machine.scheduler.stop(taskWithIdentifier: id("tidy"))
        await machine.settle()
        #expect(machine.conditions.sampled.isEmpty)
        machine.conditions.change { $0.power = .battery }
        let request = BGProcessingTaskRequest(identifier: id("tidy"))
        request.requiresExternalPower = true
        try machine.scheduler.submit(request)
        #expect(machine.scheduler.why(id("tidy")).map(\.code) == ["condition.externalPower"])
        #expect(machine.conditions.sampled.isEmpty)
        machine.conditions.hearOnly([])
        machine.conditions.change { $0.isLowPowerMode = true }
        #expect(machine.conditions.sampled == ConditionSet([.externalPower, .lowPowerMode]))
    }
}
