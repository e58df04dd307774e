package import TaskModel

extension Scheduler {
    /// The fraction 0 ... 1 of a task's work is done; nil as long as the total is not known.
    package mutating func progressed(_ id: JobID, to fraction: Double?, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        guard var run = running[id], run.machine.phase != .ended else { return [] }
        let notes = run.watch.progressed(to: fraction, at: now)
        run.warnedAt = nil
        if case .active = run.machine.phase, notes.contains(where: { if case .slow = $0 { true } else { false } }) {
            run.slowAnswerEnds = run.slowAnswerEnds ?? now + settings.slowAnswer
        }
        running[id] = run
        setTimer(id)
        return notes.map { note in
            switch note {
            case .fell(let from, let to): .note(id, .progressFell(from: from, to: to))
            case .slow(let share): .note(id, .slow(share: share))
            }
        }
    }

    /// A phase without progress began: compiling a kernel, loading a model (rule 62).
    package mutating func heartbeat(_ id: JobID, phase: String, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        guard running[id]?.watch.heartbeat(phase: phase, at: now) == true else { return [] }
        running[id]?.warnedAt = nil
        setTimer(id)
        return []
    }

    /// The person says whether slow work goes on.
    package mutating func answerSlow(_ id: JobID, goOn: Bool, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        guard running[id]?.slowAnswerEnds != nil else { return [] }
        running[id]?.slowAnswerEnds = nil
        setTimer(id)
        return goOn ? [] : expire(id, .slowDeclined) + schedule()
    }

    /// What a refresh was good for; shapes when its program may refresh again (rule 57).
    package mutating func refreshed(_ id: JobID, _ result: RefreshBudget.Result) {
        running[id]?.fetchResult = result
    }

    // MARK: Deadlines

    mutating func setTimer(_ id: JobID) {
        guard var run = running[id] else { return }
        let hadTimer = run.stamp != 0
        run.stamp = newStamp()
        let deadline = run.nextDeadline(grace: settings.grace)
        running[id] = run
        if hadTimer { timers.forgetOne { [running] in running[$0.id]?.stamp == $0.stamp } }
        if let deadline { timers.insert(id, stamp: run.stamp, at: deadline) }
    }

    /// Something of a running task was due.
    mutating func deadlinePassed(_ id: JobID) -> [SchedulerAction] {
        guard var run = running[id] else { return [] }
        if case .expiring(let reason, let deadline) = run.machine.phase {
            guard deadline <= now else { return [] }
            // It may still be at work, so nothing takes it up again by itself.
            running[id]?.goesOnAfterwards = false
            return [.kill(id)] + endRunning(id, .stopped(reason), isResumable: true)
        }
        var actions: [SchedulerAction] = []
        if let budget = run.budgetEnds, budget <= now { return expire(id, .timeBudget) }
        if let demotes = run.demotesAt, demotes <= now {
            running[id]?.demotesAt = nil
            actions += setForeground(false, id)
        }
        if let protected = run.protectedUntil, protected <= now { running[id]?.protectedUntil = nil }
        if let answer = run.slowAnswerEnds, answer <= now {
            running[id]?.slowAnswerEnds = nil
            if run.request.slowPolicy == .stop { return actions + expire(id, .slowDeclined) }
        }
        run = running[id] ?? run
        if case .pausing(let since) = run.machine.phase, since + settings.grace <= now, !run.notedIgnoredPause {
            running[id]?.notedIgnoredPause = true
            actions.append(.note(id, .pauseIgnored))
        }
        if run.takesSlot, run.request.kind == .continued,
            let stall = run.watch.stallTimes(isForeground: run.isForeground)
        {
            let silence = run.watch.silence(at: now)
            let limit = run.watch.stallLimit(isForeground: run.isForeground)
            if stall.limit <= now {
                return actions + [.note(id, .stalled(silence: silence, limit: limit))] + expire(id, .stalled)
            }
            if stall.warning <= now, run.warnedAt == nil {
                running[id]?.warnedAt = now
                actions.append(.note(id, .stallWarning(silence: silence, limit: limit)))
            }
        }
        setTimer(id)
        return actions
    }
}
