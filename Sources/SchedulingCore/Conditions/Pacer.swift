package import TaskModel

/// How much of the machine background work may take: grows by a step while the machine is calm, halves when it is
/// under pressure (rule 92).
package struct Pacer: Sendable {
    /// What holds the limit down.
    package enum Cause: String, Codable, Sendable {
        case cpuPressure, ioPressure, memoryPressure, thermal
        /// It was held down and grows again.
        case recovering
    }

    package static let minLimit = 0.05
    /// Growth for each second of calm.
    static let step = 0.05
    /// Least time between two cuts: pressure is an average over ten seconds and takes a while to follow.
    static let betweenCuts: Duration = .seconds(2)

    private let thresholds: ConditionThresholds
    /// Share of the machine, ``minLimit`` ... 1.
    package private(set) var limit = 1.0
    /// Why ``limit`` is below 1; nil when it is not.
    package private(set) var cause: Cause?
    private var lastCut: Duration?
    private var lastSeen: Duration

    package init(thresholds: ConditionThresholds = .standard, at now: Duration) {
        self.thresholds = thresholds
        lastSeen = now
    }

    package mutating func observe(_ conditions: Conditions, at now: Duration) {
        let calm = (now - lastSeen).inSeconds
        lastSeen = now
        if let pressure = pressure(in: conditions) {
            cause = pressure
            if let lastCut, now - lastCut < Self.betweenCuts { return }
            limit = max(limit / 2, Self.minLimit)
            lastCut = now
            return
        }
        // After a long silence nothing is known of the time between, so a sample grows it by one second's step at most.
        limit = min(limit + Self.step * min(calm, 1), 1)
        cause = limit < 1 ? .recovering : nil
        if (conditions.thermal ?? .nominal) >= .serious, limit > 0.5 {
            limit = 0.5
            cause = .thermal
        }
    }

    private func pressure(in conditions: Conditions) -> Cause? {
        if let value = conditions.memoryPressure, value > thresholds.memoryPressure.stop { return .memoryPressure }
        if let value = conditions.ioPressure, value > thresholds.ioPressure.stop { return .ioPressure }
        if let value = conditions.cpuPressure, value > thresholds.cpuPressure.stop { return .cpuPressure }
        return nil
    }
}
