package import TaskModel

/// What the host must do, in order, after it has let go of the scheduler.
package enum SchedulerAction: Hashable, Sendable {
    /// Call the launch handler, once.
    case launch(JobID, Launch)
    /// Ask the task to stop at its next commit point and to keep what it has; answer by `paused`.
    case pause(JobID, releasingMemory: Bool)
    /// Let a paused task go on, or take back a pause that it has not reached.
    case resume(JobID, RunTerms)
    /// From the next chunk on, run by these terms.
    case setTerms(JobID, RunTerms)
    /// Leave the device and go on with the CPU from the last committed chunk.
    case moveToCPU(JobID)
    /// Set the stop reason, then call the expiration handler; it must complete before the deadline.
    case expire(JobID, StopReason, deadline: Duration)
    /// The grace is over: kill its worker, or flag the host that runs it.
    case kill(JobID)
    /// This attempt is over and the request waits again.
    case requeue(JobID, notBefore: Duration)
    /// The request is over; comes once for each run of an entry.
    case end(JobID, TaskOutcome)
    /// Take the entry off the display.
    case dismiss(JobID)
    case note(JobID, Note)

    package struct Launch: Hashable, Sendable {
        package var request: TaskRequest
        /// 1 for the first.
        package var attempt: Int
        /// Identity of the device; nil for the CPU lane.
        package var device: String?
        package var terms: RunTerms
        package var isSimulated: Bool
    }

    package enum Note: Hashable, Sendable {
        /// Half of the allowed silence is over (rule 61).
        case stallWarning(silence: Duration, limit: Duration)
        case stalled(silence: Duration, limit: Duration)
        /// Ask whether to go on; answer by `answerSlow` (rule 63).
        case slow(share: Double)
        case progressFell(from: Double, to: Double)
        /// Asked to pause, it has not done so within the grace.
        case pauseIgnored
        /// Not started for so long (rule 58).
        case overdue(waited: Duration)
    }
}
