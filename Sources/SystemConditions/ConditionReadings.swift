package import TaskModel

/// Every condition as it was read.
package struct ConditionReadings: Equatable, Sendable {
    package var power: Reading<Conditions.PowerSource>
    package var batteryPercent: Reading<Double>
    package var lowPowerMode: Reading<Bool>
    package var thermal: Reading<Conditions.ThermalState>
    package var cpuPressure: Reading<Double>
    package var ioPressure: Reading<Double>
    package var memoryPressure: Reading<Double>
    package var availableMemoryBytes: Reading<Int>
    /// All there is of it; no condition by itself, but claims are compared with it.
    package var totalMemoryBytes: Int?
    package var freeDiskBytes: Reading<Int>
    package var network: Reading<Conditions.Network>
    package var userIdle: Reading<Bool>
    package var foreignGPULoad: Reading<Double>

    /// Nothing is known, for one reason.
    package init(unknown reason: String) {
        power = .unknown(reason)
        batteryPercent = .unknown(reason)
        lowPowerMode = .unknown(reason)
        thermal = .unknown(reason)
        cpuPressure = .unknown(reason)
        ioPressure = .unknown(reason)
        memoryPressure = .unknown(reason)
        availableMemoryBytes = .unknown(reason)
        freeDiskBytes = .unknown(reason)
        network = .unknown(reason)
        userIdle = .unknown(reason)
        foreignGPULoad = .unknown(reason)
    }

    /// The values alone.
    package var conditions: Conditions {
        Conditions(
            power: power.value, batteryPercent: batteryPercent.value, lowPowerMode: lowPowerMode.value,
            thermal: thermal.value, cpuPressure: cpuPressure.value, ioPressure: ioPressure.value,
            memoryPressure: memoryPressure.value, availableMemoryBytes: availableMemoryBytes.value,
            totalMemoryBytes: totalMemoryBytes, freeDiskBytes: freeDiskBytes.value, network: network.value,
            userIdle: userIdle.value,
            foreignGPULoad: foreignGPULoad.value)
    }
}
