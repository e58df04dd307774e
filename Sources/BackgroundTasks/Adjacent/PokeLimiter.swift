/// Decides when a program hears of pokes: at low priority, merged, and at most three times an hour (A45).
package struct PokeLimiter: Sendable {
    package static let perHour = 3
    private static let window: Duration = .seconds(3_600)

    private var delivered: [Duration] = []
    /// What waits to be heard, merged: of equal keys the last one counts.
    private var payload: [String: String] = [:]
    private var count = 0

    package init() {}

    /// Someone pokes the program.
    package mutating func poked(_ payload: [String: String]) {
        count += 1
        self.payload.merge(payload) { $1 }
    }

    /// What is to be heard now; nil when there is nothing or it is too soon.
    ///
    /// - Parameters:
    ///   - now: Does not go back.
    ///   - mayRun: Whether the program may work in the background; what waits is kept until it may.
    package mutating func take(at now: Duration, mayRun: Bool) -> (payload: [String: String], count: Int)? {
        guard count > 0, mayRun, now >= nextDeadline ?? now else { return nil }
        delivered = delivered.filter { now - $0 < Self.window } + [now]
        defer {
            payload = [:]
            count = 0
        }
        return (payload, count)
    }

    /// When what waits may be heard; nil when nothing waits.
    package var nextDeadline: Duration? {
        guard count > 0 else { return nil }
        // A moment that has passed means now.
        guard delivered.count >= Self.perHour else { return delivered.last ?? .zero }
        return delivered[delivered.count - Self.perHour] + Self.window
    }
}
