/// When a gate was closed: answers for any waiting request how long it was held up, with nothing kept per request.
package struct ClosedTimes: Sendable {
    /// Oldest first; the last one is still going on while `isClosed`.
    private var starts: [Duration] = []
    private var ends: [Duration] = []
    /// Intervals kept; older ones are forgotten. At one a minute this is more than two days.
    private static let maxKept = 4_096

    private var isClosed: Bool { starts.count > ends.count }

    mutating func closed(at now: Duration) {
        guard !isClosed else { return }
        starts.append(now)
        if starts.count > Self.maxKept {
            starts.removeFirst(Self.maxKept / 2)
            ends.removeFirst(Self.maxKept / 2)
        }
    }

    mutating func opened(at now: Duration) {
        guard isClosed else { return }
        ends.append(now)
    }

    /// The closed intervals that overlap `from` ... `to`, cut to it.
    package func intervals(from: Duration, to: Duration) -> [Range<Duration>] {
        var low = 0
        var high = ends.count
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] <= from { low = middle + 1 } else { high = middle }
        }
        var found: [Range<Duration>] = []
        for index in low..<starts.count {
            let start = max(starts[index], from)
            let end = min(index < ends.count ? ends[index] : to, to)
            if starts[index] >= to { break }
            if start < end { found.append(start..<end) }
        }
        return found
    }
}
