package import TaskModel

/// Decides what the workers of one job do next.
///
/// Items are numbered from 0. At most one is at work per worker, which may have another one ahead, and each is settled
/// exactly once. Times are those since the job was made; the caller brings them along with the events.
package struct JobMachine: Sendable {
    private enum State: Sendable {
        /// Nothing was handed out. Leaves by `start` or `stop`.
        case queued
        /// Leaves by `stop`, or when the last item is settled.
        case running
        /// Nothing is handed out any more. Leaves when no item is in flight.
        case stopping(StopReason, StopTerms)
        /// Events that come late are ignored.
        case finished
    }

    fileprivate struct StopTerms: Sendable {
        /// What is in flight then is killed.
        var deadline: Duration
        /// Beyond it, an encode that was spared.
        var latest: Duration
        /// Items are given up, so that nothing but what hears no stop is spared.
        var givesUp: Bool
    }

    private enum Slot: Sendable {
        case idle
        case busy(Busy)
        /// Told to die; leaves by `workerDied` with the fate decided when it was killed.
        case dying(Busy, Fate)

        var isIdle: Bool {
            if case .idle = self { true } else { false }
        }

        var busy: Busy? {
            if case .busy(let busy) = self { busy } else { nil }
        }

        /// It takes a share of what may run at once.
        var isGoing: Bool {
            switch self {
            case .idle: false
            case .busy(let busy): busy.motion == .going
            case .dying: true
            }
        }
    }

    fileprivate struct Busy: Sendable {
        enum Motion: Sendable { case going, halting, halted }

        var item: Int
        var terms: Terms
        /// Moved by the time it stood still.
        var since: Duration
        /// When a sign of life came last. Killed when nothing was heard for longer than `patience`, unless halted.
        var heard: Duration
        var patience: Duration
        var motion = Motion.going
        /// It is done again on the CPU unless it gets done after all.
        var leavesDevice = false
        /// The encoder at work, and since when.
        var encode: (what: Encode, since: Duration)?
        /// Until when a stop waits for the one encode that it spares.
        var sparedUntil: Duration?
        /// What the worker begins by itself when this one has ended.
        var ahead: (item: Int, terms: Terms)?
        /// That was asked back.
        var isWithdrawing = false
    }

    /// What becomes of an item whose worker is killed.
    private enum Fate: Hashable, Sendable {
        case settled(Settlement)
        case againOnCPU
        /// It went silent on a device.
        case failedByDevice(Settlement, alone: Bool)
    }

    private enum Pause: Sendable {
        case none
        /// Asked for; leaves when every item in flight stands still, by `resume` or by `stop`.
        case coming
        case here
    }

    private let limits: Limits
    private let itemCount: Int
    private var state: State = .queued
    private var slots: [Slot]
    private var nextItem = 0
    /// Items to do again beside others.
    private var again: [(item: Int, lane: LanePolicy.Lane)] = []
    /// Items to do again when nothing else is in flight.
    private var alone: [(item: Int, lane: LanePolicy.Lane)] = []
    /// Items whose worker was killed from outside once already.
    private var killedOnce: Set<Int> = []
    /// Items that the device failed at once already.
    private var failedByDevice: Set<Int> = []
    private var failures = 0
    private var unsettled: Int
    private var unfinished = 0
    private var pause: Pause = .none
    /// Items that may run at once, at most one for each worker.
    private var concurrency: Int
    package private(set) var lanes: LanePolicy

    package init(itemCount: Int, limits: Limits, lanes: LanePolicy) {
        self.itemCount = itemCount
        self.limits = limits
        self.lanes = lanes
        slots = Array(repeating: .idle, count: limits.workers)
        unsettled = itemCount
        concurrency = limits.workers
    }

    /// Nothing runs and nothing will before ``resume(at:)`` or a stop.
    package var isPaused: Bool { pause == .here }

    /// A worker that has no item gets one only if that of another is to be done again.
    package var hasHandedOutAll: Bool {
        nextItem == itemCount && again.isEmpty && alone.isEmpty && slots.allSatisfy { $0.busy?.ahead == nil }
    }

    package mutating func start(at now: Duration) -> [Action] {
        guard case .queued = state else { return [] }
        state = .running
        return proceed(at: now)
    }

    /// A worker's item entered a phase that gives no sign of life and may take so long; the limit of silence applies
    /// again from the next sign on. A phase extends the limit once, so a hang within it is still found (rule 62).
    ///
    /// - Parameters:
    ///   - worker: Whose item it is.
    ///   - length: The longest silence from now on.
    ///   - encode: The encoder that begins; nil where the one before goes on, or where it is none.
    ///   - now: The time.
    package mutating func entersSilentPhase(
        worker: Int, of length: Duration, encode: Encode? = nil, at now: Duration
    ) {
        heard(worker, patience: max(limits.hang, length), at: now)
        guard let encode, var busy = slots[worker].busy else { return }
        busy.encode = (encode, since: now)
        if case .stopping(_, let terms) = state {
            // A stop waits for one encode of each worker.
            busy.sparedUntil = busy.sparedUntil == nil ? busy.spared(by: terms, at: now) : terms.deadline
        }
        slots[worker] = .busy(busy)
    }

    /// The longest that a stop goes on to wait for an encode beyond its deadline; nil where there is none, or no stop.
    package func encodeWait(at now: Duration) -> Wait? {
        guard case .stopping(_, let terms) = state else { return nil }
        return slots.compactMap(\.busy).compactMap { busy -> Wait? in
            guard let end = busy.sparedUntil, end > terms.deadline, let (encode, since) = busy.encode else {
                return nil
            }
            return Wait(expected: max(since + encode.expected - now, .zero), longest: end - now)
        }.max { $0.expected < $1.expected }
    }

    /// The item in flight gave a sign of life.
    package mutating func progressed(worker: Int, at now: Duration) {
        heard(worker, patience: limits.hang, at: now)
        guard var busy = slots[worker].busy else { return }
        busy.encode = nil
        slots[worker] = .busy(busy)
    }

    private mutating func heard(_ worker: Int, patience: Duration, at now: Duration) {
        // A message of a worker that is being killed may still arrive; one that leaves its device has little time.
        guard var busy = slots[worker].busy, !busy.leavesDevice else { return }
        busy.heard = now
        busy.patience = patience
        slots[worker] = .busy(busy)
    }

    package mutating func itemFinished(worker: Int, _ verdict: Verdict, at now: Duration) -> [Action] {
        // The result of a worker that was told to die no longer counts: its process ends all the same.
        guard let busy = slots[worker].busy else { return [] }
        let began = advance(worker, from: busy, at: now)
        let terms = busy.terms
        switch verdict {
        case .made(let megapixels):
            lanes.finished(on: terms.lane, seconds: (now - busy.since).inSeconds, megapixels: megapixels)
            return settle(busy.item, .reported, failed: false) + began + proceed(at: now)
        case .needsMemory where !terms.alone && limits.workers > 1:
            alone.append((busy.item, busy.leavesDevice ? .cpu : terms.lane))
            return began + proceed(at: now)
        case .givenUp where busy.leavesDevice, .deviceFailed where busy.leavesDevice:
            doAgain(busy.item, on: .cpu, alone: terms.alone)
            return began + proceed(at: now)
        case .deviceFailed where terms.lane == .device:
            return began + deviceFailed(busy.item, .reported, alone: terms.alone, at: now)
        case .failed, .needsMemory, .deviceFailed:
            return settle(busy.item, .reported, failed: true) + began + proceed(at: now)
        case .givenUp:
            return settle(busy.item, .unfinished, failed: false) + began + proceed(at: now)
        }
    }

    /// A worker whose item has ended is at the one that it had ahead, or has nothing to do.
    private mutating func advance(_ worker: Int, from busy: Busy, at now: Duration) -> [Action] {
        guard let (item, terms) = busy.ahead else {
            slots[worker] = .idle
            return []
        }
        var next = Busy(item: item, terms: terms, since: now, heard: now, patience: limits.hang)
        // It hears within this item what it was told too late for the last one.
        if busy.motion != .going { next.motion = .halting }
        slots[worker] = .busy(next)
        return [.began(item: item, worker: worker)]
    }

    /// The worker does not begin the item that it had ahead, as ``Action/withdraw(worker:)`` asked for.
    package mutating func withdrawn(worker: Int, at now: Duration) -> [Action] {
        guard var busy = slots[worker].busy else { return [] }
        takeBack(from: &busy)
        slots[worker] = .busy(busy)
        return proceed(at: now)
    }

    private mutating func takeBack(from busy: inout Busy) {
        if let (item, terms) = busy.ahead { again.append((item, terms.lane)) }
        (busy.ahead, busy.isWithdrawing) = (nil, false)
    }

    /// The process of a worker is gone, whoever ended it. With `hadBegunNext` it was at the item that it had ahead: the one
    /// before was made, and is done again because nobody said that it is committed.
    package mutating func workerDied(
        worker: Int, _ death: Death, hadBegunNext: Bool = false, at now: Duration
    ) -> [Action] {
        switch slots[worker] {
        case .idle:
            // It had nothing to do: the next item starts a fresh one.
            return []
        case .dying(var busy, let fate):
            takeBack(from: &busy)
            slots[worker] = .idle
            switch fate {
            case .settled(let settlement):
                return settle(busy.item, settlement, failed: settlement != .unfinished) + proceed(at: now)
            case .againOnCPU:
                doAgain(busy.item, on: .cpu, alone: false)
                return proceed(at: now)
            case .failedByDevice(let settlement, let alone):
                return deviceFailed(busy.item, settlement, alone: alone, at: now)
            }
        case .busy(var busy):
            if hadBegunNext, let (next, terms) = busy.ahead {
                doAgain(busy.item, on: busy.terms.lane, alone: busy.terms.alone)
                (busy.item, busy.terms, busy.ahead) = (next, terms, nil)
            }
            takeBack(from: &busy)
            slots[worker] = .idle
            if death == .signaled(Self.sigkill), killedOnce.insert(busy.item).inserted {
                // Nobody's fault for sure, most likely the kernel wanted memory: once more, with nothing beside it.
                alone.append((busy.item, busy.leavesDevice ? .cpu : busy.terms.lane))
                return proceed(at: now)
            }
            if busy.leavesDevice {
                doAgain(busy.item, on: .cpu, alone: busy.terms.alone)
                return proceed(at: now)
            }
            if busy.terms.lane == .device {
                return deviceFailed(busy.item, .crashed(death), alone: busy.terms.alone, at: now)
            }
            return settle(busy.item, .crashed(death), failed: true) + proceed(at: now)
        }
    }

    /// Whether the driver or the item is to blame shows when the item is done again (rule 37).
    private mutating func deviceFailed(
        _ item: Int, _ settlement: Settlement, alone: Bool, at now: Duration
    ) -> [Action] {
        switch lanes.deviceFailed(again: !failedByDevice.insert(item).inserted) {
        case .againOnCPU: doAgain(item, on: .cpu, alone: alone)
        // After all others, when it has the device to itself.
        case .againOnDevice: doAgain(item, on: .device, alone: true)
        case .none: return settle(item, settlement, failed: true) + proceed(at: now)
        case .jobStops:
            return settle(item, .unfinished, failed: false) + stop(.deviceLost, at: now) + proceed(at: now)
        }
        return proceed(at: now)
    }

    /// So many items may run at once from now on. Those beyond halt where they are, the latest first, and go on before
    /// anything new is handed out.
    package mutating func allow(concurrency: Int, at now: Duration) -> [Action] {
        precondition(concurrency > 0, "a job that may do nothing is paused")
        self.concurrency = concurrency
        return proceed(at: now)
    }

    /// Hands out nothing more and halts what is in flight; ``Action/paused`` tells when it has (rule 94).
    package mutating func pause(at now: Duration) -> [Action] {
        switch state {
        case .queued, .running:
            if pause == .here { return [.paused] }
            pause = .coming
            return proceed(at: now)
        case .stopping, .finished:
            // The end is the answer.
            return []
        }
    }

    package mutating func resume(at now: Duration) -> [Action] {
        pause = .none
        return proceed(at: now)
    }

    /// The worker stands still, as ``Action/halt(worker:)`` asked for.
    package mutating func halted(worker: Int, at now: Duration) -> [Action] {
        // It may have been told to go on, or to die, in between.
        guard var busy = slots[worker].busy, busy.motion == .halting else { return [] }
        busy.motion = .halted
        busy.heard = now
        slots[worker] = .busy(busy)
        return proceed(at: now)
    }

    /// Nothing more goes to the device; its items in flight are done again on the CPU.
    package mutating func leaveDevice(at now: Duration) -> [Action] {
        lanes.leaveDevice()
        again = again.map { ($0.item, .cpu) }
        alone = alone.map { ($0.item, .cpu) }
        var actions: [Action] = []
        for worker in slots.indices {
            guard var busy = slots[worker].busy, busy.terms.lane == .device, !busy.leavesDevice else { continue }
            busy.leavesDevice = true
            busy.motion = .going
            busy.heard = now
            busy.patience = limits.grace
            slots[worker] = .busy(busy)
            actions.append(.giveUp(worker: worker))
        }
        return actions
    }

    /// Stops handing out; the first reason given is the one reported. With a limit, items in flight that cannot be done
    /// at once are given up, and killed after that time; without one they may come to their ends within the grace time.
    ///
    /// One encode of each worker is waited for longer where it is to end within ``Limits/encodeGraces`` times the grace. With a
    /// limit that holds for encodes that hear no stop, and within nine tenths of the grace alone, since whoever set the limit
    /// kills the whole job after the grace.
    package mutating func stop(_ reason: StopReason, within limit: Duration? = nil, at now: Duration) -> [Action] {
        switch state {
        case .queued, .running:
            let latest = limit == nil ? limits.grace * Limits.encodeGraces : limits.grace * 9 / 10
            state = .stopping(
                reason,
                StopTerms(deadline: now + (limit ?? limits.grace), latest: now + latest, givesUp: limit != nil))
        case .stopping(let first, let terms):
            guard let limit else { return [] }
            state = .stopping(
                first,
                StopTerms(
                    deadline: min(terms.deadline, now + limit), latest: min(terms.latest, now + limits.grace * 9 / 10),
                    givesUp: true))
        case .finished:
            return []
        }
        pause = .none
        return release(givingUp: limit != nil, at: now) + proceed(at: now)
    }

    /// Lets everything in flight come to its end.
    private mutating func release(givingUp: Bool, at now: Duration) -> [Action] {
        var actions: [Action] = []
        for worker in slots.indices {
            guard var busy = slots[worker].busy else { continue }
            actions += withdraw(from: &busy, worker)
            if givingUp {
                actions.append(.giveUp(worker: worker))
            } else if busy.motion != .going {
                actions.append(.goOn(worker: worker))
            }
            busy.go(at: now)
            if case .stopping(_, let terms) = state { busy.sparedUntil = busy.spared(by: terms, at: now) }
            slots[worker] = .busy(busy)
        }
        return actions
    }

    /// A probe that ran beside the first items found a usable device.
    package mutating func deviceFound() {
        lanes.deviceFound()
    }

    /// Kills what has been silent for too long. To be called at ``nextDeadline`` or later.
    package mutating func timePassed(now: Duration) -> [Action] {
        var actions: [Action] = []
        for worker in slots.indices {
            guard let busy = slots[worker].busy else { continue }
            let fate: Fate
            if let end = stopDeadline(of: busy), now >= end {
                fate = .settled(.unfinished)
            } else if let limit = busy.deadline, now >= limit {
                fate = self.fate(ofSilent: busy, at: now)
            } else {
                continue
            }
            slots[worker] = .dying(busy, fate)
            actions.append(.kill(worker: worker))
        }
        return actions
    }

    private func fate(ofSilent busy: Busy, at now: Duration) -> Fate {
        if busy.leavesDevice { return .againOnCPU }
        let settlement = Settlement.hung(after: now - busy.heard)
        return busy.terms.lane == .device
            ? .failedByDevice(settlement, alone: busy.terms.alone) : .settled(settlement)
    }

    /// When ``timePassed(now:)`` has something to do next; nil while nothing is in flight that moves.
    package var nextDeadline: Duration? {
        let busy = slots.compactMap(\.busy)
        return (busy.compactMap(\.deadline) + busy.compactMap { stopDeadline(of: $0) }).min()
    }

    /// When an item in flight is killed because of a stop; nil without one.
    private func stopDeadline(of busy: Busy) -> Duration? {
        guard case .stopping(_, let terms) = state else { return nil }
        return max(terms.deadline, busy.sparedUntil ?? .zero)
    }

    private static let sigkill: Int32 = 9

    private mutating func settle(_ item: Int, _ settlement: Settlement, failed: Bool) -> [Action] {
        unsettled -= 1
        unfinished += settlement == .unfinished ? 1 : 0
        failures += failed ? 1 : 0
        return [.settle(item: item, settlement)]
    }

    private mutating func doAgain(_ item: Int, on lane: LanePolicy.Lane, alone isAlone: Bool) {
        if isAlone {
            alone.append((item, lane))
        } else {
            again.append((item, lane))
        }
    }

    /// Halts, lets go on and hands out what it takes to have as much running as may; ends the job when nothing is left
    /// or in flight.
    private mutating func proceed(at now: Duration) -> [Action] {
        var actions: [Action] = []
        if case .running = state { actions = balance(at: now) }
        guard slots.allSatisfy(\.isIdle) else { return actions }
        switch state {
        case .running where unsettled == 0, .stopping where unsettled + unfinished == 0:
            // A stop that came after the last item had been handed out lost the race: the work is done.
            state = .finished
            actions.append(.finish(.completed(failures: failures)))
        case .stopping(let reason, _):
            state = .finished
            actions += abandonRest()
            actions.append(.finish(.stopped(reason)))
        case .running:
            precondition(pause != .none, "items are left, no worker has one, and none was handed out")
        case .queued, .finished:
            break
        }
        return actions
    }

    private mutating func balance(at now: Duration) -> [Action] {
        var actions: [Action] = []
        let allowed = pause == .none ? min(concurrency, limits.workers) : 0
        var going = slots.count(where: \.isGoing)
        while going > allowed, let worker = latest(where: { $0.motion == .going }), var busy = slots[worker].busy {
            // First, so that it does not begin another one instead of coming to a halt.
            actions += withdraw(from: &busy, worker)
            busy.motion = .halting
            slots[worker] = .busy(busy)
            actions.append(.halt(worker: worker))
            going -= 1
        }
        while going < allowed, let worker = earliest(where: { $0.motion != .going }), var busy = slots[worker].busy {
            busy.go(at: now)
            slots[worker] = .busy(busy)
            actions.append(.goOn(worker: worker))
            going += 1
        }
        while going < allowed, let worker = slots.firstIndex(where: \.isIdle), let (item, terms) = takeNext() {
            slots[worker] = .busy(Busy(item: item, terms: terms, since: now, heard: now, patience: limits.hang))
            actions.append(.run(item: item, worker: worker, terms))
            going += 1
        }
        if going < allowed {
            actions += shareOut()
        } else if pause == .none {
            actions += handOutAhead()
        }
        let standsStill = slots.allSatisfy { $0.isIdle || $0.busy?.motion == .halted }
        if pause == .coming, standsStill, unsettled > 0 {
            pause = .here
            actions.append(.paused)
        }
        return actions
    }

    /// Gives workers their next items, so that none waits between two. What is left at the end goes to whoever is free
    /// first, and what may go to a device is not decided ahead.
    private mutating func handOutAhead() -> [Action] {
        guard limits.handsOutAhead else { return [] }
        var actions: [Action] = []
        for worker in slots.indices where again.count + itemCount - nextItem > slots.count {
            guard var busy = slots[worker].busy, busy.motion == .going, busy.ahead == nil, busy.terms.lane == .cpu,
                (again.first?.lane ?? lanes.coming) == .cpu, let (item, terms) = takeNext()
            else { continue }
            busy.ahead = (item, terms)
            slots[worker] = .busy(busy)
            actions.append(.runAfter(item: item, worker: worker, terms))
        }
        return actions
    }

    /// Takes back an item that waits for its worker while another worker has nothing to do.
    private mutating func shareOut() -> [Action] {
        for worker in slots.indices {
            guard var busy = slots[worker].busy, busy.ahead != nil else { continue }
            let actions = withdraw(from: &busy, worker)
            slots[worker] = .busy(busy)
            return actions
        }
        return []
    }

    private func withdraw(from busy: inout Busy, _ worker: Int) -> [Action] {
        guard busy.ahead != nil, !busy.isWithdrawing else { return [] }
        busy.isWithdrawing = true
        return [.withdraw(worker: worker)]
    }

    private func latest(where isMeant: (Busy) -> Bool) -> Int? {
        slots.indices.filter { slots[$0].busy.map(isMeant) ?? false }
            .max { (slots[$0].busy?.since ?? .zero, $0) < (slots[$1].busy?.since ?? .zero, $1) }
    }

    private func earliest(where isMeant: (Busy) -> Bool) -> Int? {
        slots.indices.filter { slots[$0].busy.map(isMeant) ?? false }
            .min { (slots[$0].busy?.since ?? .zero, $0) < (slots[$1].busy?.since ?? .zero, $1) }
    }

    private mutating func takeNext() -> (Int, Terms)? {
        if slots.contains(where: { $0.busy?.terms.alone == true }) { return nil }
        if !again.isEmpty {
            let (item, lane) = again.removeFirst()
            return (item, Terms(lane: lane, claimBytes: limits.shareBytes, alone: false))
        }
        if nextItem < itemCount {
            defer { nextItem += 1 }
            return (nextItem, Terms(lane: lanes.next(), claimBytes: limits.shareBytes, alone: false))
        }
        guard !alone.isEmpty, slots.allSatisfy(\.isIdle) else { return nil }
        let (item, lane) = alone.removeFirst()
        return (item, Terms(lane: lane, claimBytes: limits.claimBytes, alone: true))
    }

    private mutating func abandonRest() -> [Action] {
        let rest = again.map(\.item) + alone.map(\.item) + Array(nextItem..<itemCount)
        again = []
        alone = []
        nextItem = itemCount
        unsettled = 0
        return rest.map { .settle(item: $0, .unfinished) }
    }
}

extension JobMachine.Busy {
    fileprivate mutating func go(at now: Duration) {
        guard motion != .going else { return }
        if motion == .halted { since += now - heard }
        heard = now
        motion = .going
    }

    /// Until when a stop waits for the encode in work, twice as long as it is to take; nil where there is none, or none that is
    /// to end in time.
    fileprivate func spared(by terms: JobMachine.StopTerms, at now: Duration) -> Duration? {
        guard let (encode, since) = encode, !terms.givesUp || !encode.hearsStop else { return nil }
        guard since + encode.expected <= terms.latest else { return nil }
        return min(since + encode.expected * 2, terms.latest)
    }

    /// When its silence is over the limit.
    fileprivate var deadline: Duration? { motion == .halted ? nil : heard + patience }
}

extension Duration {
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
