/// One thing that keeps a request from starting now, or running work paused (rule 95).
package struct WaitReason: Hashable, Codable, Sendable {
    /// Stable machine code.
    package enum Code: Hashable, Codable, Sendable {
        /// A condition of the machine does not hold.
        case condition(ConditionKind)
        /// Its earliest begin date has not come.
        case earliestBeginDate
        /// Refreshes of its program are spaced out (rule 57).
        case refreshInterval
        /// Every slot that it could take is held.
        case noRoom
        /// There is room, but it would take memory that is not free.
        case memoryClaim
        /// Something that has waited longer is to have the next room.
        case behindOthers
        case backgroundSwitchedOff
        /// Its program is not there to run it.
        case hostAbsent
        /// It waits before trying again after a failure of its device.
        case backoff
        case deviceQuarantined
        case devicePaused
        /// It was paused by a person.
        case pausedByPerson
        /// Foreground work has its room.
        case preempted
        /// The machine is about to sleep or to shut down (rule 78).
        case machineLeaves

        package var text: String {
            switch self {
            case .condition(let kind): "condition.\(kind.rawValue)"
            case .earliestBeginDate: "earliestBeginDate"
            case .refreshInterval: "refreshInterval"
            case .noRoom: "noRoom"
            case .memoryClaim: "memoryClaim"
            case .behindOthers: "behindOthers"
            case .backgroundSwitchedOff: "backgroundSwitchedOff"
            case .hostAbsent: "hostAbsent"
            case .backoff: "backoff"
            case .deviceQuarantined: "deviceQuarantined"
            case .devicePaused: "devicePaused"
            case .pausedByPerson: "pausedByPerson"
            case .preempted: "preempted"
            case .machineLeaves: "machineLeaves"
            }
        }
    }

    package var code: Code
    /// What holds it up, one sentence.
    package var sentence: String
    /// What would help, one sentence.
    package var fix: String
    /// As it was measured, with its unit; nil when nothing is measured.
    package var measured: String?
    /// What it is compared with, with its unit.
    package var threshold: String?
    /// Identifiers of the tasks that hold what is missing.
    package var holders: [TaskIdentifier]
    /// Earliest moment at which this reason can end by itself, on the scheduler's clock; nil when that is not known.
    package var earliest: Duration?

    package init(
        code: Code, sentence: String, fix: String, measured: String? = nil, threshold: String? = nil,
        holders: [TaskIdentifier] = [], earliest: Duration? = nil
    ) {
        self.code = code
        self.sentence = sentence
        self.fix = fix
        self.measured = measured
        self.threshold = threshold
        self.holders = holders
        self.earliest = earliest
    }
}
