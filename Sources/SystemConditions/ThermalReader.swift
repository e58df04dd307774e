import TaskModel

/// Thermal state from zones with trip points and from hardware monitors with a critical temperature (rule 45).
///
/// What counts is not how hot a sensor is but how far it is from its own limit: one machine's 80 °C is another's idle.
struct ThermalReader {
    let root: SystemRoot

    /// Degrees Celsius below a sensor's own limit at which the machine is fair, serious and critical.
    private static let margins = (fair: 20.0, serious: 10.0, critical: 3.0)
    /// Degrees below the point where the kernel slows the machine down at which it is fair; at that point it is serious.
    private static let passiveMargin = 5.0

    private struct Sensor {
        var path: String
        var name: String
        var celsius: Double
        /// Where the hardware switches off or is damaged.
        var limit: Double?
        /// Where the kernel begins to slow the machine down.
        var passive: Double?

        /// nil for a sensor without a temperature to compare with.
        var state: Conditions.ThermalState? {
            guard limit != nil || passive != nil else { return nil }
            let margin = limit.map { $0 - celsius } ?? .infinity
            let toPassive = passive.map { $0 - celsius } ?? .infinity
            if margin <= margins.critical { return .critical }
            if margin <= margins.serious || toPassive <= 0 { return .serious }
            if margin <= margins.fair || toPassive <= passiveMargin {
                return .fair
            }
            return .nominal
        }

        /// Degrees to the nearest of its limits.
        var headroom: Double { min(limit ?? .infinity, passive ?? .infinity) - celsius }

        var note: String {
            let temperature = "\(name) \(Self.words(celsius)) °C"
            return (limit ?? passive).map { "\(temperature) of \(Self.words($0)) °C" } ?? temperature
        }

        private static func words(_ value: Double) -> String { "\(Int(value.rounded()))" }
    }

    func read() -> Reading<Conditions.ThermalState> {
        let sensors = zones() + monitors()
        let judged = sensors.compactMap { sensor in sensor.state.map { (sensor: sensor, state: $0) } }
        let worst = judged.max {
            ($0.state, -$0.sensor.headroom) < ($1.state, -$1.sensor.headroom)
        }
        if let worst {
            return .known(worst.state, source: worst.sensor.path, note: worst.sensor.note)
        }
        return sensors.isEmpty
            ? .unknown("no temperature sensor below /sys/class/thermal and /sys/class/hwmon")
            : .unknown("no temperature sensor tells its limit")
    }

    private func zones() -> [Sensor] {
        let folder = "/sys/class/thermal"
        let names = (try? root.names(in: folder)) ?? []
        return names.filter { $0.hasPrefix("thermal_zone") }.compactMap { name in
            let zone = "\(folder)/\(name)"
            guard let celsius = celsius("\(zone)/temp") else { return nil }
            let label = (try? root.line("\(zone)/type")) ?? name
            var sensor = Sensor(path: zone, name: String(label.prefix(32)), celsius: celsius)
            for file in (try? root.names(in: zone)) ?? [] where file.hasPrefix("trip_point_") && file.hasSuffix("_type")
            {
                let value = limit("\(zone)/\(file.dropLast(5))_temp")
                guard let value, let type = try? root.line("\(zone)/\(file)") else { continue }
                switch type {
                case "critical", "hot": sensor.limit = min(sensor.limit ?? value, value)
                case "passive": sensor.passive = min(sensor.passive ?? value, value)
                default: break
                }
            }
            return sensor
        }
    }

    private func monitors() -> [Sensor] {
        let folder = "/sys/class/hwmon"
        return ((try? root.names(in: folder)) ?? []).flatMap { name -> [Sensor] in
            let monitor = "\(folder)/\(name)"
            let files = (try? root.names(in: monitor)) ?? []
            return files.filter { $0.hasPrefix("temp") && $0.hasSuffix("_input") }.compactMap { file in
                let stem = "\(monitor)/\(file.dropLast(6))"
                guard let celsius = celsius("\(monitor)/\(file)") else { return nil }
                let chip = (try? root.line("\(monitor)/name")) ?? name
                let label = (try? root.line("\(stem)_label")).map { "\(chip) \($0)" } ?? chip
                // `max` is left out: what it means differs from chip to chip.
                return Sensor(
                    path: "\(monitor)/\(file)", name: String(label.prefix(32)), celsius: celsius,
                    limit: limit("\(stem)_crit"))
            }
        }
    }

    /// A temperature that silicon can have; drivers report impossible ones for sensors that are not connected.
    private func celsius(_ path: String) -> Double? {
        root.integer(path).flatMap { (-60_000...250_000).contains($0) ? Double($0) / 1000 : nil }
    }

    /// A limit that somebody has set; 0 and the like stand for none.
    private func limit(_ path: String) -> Double? {
        root.integer(path).flatMap { (30_000...200_000).contains($0) ? Double($0) / 1000 : nil }
    }
}
