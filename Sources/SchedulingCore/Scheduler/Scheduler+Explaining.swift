package import TaskModel

extension Scheduler {
    /// Every reason why a request does not run now; never empty while it waits or is paused (rule 95).
    package func why(_ id: JobID) -> [WaitReason] {
        if let entry = waiting[id] { return whyWaiting(entry) }
        if let run = running[id] { return whyPaused(run) }
        return []
    }

    /// Earliest moment at which all of these reasons can be over; nil when that is not known for one of them.
    package func earliestStart(_ reasons: [WaitReason]) -> Duration? {
        reasons.reduce(Optional(now)) { latest, reason in
            guard let latest, let earliest = reason.earliest else { return nil }
            return max(latest, earliest)
        }
    }

    /// How long a request has waited for each reason, in its present wait so far, longest first. Conditions may hold it
    /// at the same time; nothing is longer than the wait, and none of the wait is left out.
    package func timePerReason(_ id: JobID) -> [(code: WaitReason.Code, time: Duration)] {
        waiting[id].map { waitTimes(of: $0).longestFirst } ?? []
    }

    /// The time in its present place included.
    func waitTimes(of entry: WaitingEntry) -> WaitTimes {
        var waits = entry.waits
        let time = now - entry.placedAt
        switch entry.place {
        case .parked(let code), .delayed(let code, _): waits.add(code, time)
        case .floor: waits.add(.earliestBeginDate, time)
        case .line(let needs):
            var closed: [ConditionKind: [Range<Duration>]] = [:]
            for (set, isStrict) in [(needs.conditions, false), (needs.mustBeKnown, true)] {
                for kind in set.kinds {
                    closed[kind, default: []] += gates.gate(kind, isStrict: isStrict).history
                        .intervals(from: entry.placedAt, to: now)
                }
            }
            waits.addDue(entry.placedAt..<now, closed: closed)
        }
        return waits
    }

    /// All requests of one program, or of all, in order of submission.
    package func jobs(program: String? = nil) -> [JobSummary] {
        let ids = (Array(waiting.keys) + running.keys + ended.keys).sorted()
        return ids.compactMap(summary).filter { program == nil || $0.program == program }
    }

    package func summary(_ id: JobID) -> JobSummary? {
        if let entry = waiting[id] {
            return JobSummary(
                id: id, program: entry.program, request: entry.request, state: .waiting,
                isForeground: entry.isForeground, attempt: entry.attempts, losses: entry.losses,
                submitted: entry.submitted)
        }
        if let run = running[id] {
            let state: JobSummary.State =
                switch run.machine.phase {
                case .active: .running
                case .pausing: .pausing
                case .paused: .paused
                case .expiring: .expiring
                case .ended: .ended
                }
            return JobSummary(
                id: id, program: run.program, request: run.request, state: state, isForeground: run.isForeground,
                device: run.device, attempt: run.attempt, fraction: run.watch.fraction,
                secondsLeft: run.watch.secondsLeft(), submitted: run.submitted, started: run.started, terms: run.terms)
        }
        return ended[id].map { entry in
            JobSummary(
                id: id, program: entry.program, request: entry.request, state: .ended, isForeground: false, attempt: 0,
                submitted: entry.submitted, outcome: entry.outcome)
        }
    }

    package var waitingCount: Int { waiting.count }
    package var runningCount: Int { running.count }
    /// Those of them that hold a slot; the others are paused.
    package var activeCount: Int { running.values.count(where: \.takesSlot) }

    /// Conditions whose change could start or stop something now; a host need watch no others.
    package var watchedConditions: ConditionSet {
        let active = running.values.reduce(into: ConditionSet()) { set, run in
            set.formUnion(run.request.startConditions(isForeground: run.isForeground))
        }
        return lines.needs.reduce(active) { $0.union($1.conditions).union($1.mustBeKnown) }
    }

    // MARK: Reasons

    /// What would keep a request from starting at once, were it submitted now.
    func obstacles(to request: TaskRequest, isForeground: Bool) -> [WaitReason] {
        let needs = WaitingLines.Needs(request, isForeground: isForeground)
        return [leavingReason].compactMap(\.self) + conditionReasons(needs.conditions, strictly: needs.mustBeKnown)
            + roomReasons(placement(of: request))
    }

    private func whyWaiting(_ entry: WaitingEntry) -> [WaitReason] {
        let needs = WaitingLines.Needs(entry.request, isForeground: entry.isForeground)
        var reasons = [leavingReason].compactMap(\.self) + placeReasons(entry)
        reasons += conditionReasons(needs.conditions, strictly: needs.mustBeKnown)
        guard case .line = entry.place else { return reasons }
        reasons += roomReasons(placement(of: entry.request))
        guard reasons.isEmpty else { return reasons }
        return [behindOthers]
    }

    private func whyPaused(_ run: RunningEntry) -> [WaitReason] {
        switch run.machine.phase {
        case .active, .expiring, .ended: return []
        case .pausing, .paused: break
        }
        var reasons = [leavingReason].compactMap(\.self)
        if run.machine.pauseCauses.contains(.person) {
            reasons.append(pausedByPerson)
        }
        if !run.isSimulated {
            reasons += conditionReasons(
                run.request.startConditions(isForeground: run.isForeground), strictly: run.request.mustBeKnown)
        }
        if run.machine.pauseCauses.contains(.preempted) {
            reasons.append(
                WaitReason(
                    code: .preempted, sentence: "Foreground work has its room.",
                    fix: "Wait until that has ended, or promote this one.",
                    holders: holders(running.values.filter(\.isForeground).map(\.id).sorted())))
        }
        if reasons.isEmpty {
            reasons += run.device == nil ? roomReasons(placement(of: run.request)) : []
        }
        guard reasons.isEmpty else { return reasons }
        return [behindOthers]
    }

