package import TaskModel

/// How much of the machine background work may take, all of it together: grows with the time that the machine is calm,
/// halves when it is under pressure (rule 92).
///
/// Our own work is among what presses, so the limit has to find its place instead of falling to its floor: between
/// the levels at which conditions stop and resume work it stays, and while the pressure falls the last cut has not
/// shown all of its effect and no other follows.
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
    /// Pressure is an average over so long: a calm reading vouches for so much of the time before it, and falling
    /// pressure holds cuts off for so long.
    static let window: Duration = .seconds(10)
    /// Least time between two cuts: the average takes a while to follow.
    static let betweenCuts: Duration = .seconds(2)

    private let thresholds: ConditionThresholds
    /// Share of the machine, ``minLimit`` ... 1.
    package private(set) var limit = 1.0
    /// Why ``limit`` is below 1; nil when it is not.
    package private(set) var cause: Cause?
    private var lastCut: Duration?
    private var lastSeen: Duration
    private var lastExcess = 0.0

    /// A pressure, and where it is in its band.
    private struct Pressure {
        var cause: Cause
        /// Above 1 it is too high.
        var excess: Double
        /// Above the level at which work resumes.
        var isFelt: Bool
    }

    package init(thresholds: ConditionThresholds = .standard, at now: Duration) {
        self.thresholds = thresholds
        lastSeen = now
    }

    package mutating func observe(_ conditions: Conditions, at now: Duration) {
        let elapsed = now - lastSeen
        lastSeen = now
        let worst = pressures(in: conditions).max { $0.excess < $1.excess }
        defer { lastExcess = worst?.excess ?? 0 }
        if let worst, worst.excess > 1 {
            cause = worst.cause
            if mayCut(worst, at: now) {
                limit = max(limit / 2, Self.minLimit)
                lastCut = now
            }
        } else if let felt = pressures(in: conditions).first(where: \.isFelt) {
            cause = limit < 1 ? felt.cause : nil
        } else {
            limit = min(limit + Self.step * min(elapsed, Self.window).inSeconds, 1)
            cause = limit < 1 ? .recovering : nil
        }
        if (conditions.thermal ?? .nominal) >= .serious, limit > 0.5 {
            limit = 0.5
            cause = .thermal
        }
    }

    private func mayCut(_ pressure: Pressure, at now: Duration) -> Bool {
        guard let lastCut else { return true }
        let isFalling = pressure.excess < lastExcess
        return now - lastCut >= (isFalling ? Self.window : Self.betweenCuts)
    }

    private func pressures(in conditions: Conditions) -> [Pressure] {
        [
            (Cause.memoryPressure, conditions.memoryPressure, thresholds.memoryPressure),
            (.ioPressure, conditions.ioPressure, thresholds.ioPressure),
            (.cpuPressure, conditions.cpuPressure, thresholds.cpuPressure),
        ].compactMap { cause, value, band in
            value.map { Pressure(cause: cause, excess: $0 / band.stop, isFelt: $0 > band.resume) }
        }
    }
}
