package import TaskModel

extension Scheduler {
    // MARK: What tasks say

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

    /// The task says that it is done; only the first time counts (rule 74).
    package mutating func completed(
        _ id: JobID, success: Bool, failures: Int = 0, at time: Duration
    ) -> [SchedulerAction] {
        advance(to: time)
        guard var run = running[id] else { return [] }
        let finished = (run.watch.fraction ?? 0) >= 1
        guard let outcome = run.machine.completed(success: success, isFinished: finished, failures: failures) else {
            return []
        }
        running[id] = run
        if let device = run.device, success { devices.succeeded(device) }
        return finish(id, outcome, isResumable: !outcome.isCompleted) + schedule()
    }

    /// What a refresh was good for; shapes when its program may refresh again (rule 57).
    package mutating func refreshed(_ id: JobID, _ result: RefreshBudget.Result) {
        running[id]?.fetchResult = result
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

    /// The device a task ran on is gone or failed: a task that requires it tries again later, one that only prefers it
    /// goes on with the CPU (rule 37).
    package mutating func deviceFailed(_ id: JobID, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        guard let run = running[id], let device = run.device else { return [] }
        devices.failed(device, at: now)
        devices.release(id)
        guard run.request.requiredResources.contains(.gpu) else {
            running[id]?.device = nil
            // Its preference is spent: it does not go back to a device that failed it.
            running[id]?.request.preferredResources = []
            return [.moveToCPU(id)] + enforceConditions() + updateTerms() + schedule()
        }
        return retryLater(run, code: "deviceLost") + schedule()
    }

    /// The task could not be started or broke without saying so.
    package mutating func broke(_ id: JobID, code: String, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        return endRunning(id, .failed(code: code), isResumable: true) + schedule()
    }

    // MARK: What people and hosts ask

    /// Ends a request: a waiting one at once, a running one by expiration.
    package mutating func stop(_ id: JobID, _ reason: StopReason, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        if waiting[id] != nil { return endWaiting(id, .stopped(reason)) + schedule() }
        return expire(id, reason) + schedule()
    }

    /// Expires everything that runs, with one deadline for all (rule 71).
    package mutating func stopAll(_ reason: StopReason, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        return running.keys.sorted().flatMap { expire($0, reason) }
    }

    package mutating func pause(_ id: JobID, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        return pauseRunning(id, .person, releasingMemory: false)
    }

    package mutating func resume(_ id: JobID, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        return clear(.person, id) + schedule()
    }

    /// The person says whether slow work goes on.
    package mutating func answerSlow(_ id: JobID, goOn: Bool, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        guard running[id]?.slowAnswerEnds != nil else { return [] }
        running[id]?.slowAnswerEnds = nil
        setTimer(id)
        return goOn ? [] : expire(id, .slowDeclined)
    }

    /// Brings continued work to the foreground, running or waiting; takes effect with its next chunk (rule 89).
    package mutating func promote(_ id: JobID, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        running[id]?.demotesAt = nil
        return setForeground(true, id)
    }

    /// Sends continued work to the background. Soon after the last change it waits a little (rule 91).
    package mutating func demote(_ id: JobID, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        if let flip = running[id]?.lastFlip, now - flip < settings.betweenFlips {
            running[id]?.demotesAt = flip + settings.betweenFlips
            setTimer(id)
            return []
        }
        return setForeground(false, id)
    }

    private mutating func setForeground(_ foreground: Bool, _ id: JobID) -> [SchedulerAction] {
        if let entry = waiting[id] {
            guard entry.request.kind == .continued, entry.isForeground != foreground else { return [] }
            leavePlace(id)
            waiting[id]?.isForeground = foreground
            enqueue(id)
            return schedule()
        }
        guard let run = running[id], run.request.kind == .continued, run.isForeground != foreground else { return [] }
        running[id]?.isForeground = foreground
        running[id]?.lastFlip = now
        running[id]?.demotesAt = nil
        running[id]?.warnedAt = nil
        setTimer(id)
        let actions = enforceConditions() + updateTerms()
        return actions + (foreground ? clear(.preempted, id) : []) + schedule()
    }

    // MARK: Pausing

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
    private mutating func clear(_ cause: TaskMachine.PauseCause, _ id: JobID) -> [SchedulerAction] {
        guard var run = running[id], run.machine.pauseCauses.contains(cause) else { return [] }
        run.machine.clear(cause)
        guard run.machine.pauseCauses.isEmpty else {
            running[id] = run
            return []
        }
        guard case .pausing = run.machine.phase else {
            running[id] = run
            return []
        }
        run.releasesMemory = false
        run.machine.resume()
        run.notedIgnoredPause = false
        run.terms = terms(isForeground: run.isForeground, device: run.device)
        run.watch.setEffort(effort(of: run.terms), at: now)
        running[id] = run
        setTimer(id)
        return [.resume(id, run.terms)]
    }

    // MARK: Conditions

    /// Stops what has lost a condition, and lets go on what has got all back (rule 52).
    mutating func enforceConditions() -> [SchedulerAction] {
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
        return actions + shedForMemory()
    }

    private func lostCondition(_ needed: ConditionSet, strictly known: ConditionSet) -> ConditionKind? {
        gates.closed.intersection(needed).union(gates.strictlyClosed.intersection(known)).kinds.first
    }

    // MARK: Terms

    /// How a task of that priority runs now (rules 44, 45, 88 and 92).
    func terms(isForeground: Bool, device: String?) -> RunTerms {
        if isForeground {
            let isSaving = gates.closed.contains(ConditionSet(.lowPowerMode))
            let isHot = (gates.conditions.thermal ?? .nominal) >= .serious
            return RunTerms(
                priority: .foreground, chunkTarget: .milliseconds(300), dutyCycle: isSaving || isHot ? 0.5 : 1,
                concurrency: settings.cores)
        }
        // Whole cores first, and the rest of the limit as a share of the time.
        let cores = Double(settings.cores)
        let share = pacer.limit * cores
        let concurrency = max(1, Int(share.rounded(.up)))
        return RunTerms(
            priority: .background, chunkTarget: .milliseconds(device == nil ? 50 : 20),
            dutyCycle: min(share / Double(concurrency), 1), concurrency: concurrency)
    }

    /// Share of the machine that the terms allow.
    func effort(of terms: RunTerms) -> Double {
        terms.dutyCycle * Double(terms.concurrency) / Double(settings.cores)
    }

    /// Tells running tasks their terms where these have changed.
    mutating func updateTerms() -> [SchedulerAction] {
        var actions: [SchedulerAction] = []
        for id in running.keys.sorted() {
            guard var run = running[id], run.isActive else { continue }
            let terms = terms(isForeground: run.isForeground, device: run.device)
            guard terms != run.terms else { continue }
            run.terms = terms
            run.watch.setEffort(effort(of: terms), at: now)
            running[id] = run
            setTimer(id)
            actions.append(.setTerms(id, terms))
        }
        return actions
    }

    // MARK: Ending

    mutating func expire(_ id: JobID, _ reason: StopReason) -> [SchedulerAction] {
        guard var run = running[id] else { return [] }
        let deadline = now + settings.grace
        guard run.machine.expire(reason, deadline: deadline) else { return [] }
        running[id] = run
        setTimer(id)
        return [.expire(id, reason, deadline: deadline)]
    }

    /// A running task is over without having said so.
    mutating func endRunning(_ id: JobID, _ outcome: TaskOutcome, isResumable: Bool) -> [SchedulerAction] {
        guard var run = running[id], let outcome = run.machine.end(outcome) else { return [] }
        running[id] = run
        return finish(id, outcome, isResumable: isResumable)
    }

    private mutating func finish(_ id: JobID, _ outcome: TaskOutcome, isResumable: Bool) -> [SchedulerAction] {
        guard let run = removeRunning(id) else { return [] }
        if run.request.kind == .refresh {
            let (result, length) = (refreshResult(of: run, outcome), now - run.started)
            programs[run.program]?.refresh.ended(result, after: length)
        }
        replaceSuccessors(of: run)
        return keepEnded(
            EndedEntry(
                id: id, program: run.program, request: run.request, outcome: outcome, submitted: run.submitted,
                ended: now, isResumable: isResumable, dismissAt: nil))
    }

    /// The next run of a request, and refreshes whose interval has just changed, have a new place.
    mutating func replaceSuccessors(of run: RunningEntry) {
        let program = programs[run.program]
        var moved = [program?.waiting[run.request.identifier]].compactMap(\.self)
        if run.request.kind == .refresh {
            moved += (program?.waiting.values.sorted() ?? []).filter { waiting[$0]?.request.kind == .refresh }
        }
        for next in moved {
            leavePlace(next)
            enqueue(next)
        }
    }

    private func refreshResult(of run: RunningEntry, _ outcome: TaskOutcome) -> RefreshBudget.Result {
        switch outcome {
        case .completed: run.fetchResult ?? .newData
        case .stopped(.timeBudget): .overran
        case .stopped: run.fetchResult ?? .noData
        case .failed, .cancelled: .failed
        }
    }

    private mutating func removeRunning(_ id: JobID) -> RunningEntry? {
        guard let run = running.removeValue(forKey: id) else { return nil }
        timers.forgetOne { [running] in running[$0.id]?.stamp == $0.stamp }
        devices.release(id)
        claimedSinceReading = claimedBytes(without: run)
        if programs[run.program]?.running[run.request.identifier] == id {
            programs[run.program]?.running[run.request.identifier] = nil
        }
        return run
    }

    /// The attempt is over, and the request waits for another.
    mutating func requeue(_ id: JobID, notBefore: Duration) -> [SchedulerAction] {
        guard let run = removeRunning(id) else { return [] }
        if programs[run.program]?.waiting[run.request.identifier] != nil {
            // The same work was asked for anew meanwhile.
            replaceSuccessors(of: run)
            return keepEnded(
                EndedEntry(
                    id: id, program: run.program, request: run.request, outcome: .stopped(.replaced),
                    submitted: run.submitted, ended: now, isResumable: true, dismissAt: nil))
        }
        waiting[id] = WaitingEntry(
            id: id, program: run.program, request: run.request, submitted: run.submitted, since: run.submitted,
            place: .delayed(.backoff, until: notBefore), stamp: newStamp(),
            isForeground: run.isForeground && run.demotesAt == nil,
            attempts: run.attempt, backoffEnds: notBefore)
        programs[run.program]?.waiting[run.request.identifier] = id
        programs[run.program]?.waitingCount[run.request.kind, default: 0] += 1
        enqueue(id)
        return [.requeue(id, notBefore: notBefore)]
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

extension TaskOutcome {
    package var isCompleted: Bool {
        if case .completed = self { true } else { false }
    }
}
