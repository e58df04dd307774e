/// Where each condition stops and starts background work: the numbers of rules 40 to 53, in one place.
package struct ConditionThresholds: Hashable, Codable, Sendable {
    /// A measured value that stops work on one side of a band and lets it start on the other.
    package struct Band: Hashable, Codable, Sendable {
        package var stop: Double
        package var resume: Double

        package init(stop: Double, resume: Double) {
            self.stop = stop
            self.resume = resume
        }
    }

    /// Per cent of charge.
    package var battery = Band(stop: 20, resume: 30)
    /// Per cent of the last ten seconds.
    package var cpuPressure = Band(stop: 60, resume: 40)
    package var ioPressure = Band(stop: 60, resume: 40)
    package var memoryPressure = Band(stop: 20, resume: 10)
    /// Bytes available.
    package var memory = Band(stop: 512 * 1_048_576, resume: 768 * 1_048_576)
    /// Bytes free.
    package var outputVolume = Band(stop: 256 * 1_048_576, resume: 512 * 1_048_576)
    /// Per cent of GPU time that others take.
    package var gpuContention = Band(stop: 50, resume: 30)
    /// How long a battery must be above its band before work starts again.
    package var batteryDwell: Duration = .seconds(60)
    /// How long a critical temperature must be over before work starts again.
    package var thermalDwell: Duration = .seconds(30)
    /// Least time between two starts that one condition allows (rule 53).
    package var minBetweenStarts: Duration = .seconds(60)

    package init() {}

    package static let standard = ConditionThresholds()
}
