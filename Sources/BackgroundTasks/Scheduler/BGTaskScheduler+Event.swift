public import Foundation

extension BGTaskScheduler {
    /// Something that happened to a request or to its program (rule 96).
    public struct Event: Sendable {
        public enum Kind: Sendable {
            case submitted(Submission)
            case rejected(BGTaskScheduler.Error)
            case started(attempt: Int, terms: BGRunTerms)
            /// 0 ... 1; nil as long as the total is not known.
            case progressed(fraction: Double?)
            case titleChanged(title: String, subtitle: String)
            case termsChanged(BGRunTerms)
            /// It was asked to pause.
            case pausing
            case paused
            case resumed
            /// Its device is gone, and it goes on with the CPU.
            case movedToCPU
            /// Half of the allowed silence is over.
            case stallWarning(silence: Duration, limit: Duration)
            case stalled(silence: Duration, limit: Duration)
            /// It runs at this share of its own earlier rate; answer by ``answerSlow(taskWithIdentifier:goOn:)``.
            case slow(share: Double)
            case progressFell(from: Double, to: Double)
            /// Asked to pause, it has not done so within the grace.
            case pauseIgnored
            /// Not started for so long.
            case overdue(waited: Duration)
            /// It was asked to stop.
            case expired(BGStopReason)
            /// It was asked to stop and did not end in time.
            case graceExceeded
            /// This run is over, and it waits for another one.
            case waitsAgain(notBefore: Date)
            case ended(Outcome)
            /// Its entry left the list.
            case dismissed
            case diagnostic(BGDiagnostic)
        }

        public let date: Date
        /// As in ``Job/id``; nil for what belongs to no submission.
        public let job: UInt64?
        public let identifier: String?
        public let kind: Kind
    }
}
