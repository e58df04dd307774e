package import TaskModel

/// When to read which conditions though no event came. Holds no clock.
package struct SamplingPlan: Sendable {
    private struct Entry {
        var interval: Duration
        var due: Duration
    }

    /// More often than this no condition is read.
    package static let shortest: Duration = .milliseconds(100)

    private var entries: [ConditionKind: Entry] = [:]

    package init() {}

    /// Reads these conditions at an interval from now on, or no more; others stay as they are.
    package mutating func set(_ interval: Duration?, for kinds: ConditionSet, at now: Duration) {
        for kind in kinds.kinds {
            entries[kind] = interval.map {
                let interval = max($0, Self.shortest)
                return Entry(interval: interval, due: now + interval)
            }
        }
    }

    /// When something is to be read; nil for never.
    package var nextDue: Duration? { entries.values.map(\.due).min() }

    /// The conditions to be read now, whose next time is set.
    package mutating func take(at now: Duration) -> ConditionSet {
        guard let nextDue, nextDue <= now else { return [] }
        var kinds: ConditionSet = []
        for (kind, entry) in entries where entry.due <= now + entry.interval / 10 {
            // What is nearly due comes along, so that equal intervals wake the machine once.
            kinds.formUnion(ConditionSet(kind))
            let next = entry.due + entry.interval
            entries[kind]?.due = next > now ? next : now + entry.interval
        }
        return kinds
    }
}
