package import TaskModel

/// Which conditions are to be looked at by themselves, and how often: those that nothing reports, and only while they
/// could start or stop something (rule 54).
package struct ConditionSampling: Hashable, Sendable {
    /// Conditions of which no event tells that they changed, or not each time.
    package static let unreported = ConditionSet([
        .batteryLevel, .thermal, .pressure, .memory, .outputVolume, .idle, .gpuContention,
    ])
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
    package init(isRunning: Bool, awaited: ConditionSet) {
        if isRunning {
            self.init(interval: Self.whileRunning, kinds: Self.unreported)
        } else {
            let kinds = awaited.intersection(Self.unreported)
            self.init(interval: kinds.isEmpty ? nil : Self.whileWaiting, kinds: kinds)
        }
    }
}
