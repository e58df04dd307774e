public import Foundation
import SchedulingCore
package import TaskModel

extension BGTaskScheduler {
    /// Kinds of background work that a manifest may name.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// Short, by and by.
        case refresh
        /// Long, when nobody is disturbed.
        case processing
        /// Started by a person, goes on in the background.
        case continued

        package init(_ kind: TaskKind) {
            switch kind {
            case .refresh: self = .refresh
            case .processing: self = .processing
            case .continued: self = .continued
            }
        }
    }

    /// What a manifest may allow beyond its modes.
    public struct Grants: OptionSet, Hashable, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Continued work may require the GPU.
        public static let gpu = Grants(rawValue: 1 << 0)
        /// Requests of the class ``BGHealthResearchTaskRequest`` are taken.
        public static let healthResearch = Grants(rawValue: 1 << 1)
    }

    /// Whether a person lets this program work in the background; do not ask again after a refusal (rule 98).
    public enum BackgroundStatus: String, Hashable, Sendable {
        case available
        /// A person switched it off.
        case denied
        /// Nobody here can switch it on.
        case restricted

        init(_ status: SchedulingCore.BackgroundStatus) {
            switch status {
            case .available: self = .available
            case .denied: self = .denied
            case .restricted: self = .restricted
            }
        }

        var value: SchedulingCore.BackgroundStatus {
            switch self {
            case .available: .available
            case .denied: .denied
            case .restricted: .restricted
            }
        }
    }

    /// How a request ended.
    public enum Outcome: Hashable, Sendable, CustomStringConvertible {
        /// It is done; so many of its items could not be done.
        case completed(failures: Int)
        /// It was asked to stop before it was done.
        case stopped(BGStopReason)
        /// It said itself that it did not succeed, or could not be started.
        case failed(code: String)
        /// It was taken back before it started.
        case cancelled

        package init(_ outcome: TaskOutcome) {
            switch outcome {
            case .completed(let failures): self = .completed(failures: failures)
            case .stopped(let reason): self = .stopped(BGStopReason(reason))
            case .failed(let code): self = .failed(code: code)
            case .cancelled: self = .cancelled
            }
        }

        public var description: String {
            switch self {
            case .completed(failures: 0): "completed"
            case .completed(let failures): "completed with \(failures) failures"
            case .stopped(let reason): "stopped: \(reason)"
            case .failed(let code): "failed: \(code)"
            case .cancelled: "cancelled"
            }
        }
    }

    /// How one submission stands (rule 30).
    public struct Job: Hashable, Sendable, Identifiable {
        public enum State: String, Hashable, Sendable {
            case waiting, running
            /// Asked to pause, and not yet at a point where it can.
            case pausing
            case paused
            /// Asked to stop; its grace is running.
            case expiring
            case ended

            init(_ state: JobSummary.State) {
                switch state {
                case .waiting: self = .waiting
                case .running: self = .running
                case .pausing: self = .pausing
                case .paused: self = .paused
                case .expiring: self = .expiring
                case .ended: self = .ended
                }
            }
        }

        /// Numbers submissions in their order.
        public let id: UInt64
        public let identifier: String
        public let mode: Mode
        public let title: String
        public let subtitle: String
        public let state: State
        public let initiator: BGTaskRequest.Initiator
        /// A person waits for it.
        public let isForeground: Bool
        /// Identity of the device it runs on; nil for the CPU.
        public let device: String?
        /// Runs so far, the present one included.
        public let attempt: Int
        /// 0 ... 1; nil as long as the total is not known.
        public let fractionCompleted: Double?
        /// As a range from recent rates; nil before there is a rate.
        public let secondsLeft: ClosedRange<Double>?
        public let submitted: Date
        public let started: Date?
        /// Of ended ones.
        public let outcome: Outcome?
        /// Of running ones.
        public let terms: BGRunTerms?

        init(_ summary: JobSummary, title: String, subtitle: String, wallOffset: Duration) {
            id = summary.id.rawValue
            identifier = summary.request.identifier.rawValue
            mode = Mode(summary.request.kind)
            self.title = title
            self.subtitle = subtitle
            state = State(summary.state)
            initiator = BGTaskRequest.Initiator(summary.request.initiator)
            isForeground = summary.isForeground
            device = summary.device
            attempt = summary.attempt
            fractionCompleted = summary.fraction
            secondsLeft = summary.secondsLeft
            submitted = Date(summary.submitted + wallOffset)
            started = summary.started.map { Date($0 + wallOffset) }
            outcome = summary.outcome.map(Outcome.init)
            terms = summary.terms.map(BGRunTerms.init)
        }
    }

    /// The answer to a request that was taken.
    public struct Submission: Hashable, Sendable {
        /// As in ``Job/id``.
        public let job: UInt64
        /// It runs already.
        public let isRunning: Bool
        /// Requests of its kind before it.
        public let position: Int
        /// What it waits for; empty when it runs.
        public let reasons: [BGWaitReason]
        /// What was noticed and let pass.
        public let warnings: [BGDiagnostic]
        /// The same submission had been made before, and nothing was done (rule 27).
        public let isRepeat: Bool

        init(_ admission: Scheduler.Admission, identifier: String, wallOffset: Duration) {
            job = admission.id.rawValue
            isRunning = admission.isRunning
            position = admission.position
            reasons = admission.reasons.map { BGWaitReason($0, wallOffset: wallOffset) }
            warnings = admission.warnings.map { BGDiagnostic($0, identifier: identifier) }
            isRepeat = admission.isRepeat
        }
    }

    /// What a submission would lead to now (rule 28).
    public struct Preview: Sendable {
        /// The answer it would get.
        public let answer: Result<Submission, BGTaskScheduler.Error>
        /// The terms it would run by.
        public let terms: BGRunTerms
        /// Identity of the device it would run on; nil for the CPU.
        public let device: String?
        /// Chunks of the expected work by those terms; nil when no work was stated.
        public let expectedChunks: Int?
        /// Seconds that the expected work would take by those terms, without the wait.
        public let secondsOfWork: ClosedRange<Double>?
        /// Earliest start; nil when that is not known.
        public let earliestStart: Date?
    }
}

extension Date {
    /// - Parameter wall: Time since 1970.
    init(_ wall: Duration) {
        self.init(timeIntervalSince1970: wall.seconds)
    }
}
