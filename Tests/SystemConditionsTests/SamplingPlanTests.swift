import SystemConditions
import TaskModel
import Testing

struct SamplingPlanTests {
    @Test("rule 54: a plan in which nothing was asked for never comes due")
    func nothing() {
        var plan = SamplingPlan()
        #expect(plan.nextDue == nil)
        plan.set(.seconds(1), for: ConditionSet(.thermal), at: .zero)
        plan.set(nil, for: ConditionSet(.thermal), at: .zero)
        #expect(plan.nextDue == nil)
        #expect(plan.take(at: .seconds(100)) == [])
    }

    @Test("rule 46: conditions are read at their own intervals, those of one interval together")
    func intervals() {
        var plan = SamplingPlan()
        plan.set(.seconds(1), for: [ConditionSet(.thermal), ConditionSet(.pressure)], at: .zero)
        plan.set(.seconds(10), for: ConditionSet(.outputVolume), at: .milliseconds(1))
        var taken: [ConditionSet] = []
        while let due = plan.nextDue, due <= .milliseconds(10_500) { taken.append(plan.take(at: due)) }
        #expect(taken.count == 10)
        #expect(taken.dropLast().allSatisfy { $0 == [ConditionSet(.thermal), ConditionSet(.pressure)] })
        // A millisecond is not worth a wake-up of its own.
        #expect(taken.last == [ConditionSet(.thermal), ConditionSet(.pressure), ConditionSet(.outputVolume)])
    }

    @Test("rule 54: after a long sleep the missed readings are not made up for")
    func missed() {
        var plan = SamplingPlan()
        plan.set(.seconds(1), for: ConditionSet(.memory), at: .zero)
        #expect(plan.take(at: .seconds(3600)) == ConditionSet(.memory))
        #expect(plan.nextDue == .seconds(3601))
        #expect(plan.take(at: .seconds(3600)) == [])
    }

    @Test("rule 54: no interval is shorter than a tenth of a second")
    func shortest() {
        var plan = SamplingPlan()
        plan.set(.zero, for: ConditionSet(.memory), at: .zero)
        #expect(plan.nextDue == SamplingPlan.shortest)
    }
}
