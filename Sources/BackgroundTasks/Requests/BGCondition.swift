package import TaskModel

/// A condition of the machine that work can wait for.
public enum BGCondition: String, Hashable, Sendable, CaseIterable {
    case externalPower, batteryLevel, lowPowerMode, thermal, pressure, memory, outputVolume, network, idle
    /// Outside quiet hours, and inside the cheap hours of the price file.
    case allowedHours
    /// Others use the GPU.
    case gpuContention

    package init(_ kind: ConditionKind) {
        switch kind {
        case .externalPower: self = .externalPower
        case .batteryLevel: self = .batteryLevel
        case .lowPowerMode: self = .lowPowerMode
        case .thermal: self = .thermal
        case .pressure: self = .pressure
        case .memory: self = .memory
        case .outputVolume: self = .outputVolume
        case .network: self = .network
        case .idle: self = .idle
        case .allowedHours: self = .allowedHours
        case .gpuContention: self = .gpuContention
        }
    }

    package var kind: ConditionKind {
        switch self {
        case .externalPower: .externalPower
        case .batteryLevel: .batteryLevel
        case .lowPowerMode: .lowPowerMode
        case .thermal: .thermal
        case .pressure: .pressure
        case .memory: .memory
        case .outputVolume: .outputVolume
        case .network: .network
        case .idle: .idle
        case .allowedHours: .allowedHours
        case .gpuContention: .gpuContention
        }
    }
}
