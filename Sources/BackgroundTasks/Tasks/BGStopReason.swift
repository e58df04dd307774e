package import TaskModel

/// Why a task was asked to stop; set before its expiration handler runs (rule 69).
public enum BGStopReason: Hashable, Sendable, CustomStringConvertible {
    /// A person stopped it.
    case userStop
    /// It showed no progress for longer than its limit.
    case stalled
    /// It had become slow, and a person declined to go on.
    case slowDeclined
    /// The time that its kind of work gets is over.
    case timeBudget
    /// More important work takes its room.
    case preempted
    case memoryPressure, deviceLost, shutdown, sleep
    /// Its program is gone.
    case hostRemoved
    /// The same identifier was submitted again.
    case replaced
    case quota
    /// A test asked for it.
    case simulated
    /// A condition that it needs no longer holds.
    case conditionLost(BGCondition)

    package init(_ reason: StopReason) {
        switch reason {
        case .userStop: self = .userStop
        case .stalled: self = .stalled
        case .slowDeclined: self = .slowDeclined
        case .timeBudget: self = .timeBudget
        case .preempted: self = .preempted
        case .memoryPressure: self = .memoryPressure
        case .deviceLost: self = .deviceLost
        case .shutdown: self = .shutdown
        case .sleep: self = .sleep
        case .hostRemoved: self = .hostRemoved
        case .replaced: self = .replaced
        case .quota: self = .quota
        case .simulated: self = .simulated
        case .conditionLost(let condition): self = .conditionLost(BGCondition(condition))
        }
    }

    package var value: StopReason {
        switch self {
        case .userStop: .userStop
        case .stalled: .stalled
        case .slowDeclined: .slowDeclined
        case .timeBudget: .timeBudget
        case .preempted: .preempted
        case .memoryPressure: .memoryPressure
        case .deviceLost: .deviceLost
        case .shutdown: .shutdown
        case .sleep: .sleep
        case .hostRemoved: .hostRemoved
        case .replaced: .replaced
        case .quota: .quota
        case .simulated: .simulated
        case .conditionLost(let condition): .conditionLost(condition.kind)
        }
    }

    /// Stable machine code, e.g. `userStop` or `conditionLost.network`.
    public var code: String { value.code }
    public var description: String { code }
}
