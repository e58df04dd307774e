package import TaskModel

/// Sleep and shutdown of the machine (rule 78).
extension Scheduler {
    /// The machine goes to sleep or shuts down: everything that runs keeps a checkpoint and stops, with one deadline for
    /// all, and nothing starts or goes on before ``machineReturned(at:)``. What is paused, or about to pause, needs no
    /// other checkpoint, and stays as it is over a sleep.
    package mutating func machineLeaves(_ reason: StopReason, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        leavesFor = reason
        leftAt = leftAt ?? now
        var actions: [SchedulerAction] = []
        for id in running.keys.sorted() {
            guard let run = running[id] else { continue }
            if reason == .sleep, !run.isActive { continue }
            let expiration = expire(id, reason)
            // Continued work goes on by itself afterwards, like after a condition that was lost; what a person paused
            // does not.
            if !expiration.isEmpty, run.request.kind == .continued, !run.machine.pauseCauses.contains(.person) {
                running[id]?.goesOnAfterwards = true
            }
            actions += expiration
        }
        return actions
    }

    /// The machine has woken, or does not shut down after all.
    package mutating func machineReturned(at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        leavesFor = nil
        away += leftAt.map { now - $0 } ?? .zero
        leftAt = nil
        return catchUp() + shedForMemory() + running.keys.sorted().flatMap { goOnUnpaused($0) } + schedule()
    }

    /// Why nothing starts now; nil when the machine stays.
    var leavingReason: WaitReason? {
        leavesFor.map { reason in
            WaitReason(
                code: .machineLeaves,
                sentence: reason == .sleep ? "The machine is about to sleep." : "The machine is about to shut down.",
                fix: "Wait until it is back; the work goes on by itself then.")
        }
    }
}