    private var pausedByPerson: WaitReason {
        WaitReason(code: .pausedByPerson, sentence: "It was paused.", fix: "Resume it.")
    }

    private var behindOthers: WaitReason {
        WaitReason(
            code: .behindOthers, sentence: "Others get the next room before it.",
            fix: "Wait for its turn, or promote it.", holders: holders(running.keys.sorted()))
    }

    private func placeReasons(_ entry: WaitingEntry) -> [WaitReason] {
        switch entry.place {
        case .line: []
        case .floor:
            [
                WaitReason(
                    code: .earliestBeginDate, sentence: "It may not begin before its earliest begin date.",
                    fix: "Submit it again with an earlier date.",
                    earliest: entry.request.earliestBegin.map { $0 - wallOffset })
            ]
        case .delayed(.backoff, let until):
            [
                WaitReason(
                    code: .backoff, sentence: "Its last run broke off, and it waits before it tries again.",
                    fix: "Wait; where a device was lost, prefer the GPU instead of requiring it.",
                    measured: "broke off \(entry.losses) times", threshold: "\(settings.maxAttempts) times",
                    earliest: until)
            ]
        case .delayed(let code, let until):
            [
                WaitReason(
                    code: code, sentence: "Refreshes of its program are spaced out.",
                    fix: "End refreshes early and successfully to have them more often.",
                    threshold: programs[entry.program].map { "\(Int($0.refresh.interval.inSeconds)) s between starts" },
                    earliest: until)
            ]
        case .parked: parkedReasons(entry)
        }
    }

    private func parkedReasons(_ entry: WaitingEntry) -> [WaitReason] {
        let reasons = entry.isPaused ? [pausedByPerson] : []
        let program = programs[entry.program]
        let before = program?.running[entry.request.identifier]
        switch parkingCode(
            isPresent: program?.isPresent == true, backgroundStatus(of: entry.program), runs: before != nil)
        {
        case nil: return reasons
        case .backgroundSwitchedOff:
            return reasons + [
                WaitReason(
                    code: .backgroundSwitchedOff, sentence: "Background work is switched off for its program.",
                    fix: "Its person can switch it on again.")
            ]
        case .noRoom:
            return reasons + [
                WaitReason(
                    code: .noRoom, sentence: "The run before it has not ended.", fix: "Wait for it, or stop it.",
                    holders: holders([before].compactMap(\.self)))
            ]
        default: return reasons + [hostAbsent(entry.program)]
        }
    }

    func hostAbsent(_ program: String) -> WaitReason {
        WaitReason(code: .hostAbsent, sentence: "Its program is not running.", fix: "Start \(program) again.")
    }

    private func conditionReasons(_ needed: ConditionSet, strictly known: ConditionSet) -> [WaitReason] {
        let usual = gates.closed.intersection(needed)
        let strict = gates.strictlyClosed.intersection(known).subtracting(usual)
        return usual.kinds.map { conditionReason($0, isStrict: false) }
            + strict.kinds.map { conditionReason($0, isStrict: true) }
    }

    private func conditionReason(_ kind: ConditionKind, isStrict: Bool) -> WaitReason {
        let gate = gates.gate(kind, isStrict: isStrict)
        let words = ConditionWords(kind, gates.conditions, thresholds)
        var earliest = gate.opensAt
        if kind == .allowedHours { earliest = gates.nextHourChange(after: wall).map { $0 - wallOffset } }
        let isHeld = gate.opensAt != nil
        return WaitReason(
            code: .condition(kind),
            sentence: isHeld ? "\(words.sentence) It is over, and must stay so for a while." : words.sentence,
            fix: words.fix, measured: words.measured, threshold: words.threshold, earliest: earliest)
    }

    private func roomReasons(_ placement: Result<Lane, RoomObstacle>) -> [WaitReason] {
        guard case .failure(let obstacle) = placement else { return [] }
        switch obstacle {
        case .slots(let ids):
            return [
                WaitReason(
                    code: .noRoom, sentence: "Every slot for CPU work is taken.",
                    fix: "Wait until one of the holders has ended, or stop one.", measured: "\(ids.count) running",
                    threshold: "\(settings.cpuSlots) slots", holders: holders(ids))
            ]
        case .memory(let available, let needed):
            return [
                WaitReason(
                    code: .memoryClaim, sentence: "It needs more memory than is free.",
                    fix: "Close what takes memory, or claim less.", measured: Bytes.text(available),
                    threshold: Bytes.text(needed), holders: holders(running.keys.sorted()))
            ]
        case .device(.noRoom(let ids)):
            return [
                WaitReason(
                    code: .noRoom, sentence: "The GPU has no memory or place left.",
                    fix: "Wait until one of the holders has ended, or stop one.",
                    measured: "\(ids.count) running on it",
                    threshold: "\(settings.devices.tasksPerDevice) at most", holders: holders(ids))
            ]
        case .device(.quarantined(let until)):
            return [
                WaitReason(
                    code: .deviceQuarantined, sentence: "The GPU failed repeatedly and is left alone for a while.",
                    fix: "Wait, or run bgrun doctor --clear-quarantine when the cause is gone.", earliest: until)
            ]
        case .device(.paused):
            return [
                WaitReason(code: .devicePaused, sentence: "The GPU is paused for our work.", fix: "Resume the device.")
            ]
        case .device(.noneUsable):
            return [
                WaitReason(
                    code: .deviceQuarantined, sentence: "No GPU that it may use is there any more.",
                    fix: "Prefer the GPU instead of requiring it, or exclude fewer devices.")
            ]
        }
    }

    private func holders(_ ids: [JobID]) -> [TaskIdentifier] {
        ids.compactMap { running[$0]?.request.identifier }
    }
}
