import BackgroundTasks
import Testing

@Suite struct SleepDelayTests {
    @Test("rule 78: sleep is delayed from the first work to the end of the last")
    func held() {
        var delay = SleepDelay()
        #expect(delay.looked(isActive: false, at: .zero) == nil)
        #expect(delay.looked(isActive: true, at: .zero) == .hold)
        #expect(delay.isHeld)
        #expect(delay.looked(isActive: true, at: .seconds(1)) == nil)
        #expect(delay.looked(isActive: false, at: .seconds(2)) == .release)
        #expect(!delay.isHeld)
        #expect(delay.looked(isActive: false, at: .seconds(3)) == nil)
        #expect(delay.nextDeadline == nil)
    }

    @Test("rule 78: the machine leaves as soon as the work has stopped, and within 2 s whether it has or not")
    func limit() throws {
        var delay = SleepDelay()
        _ = delay.looked(isActive: true, at: .zero)
        delay.machineLeaves(at: .seconds(10))
        var slow = delay
        #expect(delay.looked(isActive: true, at: .seconds(11)) == nil)
        #expect(delay.looked(isActive: false, at: .seconds(11)) == .release)
        let deadline = try #require(slow.nextDeadline)
        #expect(deadline < .seconds(12))
        #expect(slow.looked(isActive: true, at: deadline) == .release)
        #expect(slow.looked(isActive: true, at: deadline) == nil)
    }

    @Test("rule 78: a second announcement gives the work no more time")
    func twice() {
        var delay = SleepDelay()
        _ = delay.looked(isActive: true, at: .zero)
        delay.machineLeaves(at: .zero)
        let deadline = delay.nextDeadline
        delay.machineLeaves(at: .seconds(1))
        #expect(delay.nextDeadline == deadline)
    }

    @Test("rule 78: nothing delays a machine that leaves with nothing running, also when work tries to begin")
    func idle() {
        var delay = SleepDelay()
        delay.machineLeaves(at: .zero)
        #expect(delay.looked(isActive: true, at: .seconds(1)) == nil)
    }

    @Test("rule 78: after its return the machine is delayed again for what runs")
    func back() {
        var delay = SleepDelay()
        _ = delay.looked(isActive: true, at: .zero)
        delay.machineLeaves(at: .zero)
        _ = delay.looked(isActive: false, at: .zero)
        #expect(delay.machineIsBack() == true)
        #expect(delay.machineIsBack() == false, "once is enough")
        #expect(delay.looked(isActive: true, at: .zero) == nil, "it is still being looked at")
        #expect(delay.machineReturned(from: delay.departures) == true)
        #expect(delay.looked(isActive: true, at: .zero) == .hold)
    }

    @Test("rule 78: a machine that leaves again while it is looked at has not returned")
    func leavesAgain() {
        var delay = SleepDelay()
        delay.machineLeaves(at: .zero)
        let first = delay.departures
        _ = delay.machineIsBack()
        delay.machineLeaves(at: .seconds(1))
        _ = delay.machineIsBack()
        #expect(delay.machineReturned(from: first) == false)
        #expect(delay.machineReturned(from: delay.departures) == true)
    }

    @Test("rule 78: a machine whose return nobody reports is back after a minute")
    func unreported() throws {
        var delay = SleepDelay()
        delay.machineLeaves(at: .zero)
        let deadline = try #require(delay.nextDeadline)
        #expect(deadline == .seconds(60))
        #expect(delay.looked(isActive: false, at: deadline) == .comeBack)
        #expect(delay.machineReturned(from: delay.departures) == true)
        #expect(delay.machineIsBack() == false)
    }
}
