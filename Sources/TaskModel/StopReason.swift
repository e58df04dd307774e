/// Why running work was asked to stop (rule 69).
package enum StopReason: RawRepresentable, CaseIterable, Hashable, Codable, Sendable {
    case userStop, stalled, slowDeclined, timeBudget, preempted, memoryPressure, deviceLost, shutdown, sleep
    case hostRemoved, replaced, quota, simulated
    /// A condition that the work needs no longer holds.
    case conditionLost(ConditionKind)

    package static let allCases: [StopReason] =
        [
            .userStop, .stalled, .slowDeclined, .timeBudget, .preempted, .memoryPressure, .deviceLost, .shutdown,
            .sleep,
            .hostRemoved, .replaced, .quota, .simulated,
        ] + ConditionKind.allCases.map(StopReason.conditionLost)

    package init?(rawValue: String) {
        guard let reason = Self.allCases.first(where: { $0.code == rawValue }) else { return nil }
        self = reason
    }

    package var rawValue: String { code }

    /// Stable machine code, e.g. `userStop` or `conditionLost.outputVolume`.
    package var code: String {
        switch self {
        case .userStop: "userStop"
        case .stalled: "stalled"
        case .slowDeclined: "slowDeclined"
        case .timeBudget: "timeBudget"
        case .preempted: "preempted"
        case .memoryPressure: "memoryPressure"
        case .deviceLost: "deviceLost"
        case .shutdown: "shutdown"
        case .sleep: "sleep"
        case .hostRemoved: "hostRemoved"
        case .replaced: "replaced"
        case .quota: "quota"
        case .simulated: "simulated"
        case .conditionLost(let condition): "conditionLost.\(condition.rawValue)"
        }
    }
}

/// How a task ended.
package enum TaskOutcome: Hashable, Codable, Sendable {
    /// Every item has its result; `failures` of them could not be done (rule 68).
    case completed(failures: Int)
    /// Some items have no result; a later run goes on with them.
    case stopped(StopReason)
    /// It said itself that it did not succeed, or could not be started.
    case failed(code: String)
    /// It was taken back before it started.
    case cancelled

    /// Stable machine code.
    package var code: String {
        switch self {
        case .completed(failures: 0): "completed"
        case .completed: "completedWithFailures"
        case .stopped(let reason): "stopped.\(reason.code)"
        case .failed(let code): "failed.\(code)"
        case .cancelled: "cancelled"
        }
    }
}
