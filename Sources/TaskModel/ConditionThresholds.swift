/// The default limits of every condition, in one place. The scheduling core decides by them, and whoever shows a
/// condition shows them.
package enum ConditionThresholds {
    /// Percent of charge below which background work stops, and from which on it may start again (rule 43).
    package static let batteryStop = 20.0
    package static let batteryResume = 30.0
    /// How long the battery must have been on one side before that counts.
    package static let batteryDwell: Duration = .seconds(60)

    /// From here on background work is paced (rule 45).
    package static let thermalPaced = Conditions.ThermalState.serious
    /// Share of its time that paced work may use.
    package static let thermalPacedShare = 0.5
    /// From here on background work is paused.
    package static let thermalPaused = Conditions.ThermalState.critical
    /// How long the machine must have been a full step cooler before that counts.
    package static let thermalSettle: Duration = .seconds(30)
    /// Degrees Celsius below a sensor's own limit at which the machine is fair, serious and critical.
    package static let thermalFairMargin = 20.0
    package static let thermalSeriousMargin = 10.0
    package static let thermalCriticalMargin = 3.0
    /// Degrees below the point where the kernel slows the machine down at which it is fair; at that point it is serious.
    package static let thermalPassiveMargin = 5.0

    /// Percent of the last ten seconds in which some task waited: background work starts below the first and is held
    /// above the second (rule 46).
    package static let cpuPressureStart = 40.0
    package static let cpuPressureHold = 60.0
    package static let ioPressureStart = 40.0
    package static let ioPressureHold = 60.0
    package static let memoryPressureStart = 10.0
    package static let memoryPressureHold = 20.0

    /// Bytes of available memory below which background work pauses, and from which on it goes on (rule 47).
    package static let memoryStop = 512 << 20
    package static let memoryResume = 768 << 20

    /// Bytes of room on an output volume below which work pauses, and from which on it goes on (rule 50).
    package static let volumeStop = 256 << 20
    package static let volumeResume = 512 << 20

    /// Percent of GPU time taken by others above which background GPU work is held, and below which it goes on (rule 40).
    package static let gpuHold = 50.0
    package static let gpuResume = 30.0

    /// How long nobody must have typed for the machine to count as idle, where only the age of input tells (rule 49).
    package static let userIdleAfter: Duration = .seconds(300)

    /// Least time between two starts that one condition causes (rule 53).
    package static let startSpacing: Duration = .seconds(60)
}
