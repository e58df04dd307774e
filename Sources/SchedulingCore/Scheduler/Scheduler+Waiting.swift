package import TaskModel

extension Scheduler {
    // MARK: Requests of a program

    /// Takes a waiting request back; what runs is not touched (rule 29).
    package mutating func cancel(
        _ identifier: TaskIdentifier, program: String, at time: Duration
    ) -> [SchedulerAction] {
        advance(to: time)
        guard let id = programs[program]?.waiting[identifier] else { return [] }
        return endWaiting(id, .cancelled) + schedule()
    }

    package mutating func cancelAll(program: String, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        let ids = programs[program]?.waiting.values.sorted() ?? []
        return ids.flatMap { endWaiting($0, .cancelled) } + schedule()
    }

    /// Requests that were submitted and have not ended, in order of submission (rule 30).
    package func pendingRequests(program: String) -> [TaskRequest] {
        guard let program = programs[program] else { return [] }
        let ids = (Array(program.waiting.values) + program.running.values).sorted()
        return ids.compactMap { waiting[$0]?.request ?? running[$0]?.request }
    }

    package func request(of id: JobID) -> TaskRequest? {
        waiting[id]?.request ?? running[id]?.request ?? ended[id]?.request
    }

    /// The request of that identifier that has not ended; the running one before the waiting one.
    package func job(_ identifier: TaskIdentifier, program: String) -> JobID? {
        programs[program]?.running[identifier] ?? programs[program]?.waiting[identifier]
    }

    package func waitingJob(_ identifier: TaskIdentifier, program: String) -> JobID? {
        programs[program]?.waiting[identifier]
    }

    // MARK: Places

    /// Puts a waiting request where it has to wait now.
    mutating func enqueue(_ id: JobID) {
        guard var entry = waiting[id] else { return }
        entry.stamp = newStamp()
        entry.roomlessSince = nil
        entry.waits = waitTimes(of: entry)
        entry.placedAt = now
        let program = programs[entry.program]
        let request = entry.request
        let status = backgroundStatus(of: entry.program)
        if entry.isPaused {
            entry.place = .parked(.pausedByPerson)
        } else if let code = parkingCode(
            isPresent: program?.isPresent == true, status, runs: program?.running[request.identifier] != nil)
        {
            entry.place = .parked(code)
        } else if request.kind != .continued, let floor = request.earliestBegin, floor > wall {
            entry.place = .floor
            floors.insert(id, stamp: entry.stamp, at: floor)
        } else if let until = entry.backoffEnds, until > now {
            entry.place = .delayed(.backoff, until: until)
            delays.insert(id, stamp: entry.stamp, at: until)
        } else if request.kind == .refresh, let next = program?.refresh.notBefore, next > now {
            entry.place = .delayed(.refreshInterval, until: next)
            delays.insert(id, stamp: entry.stamp, at: next)
        } else {
            if entry.place == .floor { entry.since = max(entry.since, (request.earliestBegin ?? .zero) - wallOffset) }
            let needs = WaitingLines.Needs(request, isForeground: entry.isForeground)
            entry.place = .line(needs)
            lines.insert(id, stamp: entry.stamp, at: turn(of: entry), needs: needs)
        }
        waiting[id] = entry
    }

    /// Why its program cannot run a request now.
    func parkingCode(isPresent: Bool, _ status: BackgroundStatus, runs isRunning: Bool) -> WaitReason.Code? {
        if status != .available { return .backgroundSwitchedOff }
        if isRunning { return .noRoom }
        return isPresent ? nil : .hostAbsent
    }

    /// Smaller goes first. Each class starts later by a fixed time, so that waiting makes up for it.
    func turn(of entry: WaitingEntry) -> Duration {
        let taskClass = TaskClass(entry.request.kind, isForeground: entry.isForeground)
        return entry.since + (settings.turnDelay[taskClass] ?? .zero)
    }

