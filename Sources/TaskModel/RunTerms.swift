/// How running work is to behave from its next chunk on (rules 88 and 89).
package struct RunTerms: Hashable, Codable, Sendable {
    package enum Priority: String, Codable, Sendable {
        case background, foreground
    }

    package var priority: Priority
    /// Wall time that one chunk should take.
    package var chunkTarget: Duration
    /// Share of the time in which chunks run, above 0, at most 1.
    package var dutyCycle: Double
    /// Chunks in flight at once, at least 1.
    package var concurrency: Int

    package init(priority: Priority, chunkTarget: Duration, dutyCycle: Double, concurrency: Int) {
        self.priority = priority
        self.chunkTarget = chunkTarget
        self.dutyCycle = dutyCycle
        self.concurrency = concurrency
    }
}

/// Names one submission of a request for as long as the scheduler knows it.
package struct JobID: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static func < (left: JobID, right: JobID) -> Bool { left.rawValue < right.rawValue }
    package var description: String { "\(rawValue)" }
}
