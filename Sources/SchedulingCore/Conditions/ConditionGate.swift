/// Lets work start and stop by one condition, with a band between the two, a dwell, and a guard against flapping.
///
/// It closes at once. It opens when the condition has held for the dwell, and not sooner after its last opening than
/// the guard says; so whatever the readings do, it makes at most one start/stop pair in that time (rule 53).
package struct ConditionGate: Sendable {
    package enum Reading: Hashable, Sendable {
        case met, unmet
        /// Inside the band: an open gate stays open, a closed one closed.
        case between
    }

    package enum Change: Hashable, Sendable {
        case opened, closed
    }

    private let dwell: Duration
    private let minBetweenOpenings: Duration
    package private(set) var isOpen = true
    private var lastOpened: Duration
    /// Since when a closed gate has read `met` without a break.
    private var metSince: Duration?
    /// How often the guard, and not the dwell, held an opening back.
    package private(set) var guardedOpenings = 0
    package private(set) var history = ClosedTimes()

    /// - Parameters:
    ///   - dwell: How long the condition must hold before a closed gate opens.
    ///   - minBetweenOpenings: Least time from one opening to the next.
    ///   - now: When the gate starts, open.
    package init(dwell: Duration, minBetweenOpenings: Duration, at now: Duration) {
        self.dwell = dwell
        self.minBetweenOpenings = minBetweenOpenings
        lastOpened = now
    }

    package mutating func observe(_ reading: Reading, at now: Duration) -> Change? {
        switch reading {
        case .unmet:
            metSince = nil
            guard isOpen else { return nil }
            isOpen = false
            history.closed(at: now)
            return .closed
        case .between:
            metSince = nil
            return nil
        case .met:
            guard !isOpen else { return nil }
            if metSince == nil {
                metSince = now
                guardedOpenings += lastOpened + minBetweenOpenings > now + dwell ? 1 : 0
            }
            return timePassed(at: now)
        }
    }

    /// The condition's other gate opened: the guard counts the openings of a condition, whichever of its gates made them.
    package mutating func otherOpened(at now: Duration) {
        lastOpened = max(lastOpened, now)
    }

    package mutating func timePassed(at now: Duration) -> Change? {
        guard let opensAt, opensAt <= now else { return nil }
        isOpen = true
        metSince = nil
        lastOpened = now
        history.opened(at: now)
        return .opened
    }

    /// When a closed gate opens if its condition goes on holding; nil while it does not hold, or the gate is open.
    package var opensAt: Duration? {
        guard !isOpen, let metSince else { return nil }
        return max(metSince + dwell, lastOpened + minBetweenOpenings)
    }

    /// Earliest moment at which a closed gate could open.
    package func earliestOpening(at now: Duration) -> Duration {
        opensAt ?? max(now + dwell, lastOpened + minBetweenOpenings)
    }
}
