package import TaskModel

extension Scheduler {
    package mutating func pause(_ id: JobID, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        setPaused(true, waiting: id)
        // Room that was kept for it is for others now.
        return pauseRunning(id, .person, releasingMemory: false) + schedule()
    }

    package mutating func resume(_ id: JobID, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        setPaused(false, waiting: id)
        return clear(.person, id) + schedule()
    }

    private mutating func setPaused(_ isPaused: Bool, waiting id: JobID) {
        guard let entry = waiting[id], entry.isPaused != isPaused else { return }
        waiting[id]?.isPaused = isPaused
        leavePlace(id)
        enqueue(id)
    }

    /// The task has reached a commit point and stands still, as it was asked to.
    package mutating func paused(_ id: JobID, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        guard var run = running[id], run.machine.paused() else { return [] }
        run.watch.setEffort(0, at: now)
        run.pausedSince = now
        // Its room is free now; it stands in line for it like the others.
        run.machine.clear(.preempted)
        if run.releasesMemory {
            claimedSinceReading = claimedBytes(without: run)
            run.claimedAfter = -1
            devices.release(id)
            run.device = nil
        }
        running[id] = run
        setTimer(id)
        return schedule()
    }

    mutating func pauseRunning(
        _ id: JobID, _ cause: TaskMachine.PauseCause, releasingMemory: Bool
    ) -> [SchedulerAction] {
        guard var run = running[id] else { return [] }
        let isNew = run.machine.pause(cause, at: now)
        run.releasesMemory = run.releasesMemory || releasingMemory
        running[id] = run
        setTimer(id)
        return isNew ? [.pause(id, releasingMemory: releasingMemory)] : []
    }

    /// A cause to be paused is gone. A task that has not paused yet goes on at once; one that has waits for room.
    mutating func clear(_ cause: TaskMachine.PauseCause, _ id: JobID) -> [SchedulerAction] {
        guard running[id]?.machine.pauseCauses.contains(cause) == true else { return [] }
        running[id]?.machine.clear(cause)
        return goOnUnpaused(id)
    }

    /// A task that was asked to pause, has not paused yet, and has no cause to any more goes on at once; not while the
    /// machine leaves, which it stands still for.
    mutating func goOnUnpaused(_ id: JobID) -> [SchedulerAction] {
        guard leavesFor == nil, var run = running[id], run.machine.pauseCauses.isEmpty,
            case .pausing = run.machine.phase
        else { return [] }
        run.releasesMemory = false
        run.machine.resume()
        run.notedIgnoredPause = false
        run.terms = terms(of: id, isForeground: run.isForeground, device: run.device)
        run.watch.setEffort(effort(of: run.terms), at: now)
        running[id] = run
        setTimer(id)
        return [.resume(id, run.terms)]
    }

    // MARK: Conditions

    /// Lets work follow its conditions, and sheds some while memory is short.
    mutating func enforceConditions() -> [SchedulerAction] {
        followConditions() + shedForMemory()
    }

    /// Stops what has lost a condition, and lets go on what has got all back (rule 52).
    mutating func followConditions() -> [SchedulerAction] {
        var actions: [SchedulerAction] = []
        for id in running.keys.sorted() {
            guard let run = running[id], !run.isSimulated else { continue }
            let needed = run.request.runConditions(isForeground: run.isForeground)
            if let lost = lostCondition(needed, strictly: run.request.mustBeKnown) {
                actions +=
                    run.request.kind == .continued
                    ? pauseRunning(id, .conditions, releasingMemory: false) : expire(id, .conditionLost(lost))
            } else if run.machine.pauseCauses.contains(.conditions),
                gates.allow(
                    run.request.startConditions(isForeground: run.isForeground), strictly: run.request.mustBeKnown)
            {
                actions += clear(.conditions, id)
            }
        }
        return actions
    }

    private func lostCondition(_ needed: ConditionSet, strictly known: ConditionSet) -> ConditionKind? {
        gates.closed.intersection(needed).union(gates.strictlyClosed.intersection(known)).kinds.first
    }
}
