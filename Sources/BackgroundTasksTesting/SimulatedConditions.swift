public import BackgroundTasks
package import TaskModel

/// Conditions of a machine that a test makes up; nil is what cannot be read.
public struct SimulatedConditions: Hashable, Sendable {
    public enum Power: String, Hashable, Sendable {
        case external, battery
    }

    public enum Thermal: String, Hashable, Sendable {
        case nominal, fair, serious, critical
    }

    public enum Network: String, Hashable, Sendable {
        case none, metered, unmetered
        /// A default route of which it is not known whether it is metered.
        case routed
    }

    public var power: Power?
    /// 0 ... 100.
    public var batteryPercent: Double?
    public var isLowPowerMode: Bool?
    public var thermal: Thermal?
    /// Share of the last ten seconds in which some task waited for the processor, 0 ... 100.
    public var cpuPressure: Double?
    /// The same for input and output.
    public var ioPressure: Double?
    /// The same for memory.
    public var memoryPressure: Double?
    public var availableMemoryBytes: Int?
    public var freeDiskBytes: Int?
    public var network: Network?
    /// Nobody has used the machine lately.
    public var isIdle: Bool?
    /// Share of GPU time that others take, 0 ... 100.
    public var foreignGPULoad: Double?

    /// Nothing can be read.
    public init() {}

    /// A machine on external power that is idle, cool and connected.
    public static let calm: Self = {
        var conditions = Self()
        conditions.power = .external
        conditions.isLowPowerMode = false
        conditions.thermal = .nominal
        conditions.cpuPressure = 0
        conditions.ioPressure = 0
        conditions.memoryPressure = 0
        conditions.availableMemoryBytes = 16 << 30
        conditions.freeDiskBytes = 500 << 30
        conditions.network = .unmetered
        conditions.isIdle = true
        return conditions
    }()

    /// Makes a condition hold, or no longer hold, by the value that decides about it.
    ///
    /// The level of a battery counts only without external power. A battery has to be charged for 60 s, and a cool machine
    /// to stay so for 30 s, before work starts again.
    ///
    /// - Parameters:
    ///   - condition: Hours are no part of what is measured: `.allowedHours` changes nothing.
    ///   - isMet: Whether it is to hold.
    public mutating func set(_ condition: BGCondition, isMet: Bool) {
        var value = value
        value.set(condition.kind, isMet: isMet)
        self = Self(value)
    }

    package init(_ value: Conditions) {
        power = value.power.map { $0 == .external ? .external : .battery }
        batteryPercent = value.batteryPercent
        isLowPowerMode = value.lowPowerMode
        thermal = value.thermal.map { thermal in
            switch thermal {
            case .nominal: .nominal
            case .fair: .fair
            case .serious: .serious
            case .critical: .critical
            }
        }
        cpuPressure = value.cpuPressure
        ioPressure = value.ioPressure
        memoryPressure = value.memoryPressure
        availableMemoryBytes = value.availableMemoryBytes
        freeDiskBytes = value.freeDiskBytes
        network = value.network.map { network in
            switch network {
            case .none: .none
            case .metered: .metered
            case .unmetered: .unmetered
            case .routed: .routed
            }
        }
        isIdle = value.userIdle
        foreignGPULoad = value.foreignGPULoad
    }

    package var value: Conditions {
        Conditions(
            power: power.map { $0 == .external ? .external : .battery }, batteryPercent: batteryPercent,
            lowPowerMode: isLowPowerMode, thermal: thermal.map(Conditions.ThermalState.init),
            cpuPressure: cpuPressure, ioPressure: ioPressure, memoryPressure: memoryPressure,
            availableMemoryBytes: availableMemoryBytes, freeDiskBytes: freeDiskBytes,
            network: network.map(Conditions.Network.init), userIdle: isIdle, foreignGPULoad: foreignGPULoad)
    }
}

extension Conditions.ThermalState {
    fileprivate init(_ thermal: SimulatedConditions.Thermal) {
        switch thermal {
        case .nominal: self = .nominal
        case .fair: self = .fair
        case .serious: self = .serious
        case .critical: self = .critical
        }
    }
}

extension Conditions.Network {
    fileprivate init(_ network: SimulatedConditions.Network) {
        switch network {
        case .none: self = .none
        case .metered: self = .metered
        case .unmetered: self = .unmetered
        case .routed: self = .routed
        }
    }
}
