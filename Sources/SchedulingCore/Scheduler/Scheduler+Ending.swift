package import TaskModel

extension Scheduler {
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

    /// The task could not be started or broke without saying so.
    package mutating func broke(_ id: JobID, code: String, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        return endRunning(id, .failed(code: code), isResumable: true) + schedule()
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

    /// The process that did a task's work was lost, and the work can be taken up again: it is tried again later, a few
    /// times, each time after a longer wait.
    package mutating func crashed(_ id: JobID, code: String, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        guard let run = running[id] else { return [] }
        return retryLater(run, code: code) + schedule()
    }

    /// Ends this attempt; the request waits for another one, or has failed when there were enough.
    private mutating func retryLater(_ run: RunningEntry, code: String) -> [SchedulerAction] {
        if case .expiring(let reason, _) = run.machine.phase {
            return endRunning(run.id, .stopped(reason), isResumable: true)
        }
        let losses = run.losses + 1
        guard losses < settings.maxAttempts else {
            return endRunning(run.id, .failed(code: code), isResumable: true)
        }
        running[run.id]?.losses = losses
        let delay = min(settings.backoff * (1 << min(losses - 1, 20)), settings.longestBackoff)
        return requeue(run.id, notBefore: now + delay)
    }

    /// Ends a request: a waiting one at once, a running one by expiration.
    package mutating func stop(_ id: JobID, _ reason: StopReason, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        if waiting[id] != nil { return endWaiting(id, .stopped(reason)) + schedule() }
        running[id]?.goesOnAfterwards = false
        if reason == .userStop { running[id]?.machine.personStops() }
        return expire(id, reason) + schedule()
    }

    /// Expires everything that runs, with one deadline for all (rule 71).
    package mutating func stopAll(_ reason: StopReason, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        return running.keys.sorted().flatMap { expire($0, reason) }
    }

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
        if running[id]?.goesOnAfterwards == true, outcome == .stopped(.sleep) || outcome == .stopped(.shutdown) {
            return requeue(id, notBefore: now, hadItsTurn: true)
        }
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

    /// The attempt is over, and the request waits for another: as foreground work before all that is urgent, where the
    /// turn it had was cut short.
    private mutating func requeue(_ id: JobID, notBefore: Duration, hadItsTurn: Bool = false) -> [SchedulerAction] {
        guard let run = removeRunning(id) else { return [] }
        if programs[run.program]?.waiting[run.request.identifier] != nil {
            // The same work was asked for anew meanwhile.
            replaceSuccessors(of: run)
            return keepEnded(
                EndedEntry(
                    id: id, program: run.program, request: run.request, outcome: .stopped(.replaced),
                    submitted: run.submitted, ended: now, isResumable: true, dismissAt: nil))
        }
        let isForeground = run.isForeground && run.demotesAt == nil
        waiting[id] = WaitingEntry(
            id: id, program: run.program, request: run.request, submitted: run.submitted, since: run.submitted,
            place: .delayed(.backoff, until: notBefore), placedAt: now, stamp: newStamp(), isForeground: isForeground,
            attempts: run.attempt, losses: run.losses, backoffEnds: notBefore,
            waitedForBackground: isForeground && hadItsTurn, isPaused: run.machine.pauseCauses.contains(.person))
        programs[run.program]?.waiting[run.request.identifier] = id
        programs[run.program]?.waitingCount[run.request.kind, default: 0] += 1
        enqueue(id)
        return [.requeue(id, notBefore: notBefore)]
    }
}

extension TaskOutcome {
    package var isCompleted: Bool {
        if case .completed = self { true } else { false }
    }
}
