/// The processors of the machine, as the kernel counts their time (proc(5), `/proc/stat`).
package struct MachineProcessors: Sendable {
    /// Hundredths of a second, by which the kernel counts (USER_HZ).
    private static let tick: Duration = .milliseconds(10)

    package let count: Int
    /// In which no process of this machine ran, of all processors together: idle, waiting for a disk, taken by a host.
    package let idle: Duration

    /// - Returns: nil when the kernel does not tell.
    package init?(system: PrioritySystem = PrioritySystem()) {
        // A line for each processor comes first.
        let text = system.text("\(system.proc)/stat", upTo: 256 << 10) ?? ""
        let lines = text.split(separator: "\n").prefix { $0.hasPrefix("cpu") }
        let times = lines.first?.split(separator: " ").dropFirst().compactMap { Int64($0) } ?? []
        guard lines.count > 1, times.count >= 8 else { return nil }
        count = lines.count - 1
        idle = Self.tick * Int(times[3] + times[4] + times[7])
    }
}
