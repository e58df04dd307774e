/// Decides when a deferrable activity may begin, on the wall clock (A47).
package struct ActivityPlan: Sendable {
    /// Seconds between two runs, or before the only one.
    package var interval: Duration = .zero
    /// How much earlier or later than planned it may run; nil for half of the interval.
    package var tolerance: Duration?
    package var repeats = false
    private var nominal: Duration?

    package init() {}

    /// - Returns: Earliest begin of the first run.
    package mutating func scheduled(at wall: Duration) -> Duration {
        nominal = wall + interval
        return earliest(at: wall)
    }

    /// The run ended with its work done.
    ///
    /// - Returns: Earliest begin of the next one; nil when there is none.
    package mutating func finished(at wall: Duration) -> Duration? {
        guard repeats else {
            nominal = nil
            return nil
        }
        // Runs keep their pace on average, and missed ones are not made up for.
        nominal = max((nominal ?? wall) + interval, wall)
        return earliest(at: wall)
    }

    /// The run stopped early because it should: it goes on as soon as the machine allows.
    package func deferred(at wall: Duration) -> Duration { wall }

    private func earliest(at wall: Duration) -> Duration {
        max((nominal ?? wall) - min(tolerance ?? interval / 2, interval), wall)
    }
}
