import TaskModel

/// Making room: for foreground work, and while memory is short (rules 47 and 65).
extension Scheduler {
    /// Foreground work does not wait for background work: the background task with the least recent progress gives
    /// its room, of those whose room is needed (rule 65).
    mutating func makeRoom() -> [SchedulerAction] {
        var actions: [SchedulerAction] = []
        var lacking: [Lacking] = []
        for candidate in candidates() {
            guard case .failure(let obstacle) = placement(of: candidate, behind: lacking) else { continue }
            // Its memory is kept for another, whatever room is made for it.
            let isBehind = lacking.contains { other in
                reserves(other, from: candidate) && takesMemory(candidate, from: other.candidate)
            }
            lacking.append((candidate, obstacle))
            guard candidate.isForeground, candidate.request.kind == .continued,
                let holders = holders(of: obstacle, for: candidate.request)
            else { continue }
            if holders.contains(where: { running[$0]?.isForeground == false }) {
                noteGivenWay([candidate])
            }
            guard !isBehind, !holders.contains(where: { isLeaving($0) }),
                let victim = victim(among: holders, for: candidate.request, obstacle)
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
        if case .slots(let ids) = obstacle { return Set(ids) }
        return holders(of: obstacle, for: request, leaving: Set(running.values.filter { mayFree($0) }.map(\.id)))
    }

    /// Those whose end would remove the obstacle; nil where the end of the leaving ones would not.
    private func holders(
        of obstacle: RoomObstacle, for request: TaskRequest, leaving: Set<JobID>
    ) -> Set<JobID>? {
        switch obstacle {
        case .slots(let ids): return leaving.isDisjoint(with: ids) ? nil : Set(ids)
        case .memory(_, let needed):
            let freed = leaving.reduce(0) { $0 + (running[$1]?.request.claim.memoryBytes ?? 0) }
            guard (freeMemory ?? 0) + freed >= needed else { return nil }
            return Set(running.values.filter { $0.request.claim.memoryBytes > 0 }.map(\.id))
        case .device(.noRoom):
            return devices.holders(
                inTheWayOf: request.claim.deviceMemoryBytes, request.devices, leaving: leaving, at: now)
        case .device: return nil
        }
    }

    /// The next to give its room: the one with the least recent progress of those that cannot all stay. Whose progress
    /// is more recent stays first.
    private func victim(
        among holders: Set<JobID>, for request: TaskRequest, _ obstacle: RoomObstacle
    ) -> JobID? {
        let preemptible = running.values.filter { holders.contains($0.id) && mayBePreempted($0) }
            .sorted { ($0.watch.lastProgress, $0.id) < ($1.watch.lastProgress, $1.id) }.map(\.id)
        return preemptible.reversed().reduce(preemptible) { going, id in
            let others = going.filter { $0 != id }
            return self.holders(of: obstacle, for: request, leaving: Set(others)) == nil ? going : others
        }.first
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
    private func leastProgress() -> JobID? {
        running.values.filter { $0.isActive && !$0.isSimulated && !$0.isForeground }
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
        guard let victim = leastProgress() else {
            shedsAt = nil
            return []
        }
        shedsAt = now + settings.betweenShedding
        return shed(victim, .memoryPressure, cause: .conditions, releasingMemory: true)
    }
}
