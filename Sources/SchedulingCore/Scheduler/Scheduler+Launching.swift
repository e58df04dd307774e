package import TaskModel

extension Scheduler {
    /// Where a request can run now.
    enum Lane: Hashable, Sendable {
        case cpu
        case device(String)

        var device: String? {
            if case .device(let id) = self { id } else { nil }
        }
    }

    /// Why there is no room for a request now.
    enum RoomObstacle: Error, Hashable, Sendable {
        case slots(holders: [JobID])
        case memory(available: Int, needed: Int)
        case device(DeviceBoard.Obstacle)

        /// The end of others' work can remove it; that does not bring a device back, nor heal one.
        var endsWithOthers: Bool {
            switch self {
            case .slots, .memory, .device(.noRoom): true
            case .device(.noneUsable), .device(.quarantined), .device(.paused): false
            }
        }
    }

    /// A candidate, and what keeps it from starting.
    typealias Lacking = (candidate: StartCandidate, obstacle: RoomObstacle)

    /// Starts all that can start, and makes room for foreground work that cannot.
    mutating func schedule() -> [SchedulerAction] {
        guard leavesFor == nil else { return [] }
        var actions: [SchedulerAction] = []
        while let (candidate, lane) = nextToStart() {
            actions += candidate.isPaused ? goOn(candidate.id, lane) : launch(candidate.id, lane, isSimulated: false)
        }
        return actions + makeRoom() + updateTerms()
    }

    /// Starts a waiting request now, whatever its conditions and the room (rule 99); not while the machine leaves.
    package mutating func simulateLaunch(_ id: JobID, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        guard leavesFor == nil, let entry = waiting[id], let program = programs[entry.program], program.isPresent,
            program.running[entry.request.identifier] == nil
        else { return [] }
        let lane = (try? placement(of: entry.request).get()) ?? .cpu
        return launch(id, lane, isSimulated: true) + schedule()
    }

    private mutating func nextToStart() -> (StartCandidate, Lane)? {
        var lacking: [Lacking] = []
        let candidates = candidates()
        for candidate in candidates {
            switch placement(of: candidate, behind: lacking) {
            case .success(let lane):
                if isKept(lane, from: candidate, for: lacking) { continue }
                if !candidate.isForeground { noteGivenWay(candidates.filter(\.isForeground)) }
                return (candidate, lane)
            case .failure(let obstacle):
                lacking.append((candidate, obstacle))
                guard candidate.roomlessSince == nil else { continue }
                let since = awakeTime
                waiting[candidate.id]?.roomlessSince = since
                running[candidate.id]?.roomlessSince = since
            }
        }
        return nil
    }

    /// Foreground work waits while background work has its room.
    mutating func noteGivenWay(_ candidates: [StartCandidate]) {
        for candidate in candidates {
            waiting[candidate.id]?.waitedForBackground = true
            running[candidate.id]?.waitedForBackground = true
        }
    }

    /// Whether what waits already goes before a new request, though there is room for that.
    mutating func othersGoFirst(before request: TaskRequest, isForeground: Bool) -> Bool {
        let needs = WaitingLines.Needs(request, isForeground: isForeground)
        guard lines.heads(where: { $0 == needs }, isLive: { [waiting] in waiting[$0.id]?.stamp == $0.stamp }).isEmpty
        else { return true }
        guard case .success = placement(of: request) else { return false }
        let turn = now + (settings.turnDelay[TaskClass(request.kind, isForeground: isForeground)] ?? .zero)
        let new = StartCandidate(
            id: JobID(nextID), turn: turn, request: request, isForeground: isForeground, isPaused: false,
            holdsItsRoom: false, isUrgent: isForeground, hasGivenWay: false)
        var lacking: [Lacking] = []
        for other in candidates() {
            guard case .failure(let obstacle) = placement(of: other, behind: lacking) else { continue }
            lacking.append((other, obstacle))
        }
        guard case .success(let lane) = placement(of: new, behind: lacking) else { return true }
        return isKept(lane, from: new, for: lacking.filter { !isForeground || $0.candidate.turn <= turn })
    }

    /// Whether what a candidate would take is kept for others.
    private func isKept(_ lane: Lane, from candidate: StartCandidate, for lacking: [Lacking]) -> Bool {
        lacking.contains { other in
            guard takes(lane, candidate, from: other) else { return false }
            // What waits in the foreground would take it from background work again at once.
            return reserves(other, from: candidate)
                || !candidate.isForeground && other.candidate.isForeground && (!candidate.isUrgent || isNext(other))
        }
    }

    /// Foreground work that has given way before gets the room that is made for it.
    private func isNext(_ other: Lacking) -> Bool {
        other.candidate.hasGivenWay && holders(of: other.obstacle, for: other.candidate.request) != nil
    }

