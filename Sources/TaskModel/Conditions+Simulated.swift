extension Conditions {
    /// Makes a condition hold, or no longer hold, by the value that decides about it (rule 99).
    ///
    /// - Parameters:
    ///   - condition: Hours are no part of what is measured: `allowedHours` changes nothing.
    ///   - isMet: Whether it is to hold.
    package mutating func set(_ condition: ConditionKind, isMet: Bool) {
        switch condition {
        case .externalPower: power = isMet ? .external : .battery
        case .batteryLevel: batteryPercent = isMet ? 100 : 5
        case .lowPowerMode: lowPowerMode = !isMet
        case .thermal: thermal = isMet ? .nominal : .critical
        case .pressure:
            cpuPressure = isMet ? 0 : 100
            if isMet { (ioPressure, memoryPressure) = (0, 0) }
        case .memory: availableMemoryBytes = isMet ? 16 << 30 : 0
        case .outputVolume: freeDiskBytes = isMet ? 500 << 30 : 0
        case .network: network = isMet ? .unmetered : Conditions.Network.none
        case .idle: userIdle = isMet
        case .gpuContention: foreignGPULoad = isMet ? 0 : 100
        case .allowedHours: break
        }
    }
}
