package import TaskModel

/// What a condition that does not hold is called, with its measured value and what that is compared with.
package struct ConditionWords: Hashable, Sendable {
    package var sentence: String
    package var fix: String
    package var measured: String?
    package var threshold: String?

    package init(_ kind: ConditionKind, _ now: Conditions, _ thresholds: ConditionThresholds) {
        switch kind {
        case .externalPower:
            sentence = "The machine is not on external power."
            fix = "Plug it in."
            measured = now.power.map(\.rawValue)
            threshold = "external"
        case .batteryLevel:
            sentence = "The battery is low."
            fix = "Charge it."
            measured = now.batteryPercent.map(Self.percent)
            threshold = Self.percent(thresholds.battery.resume)
        case .lowPowerMode:
            sentence = "Low-power mode is on."
            fix = "Switch it off."
            measured = now.lowPowerMode.map { $0 ? "on" : "off" }
            threshold = "off"
        case .thermal:
            sentence = "The machine is too hot for background work."
            fix = "Let it cool down."
            measured = now.thermal.map { "\($0)" }
            threshold = "below critical"
        case .pressure:
            sentence = "The machine is busy."
            fix = "Wait until other programs have less to do."
            measured = Self.pressures(now)
            threshold =
                "cpu \(Self.percent(thresholds.cpuPressure.resume)), io "
                + "\(Self.percent(thresholds.ioPressure.resume)), memory \(Self.percent(thresholds.memoryPressure.resume))"
        case .memory:
            sentence = "Memory is short."
            fix = "Close what takes memory."
            measured = now.availableMemoryBytes.map(Bytes.text)
            threshold = Bytes.text(Int(thresholds.memory.resume))
        case .outputVolume:
            sentence = "The volume of the outputs is nearly full."
            fix = "Free some space on it."
            measured = now.freeDiskBytes.map(Bytes.text)
            threshold = Bytes.text(Int(thresholds.outputVolume.resume))
        case .network:
            sentence = "There is no network."
            fix = "Connect the machine to a network."
            measured = now.network.map(\.rawValue)
            threshold = "a default route"
        case .idle:
            sentence = "Someone is using the machine."
            fix = "Leave it alone for a while, or do not require an idle machine."
            measured = now.userIdle.map { $0 ? "idle" : "in use" }
            threshold = "idle"
        case .allowedHours:
            sentence = "Background work is not allowed at this hour."
            fix = "Wait for the allowed hours, or change them."
            measured = nil
            threshold = "outside quiet hours, at a low price"
        case .gpuContention:
            sentence = "Others are using the GPU."
            fix = "Wait until they have less to do on it."
            measured = now.foreignGPULoad.map(Self.percent)
            threshold = Self.percent(thresholds.gpuContention.resume)
        }
        if measured == nil, kind != .allowedHours {
            sentence = "It asks for a condition (\(kind.rawValue)) that cannot be read on this machine."
            fix = "Do not require it to be known."
            measured = "unknown"
        }
    }

    private static func percent(_ value: Double) -> String { "\(Int(value.rounded())) %" }

    private static func pressures(_ now: Conditions) -> String? {
        let named = [("cpu", now.cpuPressure), ("io", now.ioPressure), ("memory", now.memoryPressure)]
        let known = named.compactMap { name, value in value.map { "\(name) \(percent($0))" } }
        return known.isEmpty ? nil : known.joined(separator: ", ")
    }
}

/// Byte counts for people.
package enum Bytes {
    /// In binary units with one decimal, e.g. "1.5 GiB".
    package static func text(_ bytes: Int) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
        var value = Double(bytes)
        var unit = 0
        while value >= 1_024, unit + 1 < units.count {
            value /= 1_024
            unit += 1
        }
        let tenths = Int((value * 10).rounded())
        return unit == 0 ? "\(bytes) B" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}
