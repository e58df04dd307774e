import SchedulingCore
import TaskModel

/// Sleep and shutdown of the machine, as rule 78 has them.
extension Simulation {
    /// Often just when a person has paused something, and now and then only for a moment.
    mutating func leaveAtARandomMoment() throws(Violation) {
        var pausing: JobID?
        if dice.percent(40), let index = jobs.firstIndex(where: { $0.state == .live && $0.phase == .active }) {
            pausing = jobs[index].id
            try pause(index)
        }
        try leave(dice.pick([.sleep, .shutdown]))
        if dice.percent(50), let index = pausing.flatMap(index) { try resume(index) }
        if dice.percent(30) { try comeBack() }
    }

    private mutating func leave(_ reason: StopReason) throws(Violation) {
        log { _ in "the machine leaves: \(reason.code)" }
        leavesFor = reason
        let actions = core.machineLeaves(reason, at: now)
        for index in jobs.indices where jobs[index].state == .live && jobs[index].phase != .expiring {
            let job = jobs[index]
            let isMeant = reason == .shutdown || job.phase == .active
            guard actions.contains(.expire(job.id, reason, deadline: now + .seconds(5))) == isMeant else {
                throw broken(.leaving, job.id, isMeant ? "it was not told to stop" : "it was to be left as it is")
            }
            jobs[index].goesOnAfterwards = isMeant && job.request.kind == .continued && !job.isPausedByPerson
        }
        try settle(actions)
    }

    mutating func comeBack() throws(Violation) {
        log { _ in "the machine is back" }
        leavesFor = nil
        catchUp()
        try settle(core.machineReturned(at: now))
    }
}
