package import TaskModel

/// How running work is to behave from its next chunk on (rules 88 and 89).
public struct BGRunTerms: Hashable, Sendable {
    public enum Priority: String, Sendable {
        /// Nobody watches: short chunks, pauses between them.
        case background
        /// A person waits for it.
        case foreground
    }

    public let priority: Priority
    /// Wall time that one chunk should take.
    public let chunkTarget: Duration
    /// Share of the time in which chunks run, above 0, at most 1.
    public let dutyCycle: Double
    /// Chunks in flight at once, at least 1.
    public let concurrency: Int

    package init(_ terms: RunTerms) {
        priority = terms.priority == .foreground ? .foreground : .background
        chunkTarget = terms.chunkTarget
        dutyCycle = terms.dutyCycle
        concurrency = terms.concurrency
    }
}
