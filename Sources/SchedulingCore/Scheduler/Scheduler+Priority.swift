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
    /// Background tasks on the CPU share its cores, each a whole number of them, so that they do not press on one
    /// another; the pacer's limit holds for each share.
    ///
    /// - Parameters:
    ///   - id: The task, which may be about to start.
    ///   - isForeground: Whether a person waits for it.
    ///   - device: Where it runs; nil for the CPU lane.
    /// - Returns: The terms.
    func terms(of id: JobID, isForeground: Bool, device: String?) -> RunTerms {
        if isForeground {
            let isSaving = gates.closed.contains(ConditionSet(.lowPowerMode))
            let isHot = (gates.conditions.thermal ?? .nominal) >= .serious
            return RunTerms(
                priority: .foreground, chunkTarget: .milliseconds(300), dutyCycle: isSaving || isHot ? 0.5 : 1,
                concurrency: settings.cores)
        }
        // Whole cores first, and the rest of the limit as a share of the time.
        let share = pacer.limit * Double(device == nil ? coresShared(with: id) : settings.cores)
        let concurrency = max(1, Int(share.rounded(.up)))
        return RunTerms(
            priority: .background, chunkTarget: .milliseconds(device == nil ? 50 : 20),
            dutyCycle: min(share / Double(concurrency), 1), concurrency: concurrency)
    }

    /// At least one, where there are more tasks than cores.
    private func coresShared(with id: JobID) -> Int {
        let others = running.values.filter { $0.device == nil && !$0.isForeground && $0.takesSlot && $0.id != id }
        let place = others.count { $0.id < id }
        let (each, left) = settings.cores.quotientAndRemainder(dividingBy: others.count + 1)
        return max(each + (place < left ? 1 : 0), 1)
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
            let terms = terms(of: id, isForeground: run.isForeground, device: run.device)
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
