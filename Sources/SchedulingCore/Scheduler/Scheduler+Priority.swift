package import TaskModel

extension Scheduler {
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

    mutating func setForeground(_ foreground: Bool, _ id: JobID) -> [SchedulerAction] {
        if let entry = waiting[id] {
            guard entry.request.kind == .continued, entry.isForeground != foreground else { return [] }
            leavePlace(id)
            waiting[id]?.isForeground = foreground
            waiting[id]?.waitedForBackground = false
            enqueue(id)
            return schedule()
        }
        guard let run = running[id], run.request.kind == .continued, run.isForeground != foreground else { return [] }
        running[id]?.isForeground = foreground
        running[id]?.waitedForBackground = false
        running[id]?.lastFlip = now
        running[id]?.demotesAt = nil
        running[id]?.warnedAt = nil
        setTimer(id)
        let actions = enforceConditions() + updateTerms()
        return actions + (foreground ? clear(.preempted, id) : []) + schedule()
    }

    // MARK: Terms

    /// How a task of that priority runs now (rules 44, 45, 88 and 92).
    ///
    /// Background work on the CPU shares the pacer's limit, so that its tasks do not press on one another.
    ///
    /// - Parameters:
    ///   - isForeground: Whether a person waits for it.
    ///   - device: Where it runs; nil for the CPU lane.
    ///   - isJoining: It does not run yet, and shares with those that do.
    /// - Returns: The terms.
    func terms(isForeground: Bool, device: String?, isJoining: Bool = false) -> RunTerms {
        if isForeground {
            let isSaving = gates.closed.contains(ConditionSet(.lowPowerMode))
            let isHot = (gates.conditions.thermal ?? .nominal) >= .serious
            return RunTerms(
                priority: .foreground, chunkTarget: .milliseconds(300), dutyCycle: isSaving || isHot ? 0.5 : 1,
                concurrency: settings.cores)
        }
        // Whole cores first, and the rest of the limit as a share of the time.
        let sharing = device == nil ? max(backgroundOnCPU + (isJoining ? 1 : 0), 1) : 1
        let share = pacer.limit * Double(settings.cores) / Double(sharing)
        let concurrency = max(1, Int(share.rounded(.up)))
        return RunTerms(
            priority: .background, chunkTarget: .milliseconds(device == nil ? 50 : 20),
            dutyCycle: min(share / Double(concurrency), 1), concurrency: concurrency)
    }

    private var backgroundOnCPU: Int {
        running.values.count { $0.device == nil && !$0.isForeground && $0.takesSlot }
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
}
