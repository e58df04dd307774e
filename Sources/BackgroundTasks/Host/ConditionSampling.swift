package import TaskModel

/// Which conditions are to be looked at by themselves, and how often: those that nothing reports, and only while they
/// could start or stop something (rule 54).
package struct ConditionSampling: Hashable, Sendable {
    /// Conditions of which no event tells that they changed, or not each time, as of the person's switch for low power.
    package static let unreported = ConditionSet([
        .batteryLevel, .lowPowerMode, .thermal, .pressure, .memory, .outputVolume, .idle, .gpuContention,
    ])
    /// Conditions of which events tell, where the machine lets this process hear them.
    private static let mostlyReported = ConditionSet([.externalPower, .network])
    static let whileRunning: Duration = .seconds(10)
    static let whileWaiting: Duration = .seconds(60)

    /// nil looks at nothing.
    package var interval: Duration?
    package var kinds: ConditionSet

    /// Nothing is looked at.
    package static let none = ConditionSampling(interval: nil, kinds: [])

    init(interval: Duration?, kinds: ConditionSet) {
        self.interval = interval
        self.kinds = kinds
    }

    /// - Parameters:
    ///   - isRunning: Work runs, which may have to stop.
    ///   - awaited: Conditions that do not hold and that something waits for.
    ///   - eventDriven: Conditions of which events tell here.
    package init(isRunning: Bool, awaited: ConditionSet, eventDriven: ConditionSet) {
        let unreported = Self.unreported.union(Self.mostlyReported.subtracting(eventDriven))
        if isRunning {
            self.init(interval: Self.whileRunning, kinds: unreported)
        } else {
            let kinds = awaited.intersection(unreported)
            self.init(interval: kinds.isEmpty ? nil : Self.whileWaiting, kinds: kinds)
        }
    }
}
