/// The processors of a unit: what it used of them, and how many it may use (the kernel's cgroup-v2, "CPU"). The group is the
/// person's own. The manager is not told of the limit, and lifts it with the next weight it is told of.
package struct UnitProcessors: Sendable {
    /// Shares are handed out anew this often: of the kernel's own, and the longest that it takes.
    private static let periods = Duration.milliseconds(100)...Duration.seconds(1)
    /// The kernel's least share of a period; less takes a longer period.
    private static let least: Duration = .milliseconds(1)

    private let system: PrioritySystem
    private let folder: String

    /// - Parameters:
    ///   - folder: Where its group is shown.
    ///   - system: Of which it is part.
    package init(folder: String, system: PrioritySystem) {
        self.folder = folder
        self.system = system
    }

    /// Processor time so far; nil when there is no such unit any more.
    package var used: Duration? {
        let lines = system.text(folder + "/cpu.stat")?.split(separator: "\n") ?? []
        let value = lines.first { $0.hasPrefix("usage_usec ") }?.split(separator: " ").last
        return value.flatMap { Int64($0) }.map { .microseconds($0) }
    }

    /// Limits it to so many processors, however many those are spread over; nil lifts the limit.
    ///
    /// - Returns: Whether the limit is in force, as the kernel tells it.
    package func limit(to processors: Double?) -> Bool {
        var text = "max \(Self.periods.lowerBound.microseconds)"
        if let processors {
            let period = max(Self.periods.lowerBound, min(Self.least / max(processors, 0.001), Self.periods.upperBound))
            text = "\(max(period * processors, Self.least).microseconds) \(period.microseconds)"
        }
        let file = folder + "/cpu.max"
        if system.text(file) == text { return true }
        return system.write(text, to: file) == 0 && system.text(file) == text
    }
}

extension Duration {
    fileprivate var microseconds: Int { Int(self / .microseconds(1)) }
}
