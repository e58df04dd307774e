package import TaskModel

/// A request that waits. Leaves by launch, cancellation, replacement or stop.
struct WaitingEntry: Sendable {
    /// Where it waits; it is in one place at a time.
    enum Place: Hashable, Sendable {
        /// Due; waits for its conditions and for room.
        case line(WaitingLines.Needs)
        /// For its earliest begin date, on the wall clock.
        case floor
        case delayed(WaitReason.Code, until: Duration)
        /// Its program may not run it now, or runs the one before it.
        case parked(WaitReason.Code)
    }

    let id: JobID
    let program: String
    var request: TaskRequest
    var submitted: Duration
    /// When its present wait began to count for its turn.
    var since: Duration
    var place: Place
    var placedAt: Duration
    /// Time in the places before.
    var waits = WaitTimes()
    /// Entries in agendas that carry another stamp are dead.
    var stamp: UInt32
    var isForeground: Bool
    /// Runs so far.
    var attempts = 0
    /// Runs of these that were lost with their device or process; those that ended with their host do not count (rule 37).
    var losses = 0
    /// End of its backoff, wherever it waits meanwhile.
    var backoffEnds: Duration?
    /// Since when it is due and only room is missing, as far as was seen, in ``Scheduler/awakeTime``.
    var roomlessSince: Duration?
    /// In the foreground, it has waited for the end or a pause of background work once, or the machine's leaving has
    /// cut its turn short.
    var waitedForBackground = false
    var wasOverdue = false
    /// A person paused it.
    var isPaused = false
}

/// A launched task. Leaves by completion, by the end of its grace, or back to waiting.
struct RunningEntry: Sendable {
    let id: JobID
    let program: String
    var request: TaskRequest
    var submitted: Duration
    var started: Duration
    var attempt: Int
    var losses: Int
    var device: String?
    var isForeground: Bool
    var isSimulated: Bool
    var machine = TaskMachine()
    var watch: ProgressWatch
    var terms: RunTerms
    var stamp: UInt32 = 0
    /// The reading of memory after which it claimed its own; -1 when it holds none.
    var claimedAfter = -1
    /// Its pause gives back what it holds.
    var releasesMemory = false
    /// Foreground work may not preempt it before; set when it goes on after having been preempted.
    var protectedUntil: Duration?
    var wasPreempted = false
    var budgetEnds: Duration?
    var warnedAt: Duration?
    var notedIgnoredPause = false
    var slowAnswerEnds: Duration?
    var lastFlip: Duration?
    /// A demotion that is held back until then.
    var demotesAt: Duration?
    var fetchResult: RefreshBudget.Result?
    /// It was stopped because the machine leaves, and waits for another run when it has stopped.
    var goesOnAfterwards = false
    var pausedSince: Duration?
    /// Since when it could go on and only room is missing, as far as was seen, in ``Scheduler/awakeTime``.
    var roomlessSince: Duration?
    var waitedForBackground = false

    var takesSlot: Bool { machine.phase != .paused }

    var isActive: Bool { machine.phase == .active }

    /// When something has to be looked at if nothing happens.
    func nextDeadline(grace: Duration) -> Duration? {
        switch machine.phase {
        case .expiring(_, let deadline): return deadline
        case .ended: return nil
        case .pausing(let since):
            let ignored = notedIgnoredPause ? nil : since + grace
            return [ignored, budgetEnds, demotesAt, stallDeadline].compactMap(\.self).min()
        case .paused: return [budgetEnds, demotesAt].compactMap(\.self).min()
        case .active:
            return [budgetEnds, demotesAt, slowAnswerEnds, protectedUntil, stallDeadline].compactMap(\.self).min()
        }
    }

    /// A task that was asked to pause and hangs is silent too.
    private var stallDeadline: Duration? {
        guard request.kind == .continued, let stall = watch.stallTimes(isForeground: isForeground) else { return nil }
        return warnedAt == nil ? stall.warning : stall.limit
    }
}

/// A request that is over, kept for a person to see.
package struct EndedEntry: Hashable, Sendable {
    package let id: JobID
    package let program: String
    package var request: TaskRequest
    package var outcome: TaskOutcome
    package var submitted: Duration
    package var ended: Duration
    /// Its work may be taken up again where it stopped.
    package var isResumable: Bool
    /// nil stays until a person dismisses it.
    package var dismissAt: Duration?
}

/// What the scheduler knows of one program.
struct ProgramEntry: Sendable {
    var manifest: ProgramManifest
    /// False while only requests or a switch of an earlier host are known of it; it may submit nothing then.
    var isAnnounced = true
    /// nil for programs whose work is started by the host, which need no handlers.
    var handlers: HandlerTable?
    var isPresent = true
    var backgroundSwitch: BackgroundStatus = .available
    var refresh: RefreshBudget
    var waiting: [TaskIdentifier: JobID] = [:]
    var running: [TaskIdentifier: JobID] = [:]
    var waitingCount: [TaskKind: Int] = [:]
    /// Submissions by their client's key.
    var requestKeys: [String: JobID] = [:]

}

/// Whether a person lets a program work in the background (rule 98).
package enum BackgroundStatus: String, Codable, Sendable {
    case available, denied, restricted
}

/// How a request stands, for lists.
package struct JobSummary: Hashable, Sendable {
    package enum State: String, Codable, Sendable {
        case waiting, running, pausing, paused, expiring, ended
    }

    package var id: JobID
    package var program: String
    package var request: TaskRequest
    package var state: State
    package var isForeground: Bool
    package var device: String?
    package var attempt: Int
    /// Of a waiting one: runs that were lost.
    package var losses = 0
    /// 0 ... 1; nil as long as the total is not known.
    package var fraction: Double?
    package var secondsLeft: ClosedRange<Double>?
    package var submitted: Duration
    package var started: Duration?
    package var outcome: TaskOutcome?
    package var terms: RunTerms?
}