    /// Looks anew where the waiting requests of a program have to wait.
    mutating func replaceWaiting(of program: String) {
        for id in programs[program]?.waiting.values.sorted() ?? [] {
            leavePlace(id)
            enqueue(id)
        }
    }

    /// Takes an entry out of the agenda it is in. It has to be enqueued or removed next.
    mutating func leavePlace(_ id: JobID) {
        guard let entry = waiting[id] else { return }
        let stamp = newStamp()
        waiting[id]?.stamp = stamp
        switch entry.place {
        case .line(let needs):
            lines.forgetOne(of: needs) { [waiting] in waiting[$0.id]?.stamp == $0.stamp }
        case .floor:
            floors.forgetOne { [waiting] in waiting[$0.id]?.stamp == $0.stamp }
        case .delayed:
            delays.forgetOne { [waiting] in waiting[$0.id]?.stamp == $0.stamp }
        case .parked:
            break
        }
    }

    /// Removes a waiting entry, whether it ends or is launched.
    mutating func removeWaiting(_ id: JobID) -> WaitingEntry? {
        leavePlace(id)
        guard let entry = waiting.removeValue(forKey: id) else { return nil }
        if programs[entry.program]?.waiting[entry.request.identifier] == id {
            programs[entry.program]?.waiting[entry.request.identifier] = nil
        }
        programs[entry.program]?.waitingCount[entry.request.kind, default: 1] -= 1
        if entry.request.kind == .processing, !entry.wasOverdue {
            overdue.forgetOne { [waiting] in waiting[$0.id] != nil }
        }
        return entry
    }

    mutating func endWaiting(_ id: JobID, _ outcome: TaskOutcome) -> [SchedulerAction] {
        guard let entry = removeWaiting(id) else { return [] }
        return keepEnded(
            EndedEntry(
                id: id, program: entry.program, request: entry.request, outcome: outcome, submitted: entry.submitted,
                ended: now, isResumable: entry.attempts > 0, dismissAt: nil))
    }

    // MARK: Ended entries

    mutating func keepEnded(_ entry: EndedEntry) -> [SchedulerAction] {
        var entry = entry
        if case .failed = entry.outcome {
        } else if case .stopped(let reason) = entry.outcome, reason != .replaced {
        } else {
            let at = now + settings.dismissAfter
            entry.dismissAt = at
            dismissals.insert(entry.id, stamp: 0, at: at)
        }
        ended[entry.id] = entry
        endedOrder.append(entry.id)
        var actions: [SchedulerAction] = [.end(entry.id, entry.outcome)]
        if ended.count > settings.maxEnded, let oldest = endedOrder.first(where: { ended[$0] != nil }) {
            actions += dismissNow(oldest)
        }
        if endedOrder.count > 2 * settings.maxEnded {
            endedOrder.removeAll { ended[$0] == nil }
        }
        return actions
    }

    /// A person has seen the entry.
    package mutating func dismiss(_ id: JobID, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        return dismissNow(id)
    }

    mutating func dismissNow(_ id: JobID) -> [SchedulerAction] {
        guard let entry = ended.removeValue(forKey: id) else { return [] }
        forgetKey(of: entry.request, id: id, program: entry.program)
        return [.dismiss(id)]
    }

    /// The same entry is to run again (rule 80).
    package mutating func retry(_ id: JobID, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        guard let entry = ended[id], programs[entry.program]?.waiting[entry.request.identifier] == nil,
            programs[entry.program]?.running[entry.request.identifier] == nil
        else { return [] }
        ended[id] = nil
        add(entry.request, id: id, program: entry.program, submitted: now)
        return schedule()
    }

    private mutating func forgetKey(of request: TaskRequest, id: JobID, program: String) {
        guard let key = request.requestKey, programs[program]?.requestKeys[key] == id else { return }
        programs[program]?.requestKeys[key] = nil
    }
}