    /// Whether a candidate that starts there takes what another, which has no room yet, needs as well. What it holds
    /// already it has to use to give it back.
    private func takes(_ lane: Lane, _ candidate: StartCandidate, from other: Lacking) -> Bool {
        guard !candidate.holdsItsRoom else { return false }
        let request = other.candidate.request
        if case .device(.noRoom) = other.obstacle, let device = lane.device,
            devices.suited(to: request.claim.deviceMemoryBytes, request.devices, at: now).contains(device)
        {
            return true
        }
        return takesMemory(candidate, from: other.candidate)
    }

    /// Whether free memory has room for one of the two and not for both.
    func takesMemory(_ candidate: StartCandidate, from other: StartCandidate) -> Bool {
        let (claim, needed) = (candidate.request.claim.memoryBytes, other.request.claim.memoryBytes)
        guard claim > 0, needed > 0, let free = freeMemory else { return false }
        return claim + needed > free
    }

    /// It has waited so long for room that what it lacks is kept for it, but not by background work from the foreground;
    /// where the end of tasks of ours cannot give it enough, keeping others out would help nobody.
    func reserves(_ other: Lacking, from candidate: StartCandidate) -> Bool {
        guard other.candidate.isForeground || !candidate.isForeground, hasWaitedLong(other.candidate.roomlessSince),
            other.obstacle.endsWithOthers
        else { return false }
        let ending = running.values.filter(\.takesSlot)
        guard case .memory(let available, let needed) = other.obstacle else { return !ending.isEmpty }
        return available + ending.reduce(0) { $0 + $1.request.claim.memoryBytes } >= needed
    }

    private func hasWaitedLong(_ roomlessSince: Duration?) -> Bool {
        roomlessSince.map { awakeTime - $0 >= settings.reserveAfter } ?? false
    }

    /// The heads of the lines whose conditions hold, and the paused tasks that may go on, in order of their turn.
    mutating func candidates() -> [StartCandidate] {
        let heads = lines.heads(
            where: { [gates] in gates.allow($0.conditions, strictly: $0.mustBeKnown) },
            isLive: { [waiting] in waiting[$0.id]?.stamp == $0.stamp })
        let requests = heads.compactMap { head in
            waiting[head.id].map { entry in
                StartCandidate(
                    id: head.id, turn: head.key, request: entry.request, isForeground: entry.isForeground,
                    roomlessSince: entry.roomlessSince, isPaused: false, holdsItsRoom: false,
                    isUrgent: entry.isForeground || hasWaitedLong(entry.roomlessSince),
                    hasGivenWay: entry.isForeground && entry.waitedForBackground)
            }
        }
        let paused = running.values.filter { mayGoOn($0) }.map {
            let taskClass = TaskClass($0.request.kind, isForeground: $0.isForeground)
            return StartCandidate(
                id: $0.id, turn: ($0.pausedSince ?? $0.submitted) + (settings.turnDelay[taskClass] ?? .zero),
                request: $0.request, isForeground: $0.isForeground, roomlessSince: $0.roomlessSince, isPaused: true,
                holdsItsRoom: !$0.releasesMemory, isUrgent: $0.isForeground || hasWaitedLong($0.roomlessSince),
                hasGivenWay: $0.isForeground && $0.waitedForBackground)
        }
        return StartCandidate.inOrder(requests + paused)
    }

    /// A paused task starts again like one that waits: with all conditions of a start.
    private func mayGoOn(_ run: RunningEntry) -> Bool {
        guard run.machine.phase == .paused, run.machine.pauseCauses.isEmpty else { return false }
        return run.isSimulated
            || gates.allow(
                run.request.startConditions(isForeground: run.isForeground), strictly: run.request.mustBeKnown)
    }

    func placement(of candidate: StartCandidate, behind lacking: [Lacking]) -> Result<Lane, RoomObstacle> {
        guard candidate.holdsItsRoom, let run = running[candidate.id] else {
            var request = candidate.request
            if !candidate.requiresDevice, !request.preferredResources.isEmpty {
                request.devices.excluded.formUnion(devicesKept(for: lacking, from: candidate))
            }
            return placement(of: request)
        }
        // It still holds its memory, here or on its device, so only a slot can be missing.
        if let device = run.device { return .success(.device(device)) }
        return slotRoom()
    }

    /// Devices that work which requires one waits for, and that others only prefer.
    private func devicesKept(for lacking: [Lacking], from candidate: StartCandidate) -> Set<String> {
        lacking.reduce(into: []) { kept, other in
            guard other.candidate.requiresDevice, case .device(.noRoom) = other.obstacle,
                other.candidate.isForeground || !candidate.isForeground
            else { return }
            let request = other.candidate.request
            kept.formUnion(devices.suited(to: request.claim.deviceMemoryBytes, request.devices, at: now))
        }
    }

