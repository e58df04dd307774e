import TaskModel

/// Making room: for foreground work, and while memory is short (rules 47 and 65).
extension Scheduler {
    /// Foreground work does not wait for background work: the background task with the least recent progress gives
    /// its room (rule 65).
    mutating func makeRoom() -> [SchedulerAction] {
        var actions: [SchedulerAction] = []
        var lacking: [Lacking] = []
        for candidate in candidates() {
            guard case .failure(let obstacle) = placement(of: candidate, behind: lacking) else { continue }
            lacking.append((candidate, obstacle))
            guard candidate.isForeground, candidate.request.kind == .continued,
                let holders = holders(of: obstacle, for: candidate.request)
            else { continue }
            if holders.contains(where: { running[$0]?.isForeground == false }) {
                noteGivenWay([candidate])
            }
            guard !holders.contains(where: { isLeaving($0) }),
                let victim = leastProgress(among: { holders.contains($0.id) && mayBePreempted($0) })
            else { continue }
            running[victim]?.wasPreempted = true
            let releases: Bool
            switch obstacle {
            case .memory, .device: releases = true
            case .slots: releases = false
            }
            actions += shed(victim, .preempted, cause: .preempted, releasingMemory: releases)
        }
        return actions
    }

    /// Those whose end would remove the obstacle; nil where the end of all that can be asked to leave would not.
    func holders(of obstacle: RoomObstacle, for request: TaskRequest) -> Set<JobID>? {
        switch obstacle {
        case .slots(let ids): return Set(ids)
        case .memory(_, let needed):
            let freed = running.values.filter { mayFree($0) }.reduce(0) { $0 + $1.request.claim.memoryBytes }
            guard (freeMemory ?? 0) + freed >= needed else { return nil }
            return Set(running.values.filter { $0.request.claim.memoryBytes > 0 }.map(\.id))
        case .device(.noRoom):
            let leaving = Set(running.values.filter { mayFree($0) }.map(\.id))
            return devices.holders(
                inTheWayOf: request.claim.deviceMemoryBytes, request.devices, leaving: leaving, at: now)
        case .device: return nil
        }
    }

    private func mayBePreempted(_ run: RunningEntry) -> Bool {
        run.isActive && !run.isSimulated && !run.isForeground && run.protectedUntil ?? now <= now
    }

    /// Its memory is being given back, or can be taken.
    private func mayFree(_ run: RunningEntry) -> Bool {
        switch run.machine.phase {
        case .active: mayBePreempted(run)
        case .pausing: run.releasesMemory
        case .expiring: true
        case .paused, .ended: false
        }
    }

    private func isLeaving(_ id: JobID) -> Bool {
        guard let run = running[id] else { return false }
        switch run.machine.phase {
        case .pausing: return !run.notedIgnoredPause
        case .expiring: return true
        case .active, .paused, .ended: return false
        }
    }

    /// The active background task whose last progress is longest ago.
    func leastProgress(among isMeant: (RunningEntry) -> Bool) -> JobID? {
        running.values.filter { $0.isActive && !$0.isSimulated && !$0.isForeground && isMeant($0) }
            .min { ($0.watch.lastProgress, $0.id) < ($1.watch.lastProgress, $1.id) }?.id
    }

    /// Continued work pauses, other work expires.
    mutating func shed(
        _ id: JobID, _ reason: StopReason, cause: TaskMachine.PauseCause, releasingMemory: Bool
    ) -> [SchedulerAction] {
        guard let run = running[id] else { return [] }
        return run.request.kind == .continued
            ? pauseRunning(id, cause, releasingMemory: releasingMemory) : expire(id, reason)
    }

    /// While memory is short, stops background tasks one by one before anything is killed (rules 47 and 65).
    mutating func shedForMemory() -> [SchedulerAction] {
        guard gates.closed.contains(ConditionSet(.memory)) else {
            shedsAt = nil
            return []
        }
        guard now >= shedsAt ?? now else { return [] }
        guard let victim = leastProgress(among: { _ in true }) else {
            shedsAt = nil
            return []
        }
        shedsAt = now + settings.betweenShedding
        return shed(victim, .memoryPressure, cause: .conditions, releasingMemory: true)
    }
}
