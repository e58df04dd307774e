package import TaskModel

/// Decides what the workers of one job do next.
///
/// Items are numbered from 0. At most one is in flight per worker, and each is settled exactly once. Times are those
/// since the job was made; the caller brings them along with the events.
package struct JobMachine: Sendable {
    /// What an item may use.
    package struct Terms: Hashable, Sendable {
        package var lane: LanePolicy.Lane
        /// Bytes the item's buffers may take together.
        package var claimBytes: Int
        /// No other item runs beside it.
        package var alone: Bool
    }

    /// What a worker said about its item.
    package enum Verdict: Hashable, Sendable {
        case made(megapixels: Double)
        case failed
        /// It needs more than its share of the memory; nothing was written.
        case needsMemory
        /// The device failed, not the item; nothing was written.
        case deviceFailed
        /// It was given up before its outputs were committed.
        case givenUp
    }

    /// How a worker's process ended.
    package enum Death: Hashable, Sendable {
        case exited(status: Int32)
        case signaled(Int32)
    }

    /// How an item ended.
    package enum Settlement: Hashable, Sendable {
        /// As the worker said.
        case reported
        case crashed(Death)
        /// Nothing was heard of it for so long.
        case hung(after: Duration)
        /// It has no result and is left to a later run.
        case unfinished
    }

    package enum Action: Hashable, Sendable {
        /// Hand the item to that worker; start a process first where there is none.
        case run(item: Int, worker: Int, Terms)
        /// Kill that worker's process and tell when it is gone.
        case kill(worker: Int)
        case settle(item: Int, Settlement)
        /// Comes once, after everything else.
        case finish(TaskOutcome)
    }

    package struct Limits: Sendable {
        package var workers: Int
        /// Bytes that all items in flight may take together.
        package var claimBytes: Int
        /// Longest silence of an item.
        package var hang: Duration
        /// Time for items in flight after a stop (rule 71).
        package var grace: Duration

        package init(
            workers: Int, claimBytes: Int, hang: Duration = .seconds(60), grace: Duration = .seconds(5)
        ) {
            precondition(workers > 0, "a job without workers would never end")
            self.workers = workers
            self.claimBytes = claimBytes
            self.hang = hang
            self.grace = grace
        }

        package var shareBytes: Int { claimBytes / workers }
    }

    private enum State: Sendable {
        /// Nothing was handed out. Leaves by `start` or `stop`.
        case queued
        /// Leaves by `stop`, or when the last item is settled.
        case running
        /// Nothing is handed out any more. Leaves when no item is in flight.
        case stopping(StopReason, deadline: Duration)
        /// Events that come late are ignored.
        case finished
    }

    private enum Slot: Sendable {
        case idle
        /// Killed when nothing was heard for longer than `patience`.
        case busy(item: Int, Terms, since: Duration, heard: Duration, patience: Duration)
        /// Told to die; leaves by `workerDied` with the settlement decided when it was killed.
        case dying(item: Int, Settlement)

        var isIdle: Bool {
            if case .idle = self { true } else { false }
        }

        var runsAlone: Bool {
            if case .busy(_, let terms, _, _, _) = self { terms.alone } else { false }
        }
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
    private var failures = 0
    private var unsettled: Int
    private var unfinished = 0
    package private(set) var lanes: LanePolicy

    package init(itemCount: Int, limits: Limits, lanes: LanePolicy) {
        self.itemCount = itemCount
        self.limits = limits
        self.lanes = lanes
        slots = Array(repeating: .idle, count: limits.workers)
        unsettled = itemCount
    }

    package mutating func start(at now: Duration) -> [Action] {
        guard case .queued = state else { return [] }
        state = .running
        return proceed(at: now)
    }

    /// A worker's item entered a phase that gives no sign of life and may take so long; the limit of silence applies
    /// again from the next sign on. A phase extends the limit once, so a hang within it is still found (rule 62).
    package mutating func entersSilentPhase(worker: Int, of length: Duration, at now: Duration) {
        guard case .busy(let item, let terms, let since, _, _) = slots[worker] else { return }
        slots[worker] = .busy(item: item, terms, since: since, heard: now, patience: max(limits.hang, length))
    }

    /// The item in flight gave a sign of life.
    package mutating func progressed(worker: Int, at now: Duration) {
        // A message of a worker that is being killed may still arrive.
        guard case .busy(let item, let terms, let since, _, _) = slots[worker] else { return }
        slots[worker] = .busy(item: item, terms, since: since, heard: now, patience: limits.hang)
    }

    package mutating func itemFinished(worker: Int, _ verdict: Verdict, at now: Duration) -> [Action] {
        // The result of a worker that was told to die no longer counts: its process ends all the same.
        guard case .busy(let item, let terms, let since, _, _) = slots[worker] else { return [] }
        slots[worker] = .idle
        switch verdict {
        case .made(let megapixels):
            lanes.finished(on: terms.lane, seconds: (now - since).inSeconds, megapixels: megapixels)
            return settle(item, .reported, failed: false) + proceed(at: now)
        case .needsMemory where !terms.alone && limits.workers > 1:
            alone.append((item, terms.lane))
            return proceed(at: now)
        case .deviceFailed where terms.lane == .device && lanes.deviceFailed():
            again.append((item, .cpu))
            return proceed(at: now)
        case .failed, .needsMemory, .deviceFailed:
            return settle(item, .reported, failed: true) + proceed(at: now)
        case .givenUp:
            return settle(item, .unfinished, failed: false) + proceed(at: now)
        }
    }

    /// The process of a worker is gone, whoever ended it.
    package mutating func workerDied(worker: Int, _ death: Death, at now: Duration) -> [Action] {
        switch slots[worker] {
        case .idle:
            // It had nothing to do: the next item starts a fresh one.
            return []
        case .dying(let item, let settlement):
            slots[worker] = .idle
            return settle(item, settlement, failed: settlement != .unfinished) + proceed(at: now)
        case .busy(let item, let terms, _, _, _):
            slots[worker] = .idle
            if death == .signaled(Self.sigkill), killedOnce.insert(item).inserted {
                // Nobody's fault for sure, most likely the kernel wanted memory: once more, with nothing beside it.
                alone.append((item, terms.lane))
                return proceed(at: now)
            }
            return settle(item, .crashed(death), failed: true) + proceed(at: now)
        }
    }

    /// Stops handing out. Items in flight have the grace time; the first reason given is the one reported.
    package mutating func stop(_ reason: StopReason, at now: Duration) -> [Action] {
        switch state {
        case .queued, .running:
            state = .stopping(reason, deadline: now + limits.grace)
            return proceed(at: now)
        case .stopping, .finished:
            return []
        }
    }

    /// A probe that ran beside the first items found a usable device.
    package mutating func deviceFound() {
        lanes.deviceFound()
    }

    /// Kills what has been silent for too long. To be called at ``nextDeadline`` or later.
    package mutating func timePassed(now: Duration) -> [Action] {
        var actions: [Action] = []
        for worker in slots.indices {
            guard case .busy(let item, _, _, let heard, let patience) = slots[worker] else { continue }
            if case .stopping(_, let deadline) = state, now >= deadline {
                slots[worker] = .dying(item: item, .unfinished)
            } else if now >= heard + patience {
                slots[worker] = .dying(item: item, .hung(after: now - heard))
            } else {
                continue
            }
            actions.append(.kill(worker: worker))
        }
        return actions
    }

    /// When ``timePassed(now:)`` has something to do next; nil while nothing is in flight.
    package var nextDeadline: Duration? {
        let hang = slots.compactMap { slot -> Duration? in
            guard case .busy(_, _, _, let heard, let patience) = slot else { return nil }
            return heard + patience
        }.min()
        guard let hang, case .stopping(_, let deadline) = state else { return hang }
        return min(hang, deadline)
    }

    private static let sigkill: Int32 = 9

    private mutating func settle(_ item: Int, _ settlement: Settlement, failed: Bool) -> [Action] {
        unsettled -= 1
        unfinished += settlement == .unfinished ? 1 : 0
        failures += failed ? 1 : 0
        return [.settle(item: item, settlement)]
    }

    /// Hands out what can be handed out, and ends the job when nothing is left or in flight.
    private mutating func proceed(at now: Duration) -> [Action] {
        var actions: [Action] = []
        if case .running = state {
            while let worker = slots.firstIndex(where: \.isIdle), let (item, terms) = takeNext() {
                slots[worker] = .busy(item: item, terms, since: now, heard: now, patience: limits.hang)
                actions.append(.run(item: item, worker: worker, terms))
            }
        }
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
            preconditionFailure("items are left, no worker has one, and none was handed out")
        case .queued, .finished:
            break
        }
        return actions
    }

    private mutating func takeNext() -> (Int, Terms)? {
        if slots.contains(where: \.runsAlone) { return nil }
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

extension Duration {
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
