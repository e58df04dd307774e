import BackgroundTasks
import BackgroundTasksTesting
import Foundation
import TaskModel
import Testing

@Suite struct ConditionSamplingTests {
    @Test("rule 54: conditions that report their changes are never looked at while work waits for them")
    func reported() {
        #expect(
            ConditionSampling(isRunning: false, awaited: [ConditionSet(.externalPower), ConditionSet(.network)])
                == .none)
        #expect(ConditionSampling(isRunning: false, awaited: []) == .none)
        let sampling = ConditionSampling(isRunning: false, awaited: [ConditionSet(.thermal), ConditionSet(.network)])
        #expect(sampling.kinds == ConditionSet(.thermal))
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
    }
}