    func placement(of request: TaskRequest) -> Result<Lane, RoomObstacle> {
        if case .failure(let obstacle) = memoryRoom(request) { return .failure(obstacle) }
        let requires = request.requiredResources.contains(.gpu)
        if requires || request.preferredResources.contains(.gpu) {
            switch devices.place(request.claim.deviceMemoryBytes, request.devices, at: now) {
            case .success(let device): return .success(.device(device))
            case .failure(let failure): if requires { return .failure(.device(failure.obstacle)) }
            }
        }
        return slotRoom()
    }

    private func slotRoom() -> Result<Lane, RoomObstacle> {
        let holders = running.values.filter { $0.device == nil && $0.takesSlot }.map(\.id).sorted()
        return holders.count < settings.cpuSlots ? .success(.cpu) : .failure(.slots(holders: holders))
    }

    /// What may still be claimed; nil where memory cannot be read.
    var freeMemory: Int? {
        gates.conditions.availableMemoryBytes.map { $0 - claimedSinceReading - Int(thresholds.memory.stop) }
    }

    private func memoryRoom(_ request: TaskRequest) -> Result<Void, RoomObstacle> {
        let claim = request.claim.memoryBytes
        guard claim > 0, let free = freeMemory else { return .success(()) }
        return claim <= free ? .success(()) : .failure(.memory(available: max(free, 0), needed: claim))
    }

    private mutating func launch(_ id: JobID, _ lane: Lane, isSimulated: Bool) -> [SchedulerAction] {
        guard let entry = removeWaiting(id) else { return [] }
        let request = entry.request
        claim(request, id, lane)
        var run = RunningEntry(
            id: id, program: entry.program, request: request, submitted: entry.submitted, started: now,
            attempt: entry.attempts + 1, losses: entry.losses, device: lane.device, isForeground: entry.isForeground,
            isSimulated: isSimulated, watch: ProgressWatch(limits: settings.progress, at: now),
            terms: terms(of: id, isForeground: entry.isForeground, device: lane.device))
        switch request.kind {
        case .refresh:
            programs[entry.program]?.refresh.started(at: now)
            run.budgetEnds = now + settings.refreshTime
        case .processing:
            run.budgetEnds = settings.processingTime.map { now + $0 }
        case .continued:
            break
        }
        run.claimedAfter = reading
        // It had its turn before foreground work, which may not take it away again at once.
        if hasWaitedLong(entry.roomlessSince) { run.protectedUntil = now + settings.protection }
        run.watch.setEffort(effort(of: run.terms), at: now)
        programs[entry.program]?.running[request.identifier] = id
        running[id] = run
        setTimer(id)
        // Other refreshes of its program are spaced out from this one.
        if request.kind == .refresh { replaceSuccessors(of: run) }
        return [
            .launch(
                id,
                .init(
                    request: request, attempt: run.attempt, device: lane.device, terms: run.terms,
                    isSimulated: isSimulated))
        ]
    }

    /// A paused task has room again.
    private mutating func goOn(_ id: JobID, _ lane: Lane) -> [SchedulerAction] {
        guard var run = running[id] else { return [] }
        let keptItsRoom = !run.releasesMemory && (lane.device != nil || run.request.claim.memoryBytes > 0)
        if run.releasesMemory {
            claim(run.request, id, lane)
            run.claimedAfter = reading
        }
        run.releasesMemory = false
        run.device = lane.device
        run.machine.resume()
        run.pausedSince = nil
        if run.wasPreempted || keptItsRoom || hasWaitedLong(run.roomlessSince) {
            run.protectedUntil = now + settings.protection
        } else if let end = run.protectedUntil, end <= now {
            run.protectedUntil = nil
        }
        run.wasPreempted = false
        run.roomlessSince = nil
        run.waitedForBackground = false
        run.notedIgnoredPause = false
        // While it stood still nobody had to answer for it, and its silence begins anew.
        run.slowAnswerEnds = run.slowAnswerEnds.map { _ in now + settings.slowAnswer }
        run.warnedAt = nil
        run.terms = terms(of: id, isForeground: run.isForeground, device: run.device)
        run.watch.setEffort(effort(of: run.terms), at: now)
        running[id] = run
        setTimer(id)
        return [.resume(id, run.terms)]
    }

    private mutating func claim(_ request: TaskRequest, _ id: JobID, _ lane: Lane) {
        claimedSinceReading += request.claim.memoryBytes
        guard let device = lane.device else { return }
        devices.claim(request.claim.deviceMemoryBytes, on: device, by: id)
    }

    /// What was claimed since the latest reading is free again; what was claimed before shows in the next.
    func claimedBytes(without run: RunningEntry) -> Int {
        claimedSinceReading - (run.claimedAfter == reading ? run.request.claim.memoryBytes : 0)
    }
}
