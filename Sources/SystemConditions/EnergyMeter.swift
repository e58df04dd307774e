/// The energy that the machine takes, as far as it counts that itself (rule 97).
///
/// In order: the platform's or the processors' counters (`/sys/class/powercap`, which only root may read since Linux 5.10), a power
/// meter of the whole machine (`acpi_power_meter`), the battery while it is being emptied.
package struct EnergyMeter: Sendable {
    /// Longer between two looks, nobody knows what a power was meanwhile.
    private static let longestGap: Duration = .seconds(600)

    private enum Source: Equatable {
        /// Microjoules of each counter, with where it begins anew.
        case counters([Counter])
        /// Microwatts at this moment.
        case power(String, Int)
    }

    private struct Counter: Equatable {
        var path: String
        var microjoules: Int
        var range: Int
    }

    private let root: SystemRoot
    private var last: (source: Source, at: Duration)?

    package init(root: SystemRoot = SystemRoot()) {
        self.root = root
    }

    /// Joules since the call before.
    ///
    /// - Parameter now: On any clock that goes on.
    /// - Returns: nil at first, where nothing counts, and when what counts has changed.
    package mutating func take(at now: Duration) -> Double? {
        let source = look()
        defer { last = source.map { ($0, now) } }
        guard let source, let last else { return nil }
        switch (last.source, source) {
        case (.counters(let before), .counters(let after)) where before.map(\.path) == after.map(\.path):
            return zip(before, after).reduce(0) { $0 + Self.joules(from: $1.0, to: $1.1) }
        case (.power(let place, let before), .power(let same, let after))
        where same == place && now - last.at <= Self.longestGap:
            return (Double(before) + Double(after)) / 2 * 1e-6 * ((now - last.at) / .seconds(1))
        default: return nil
        }
    }

    private static func joules(from before: Counter, to after: Counter) -> Double {
        let difference = after.microjoules - before.microjoules
        return Double(difference < 0 ? difference + after.range : difference) * 1e-6
    }

    private func look() -> Source? {
        let counters = counters()
        return counters.isEmpty ? meter() ?? battery() : .counters(counters)
    }

    private func counters() -> [Counter] {
        let folder = "/sys/class/powercap"
        let zones = ((try? root.names(in: folder)) ?? []).filter { $0.hasPrefix("intel-rapl:") }
        let named = zones.map { (path: "\(folder)/\($0)", name: (try? root.line("\(folder)/\($0)/name")) ?? "") }
        // The platform has all others in it, a package its cores, but not its memory.
        let platform = named.filter { $0.name == "psys" }
        let counting = platform.isEmpty ? named.filter { $0.name.hasPrefix("package") || $0.name == "dram" } : platform
        return counting.compactMap { zone in
            guard let energy = root.integer("\(zone.path)/energy_uj"), energy >= 0 else { return nil }
            let range = root.integer("\(zone.path)/max_energy_range_uj") ?? 0
            return Counter(path: zone.path, microjoules: energy, range: max(0, range))
        }
    }

    private func meter() -> Source? {
        let folder = "/sys/class/hwmon"
        for name in (try? root.names(in: folder)) ?? [] {
            guard (try? root.line("\(folder)/\(name)/name")) == "power_meter" else { continue }
            let path = "\(folder)/\(name)/power1_average"
            if let power = root.integer(path), power >= 0 { return .power(path, power) }
        }
        return nil
    }

    private func battery() -> Source? {
        let folder = "/sys/class/power_supply"
        for name in (try? root.names(in: folder)) ?? [] {
            let supply = "\(folder)/\(name)"
            guard (try? root.line("\(supply)/type")) == "Battery", (try? root.line("\(supply)/scope")) != "Device",
                (try? root.line("\(supply)/status")) == "Discharging"
            else { continue }
            // Some drivers count charge, and some say a current that flows out with a sign.
            if let power = root.integer("\(supply)/power_now") { return .power(supply, Int(clamping: power.magnitude)) }
            if let current = root.integer("\(supply)/current_now"), let voltage = root.integer("\(supply)/voltage_now"),
                let product = Numeral.product(current, voltage)
            {
                return .power(supply, Int((product / 1_000_000).magnitude))
            }
        }
        return nil
    }
}
