/// Decides while what the machine's sleep and shutdown are delayed, and for how long (rule 78).
package struct SleepDelay: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// Have the machine wait before it sleeps.
        case hold
        case release
        /// It must be back, though nobody has said so.
        case comeBack
    }

    /// Work has so long to keep a checkpoint, from the announcement to the release.
    package static let limit: Duration = .milliseconds(1_900)
    /// A machine that has not left so long after its announcement does not leave. Time asleep counts.
    package static let longestAbsence: Duration = .seconds(60)

    private enum State: Hashable, Sendable {
        /// Nothing runs. Leaves by `looked` or `machineLeaves`.
        case free
        /// Something runs. Leaves by `looked` or `machineLeaves`.
        case held
        /// The machine waits for the work to stop. Leaves by `looked` or `machineReturned`.
        case stopping(until: Duration, back: Duration)
        /// Nothing is in the machine's way. Leaves by `looked` or `machineReturned`.
        case away(back: Duration)
        /// It is back, and looked at again before anything runs. Leaves by `machineReturned` or `machineLeaves`.
        case returning(isHeld: Bool)
    }

    private var state: State = .free
    /// Announcements so far.
    package private(set) var departures = 0

    package init() {}

    /// Nothing runs, and the machine neither leaves nor comes back.
    package var isFree: Bool { state == .free }

    /// The work was looked at. Active is what runs and has no checkpoint yet; what is paused has one.
    package mutating func looked(isActive: Bool, at now: Duration) -> Action? {
        switch state {
        case .free:
            guard isActive else { return nil }
            state = .held
            return .hold
        case .held:
            guard !isActive else { return nil }
            state = .free
            return .release
        case .stopping(let until, let back):
            guard !isActive || until <= now else { return nil }
            state = .away(back: back)
            return .release
        case .away(let back):
            guard back <= now else { return nil }
            state = .returning(isHeld: false)
            return .comeBack
        case .returning:
            return nil
        }
    }

    /// The machine is about to sleep or to shut down.
    package mutating func machineLeaves(at now: Duration) {
        departures += 1
        let back = now + Self.longestAbsence
        switch state {
        case .free, .away, .returning(isHeld: false): state = .away(back: back)
        case .held, .returning(isHeld: true): state = .stopping(until: now + Self.limit, back: back)
        case .stopping(let until, _): state = .stopping(until: until, back: back)
        }
    }

    /// It is back, or stays.
    ///
    /// - Returns: Whether there is anything to do; an end without an announcement counts for nothing.
    package mutating func machineIsBack() -> Bool {
        switch state {
        case .free, .held, .returning: return false
        case .stopping: state = .returning(isHeld: true)
        case .away: state = .returning(isHeld: false)
        }
        return true
    }

    /// Everything is as before that departure.
    ///
    /// - Returns: Whether work may go on; it may not when the machine has begun to leave again.
    package mutating func machineReturned(from departure: Int) -> Bool {
        guard departure == departures, case .returning(let isHeld) = state else { return false }
        state = isHeld ? .held : .free
        return true
    }

    /// Whether the machine is to wait now before it sleeps.
    package var isHeld: Bool {
        switch state {
        case .held, .stopping, .returning(isHeld: true): true
        case .free, .away, .returning(isHeld: false): false
        }
    }

    package var nextDeadline: Duration? {
        switch state {
        case .free, .held, .returning: nil
        case .stopping(let until, _): until
        case .away(let back): back
        }
    }
}
