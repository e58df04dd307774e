package import TaskModel

/// Thins out changes of what is shown of a job: the first is told at once, later ones at most ten times a second, the
/// last one always (rule 66).
package struct DisplayUpdates: Sendable {
    /// Time between two updates of one job.
    package static let interval: Duration = .milliseconds(100)

    private struct Entry: Sendable {
        var told: Duration
        var isDue: Bool
    }

    private var entries: [JobID: Entry] = [:]

    package init() {}

    /// What is shown of a job changed.
    ///
    /// - Returns: Whether to tell it now.
    package mutating func changed(_ job: JobID, at now: Duration) -> Bool {
        if let entry = entries[job], now < entry.told + Self.interval {
            entries[job]?.isDue = true
            return false
        }
        entries[job] = Entry(told: now, isDue: false)
        return true
    }

    /// Jobs whose latest change is to be told now.
    package mutating func due(at now: Duration) -> [JobID] {
        let due = entries.filter { $0.value.isDue && now >= $0.value.told + Self.interval }.keys.sorted()
        for job in due { entries[job] = Entry(told: now, isDue: false) }
        return due
    }

    package mutating func forget(_ job: JobID) {
        entries[job] = nil
    }

    /// When ``due(at:)`` has something next; nil when nothing is held back.
    package var nextDeadline: Duration? {
        entries.values.filter(\.isDue).map { $0.told + Self.interval }.min()
    }
}
