import TaskModel

/// How long a request has waited for each reason (rules 58 and 95).
///
/// Conditions may hold it at the same time; every other reason excludes the rest. So no time is longer than the wait,
/// and together they leave none of it unexplained.
struct WaitTimes: Sendable {
    private var times: [WaitReason.Code: Duration] = [:]

    mutating func add(_ code: WaitReason.Code, _ time: Duration) {
        guard time > .zero else { return }
        times[code, default: .zero] += time
    }

    /// Adds a time in which it was due: each condition counts while it did not hold, and room was missing else.
    ///
    /// - Parameters:
    ///   - span: When it was due.
    ///   - closed: When each condition did not hold, within the span; may overlap.
    mutating func addDue(_ span: Range<Duration>, closed: [ConditionKind: [Range<Duration>]]) {
        for (kind, intervals) in closed { add(.condition(kind), Self.covered(intervals)) }
        add(.noRoom, span.upperBound - span.lowerBound - Self.covered(closed.values.flatMap(\.self)))
    }

    var longestFirst: [(code: WaitReason.Code, time: Duration)] {
        times.map { (code: $0.key, time: $0.value) }
            .sorted { $0.time != $1.time ? $0.time > $1.time : $0.code.text < $1.code.text }
    }

    /// Length of what the intervals cover together.
    private static func covered(_ intervals: [Range<Duration>]) -> Duration {
        var total: Duration = .zero
        var end: Duration?
        for interval in intervals.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            let start = max(interval.lowerBound, end ?? interval.lowerBound)
            total += max(interval.upperBound - start, .zero)
            end = max(interval.upperBound, end ?? interval.upperBound)
        }
        return total
    }
}
