/// What the machine is like at one moment, as far as it can be read; nil where it cannot (rule 41).
package struct Conditions: Hashable, Codable, Sendable {
    /// Where the machine gets its power from. A machine without a battery is on external power (rule 42).
    package enum PowerSource: String, Codable, Sendable {
        case external, battery
    }

    /// The four steps of thermal state, worst zone first (rule 45).
    package enum ThermalState: Int, Comparable, Codable, Sendable, CaseIterable {
        case nominal, fair, serious, critical

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// Whether a usable default route exists, and whether it costs money (rule 48).
    package enum Network: String, Codable, Sendable {
        case none, metered
        /// A default route that is known to be free.
        case unmetered
        /// A default route of which it is not known whether it is metered.
        case routed
    }

    package var power: PowerSource?
    /// 0 ... 100; nil also where there is no battery.
    package var batteryPercent: Double?
    package var lowPowerMode: Bool?
    package var thermal: ThermalState?
    /// Share of the last ten seconds in which some task waited for the processor, 0 ... 100.
    package var cpuPressure: Double?
    package var ioPressure: Double?
    package var memoryPressure: Double?
    /// Memory that can be given out without swapping, the tightest control group included.
    package var availableMemoryBytes: Int?
    /// All there is, or as much as the tightest control group allows.
    package var totalMemoryBytes: Int?
    /// Free space of the fullest volume that outputs are written to.
    package var freeDiskBytes: Int?
    package var network: Network?
    /// Nobody has used the keyboard, mouse or screen lately; a machine without any counts as idle (rule 49).
    package var userIdle: Bool?
    /// Share of GPU time that others take, 0 ... 100.
    package var foreignGPULoad: Double?

    package init(
        power: PowerSource? = nil, batteryPercent: Double? = nil, lowPowerMode: Bool? = nil,
        thermal: ThermalState? = nil, cpuPressure: Double? = nil, ioPressure: Double? = nil,
        memoryPressure: Double? = nil, availableMemoryBytes: Int? = nil, totalMemoryBytes: Int? = nil,
        freeDiskBytes: Int? = nil,
        network: Network? = nil, userIdle: Bool? = nil, foreignGPULoad: Double? = nil
    ) {
        self.power = power
        self.batteryPercent = batteryPercent
        self.lowPowerMode = lowPowerMode
        self.thermal = thermal
        self.cpuPressure = cpuPressure
        self.ioPressure = ioPressure
        self.memoryPressure = memoryPressure
        self.availableMemoryBytes = availableMemoryBytes
        self.totalMemoryBytes = totalMemoryBytes
        self.freeDiskBytes = freeDiskBytes
        self.network = network
        self.userIdle = userIdle
        self.foreignGPULoad = foreignGPULoad
    }
}

/// One condition of the machine that work can wait for.
package enum ConditionKind: String, Codable, Sendable, CaseIterable {
    case externalPower, batteryLevel, lowPowerMode, thermal, pressure, memory, outputVolume, network, idle
    /// Outside quiet hours, and inside the cheap hours of the price file (rule 51).
    case allowedHours
    case gpuContention

    /// The rule in the behaviour document that defines it.
    package var rule: Int {
        switch self {
        case .externalPower: 42
        case .batteryLevel: 43
        case .lowPowerMode: 44
        case .thermal: 45
        case .pressure: 46
        case .memory: 47
        case .network: 48
        case .idle: 49
        case .outputVolume: 50
        case .allowedHours: 51
        case .gpuContention: 40
        }
    }
}

/// A set of conditions.
package struct ConditionSet: OptionSet, Hashable, Codable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package init(_ kind: ConditionKind) {
        rawValue = 1 << UInt16(ConditionKind.allCases.firstIndex(of: kind) ?? 0)
    }

    package init(_ kinds: [ConditionKind]) {
        self = kinds.reduce(into: []) { $0.formUnion(ConditionSet($1)) }
    }

    package var kinds: [ConditionKind] { ConditionKind.allCases.filter { contains(ConditionSet($0)) } }
}
