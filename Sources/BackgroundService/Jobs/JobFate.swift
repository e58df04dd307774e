import Glibc
package import JobLink
package import ServiceAPI
package import TaskModel

/// What the end of a job's process means for the job.
package enum JobFate: Hashable, Sendable {
    case completed(failures: Int)
    /// It was asked to, and has committed what it had.
    case stopped
    /// It saw itself that it cannot go on now.
    case stoppedItself(StopReason)
    case failed(code: String, sentence: String?)
    /// Its process was lost; the work is not to blame for sure, and can be taken up again.
    case brokeOff(code: String, sentence: String)

    /// EX_TEMPFAIL of sysexits.h: it may be tried again later.
    static let tryAgain: Int32 = 75

    init(_ exit: JobProcess.Exit, work: JobSubmission.Work, isExpiring: Bool) {
        self.init(
            end: exit.end, signal: exit.signal, status: exit.exitStatus, work: work, isExpiring: isExpiring)
    }

    package init(end: JobEnd?, signal: Int32?, status: Int32, work: JobSubmission.Work, isExpiring: Bool) {
        if let end {
            switch end.outcome {
            case .completed(let failures): self = .completed(failures: failures)
            case .stopped(let reason): self = isExpiring ? .stopped : .stoppedItself(reason)
            case .failed(let code): self = .failed(code: code, sentence: nil)
            case .cancelled: self = .failed(code: "cancelled", sentence: nil)
            }
            return
        }
        if work == .command, signal == nil, status == 0 {
            self = .completed(failures: 0)
        } else if isExpiring {
            self = .stopped
        } else if let signal {
            let sentence = "Its process was ended by \(Self.name(signal))."
            // Nobody knows whether any command may be run twice; bgrun's own may.
            self =
                work == .bgrun
                ? .brokeOff(code: "workerKilled.\(signal)", sentence: sentence)
                : .failed(code: "signal.\(signal)", sentence: sentence)
        } else if work == .bgrun {
            self = .brokeOff(
                code: "workerExited.\(status)", sentence: "Its process ended with status \(status) without a word.")
        } else if status == Self.tryAgain {
            self = .stoppedItself(.quota)
        } else {
            self = .failed(code: "exit.\(status)", sentence: "It ended with status \(status).")
        }
    }

    private static func name(_ signal: Int32) -> String {
        switch signal {
        case SIGKILL: "SIGKILL: by somebody, or by the kernel for want of memory"
        case SIGSEGV: "SIGSEGV"
        case SIGABRT: "SIGABRT"
        case SIGBUS: "SIGBUS"
        case SIGILL: "SIGILL"
        case SIGTERM: "SIGTERM"
        default: "signal \(signal)"
        }
    }
}
