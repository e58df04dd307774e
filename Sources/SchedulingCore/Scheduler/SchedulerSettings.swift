package import TaskModel

/// Every number the scheduler decides by.
package struct SchedulerSettings: Sendable {
    /// Tasks that run on the CPU lane at once.
    package var cpuSlots = 2
    /// Processor cores that one task may be told to use.
    package var cores = 2
    /// Pending requests of one program (rule 17).
    package var maxPending: [TaskKind: Int] = [.refresh: 1, .processing: 10, .continued: 64]
    package var refreshTime: Duration = .seconds(30)
    /// nil leaves processing to its conditions.
    package var processingTime: Duration?
    /// Time for all handlers of one expiration together (rule 71).
    package var grace: Duration = .seconds(5)
    /// A processing request that has waited this long is told to be overdue (rule 58).
    package var overdueAfter: Duration = .seconds(172_800)
    /// How much later than a foreground request one of another class has its turn; waiting makes up for it (rule 87).
    package var turnDelay: [TaskClass: Duration] = [
        .foreground: .zero, .continuedBackground: .seconds(60), .processing: .seconds(600), .refresh: .seconds(1_200),
    ]
    /// A request that has waited this long for room gets the next room, whatever else would fit (rule 87).
    package var reserveAfter: Duration = .seconds(600)
    package var progress = ProgressWatch.Limits()
    /// Time to answer whether slow work should go on.
    package var slowAnswer: Duration = .seconds(60)
    /// A demotion waits until the last change of priority is this old (rule 91).
    package var betweenFlips: Duration = .seconds(5)
    /// While memory is short, one background task is stopped in each such time.
    package var betweenShedding: Duration = .seconds(1)
    /// A task that was preempted once and runs again is left alone for so long.
    package var protection: Duration = .seconds(30)
    package var devices = DeviceBoard.Limits()
    package var refresh = RefreshBudget.Limits()
    /// Runs of one request that may be lost with their device or process before it fails (rule 37).
    package var maxAttempts = 4
    /// Wait before the second attempt; each further one waits twice as long.
    package var backoff: Duration = .seconds(10)
    package var longestBackoff: Duration = .seconds(600)
    /// Completed entries are dismissed after this (rule 80).
    package var dismissAfter: Duration = .seconds(5)
    /// Ended entries that are kept for a person to see.
    package var maxEnded = 1_000
    /// Whether continued work may be started by scripts and schedules (rule 26).
    package var allowsAutomaticContinued = true

    package init() {}
}

/// The classes that requests are ordered by (rule 87).
package enum TaskClass: String, Codable, Sendable, CaseIterable {
    case foreground, continuedBackground, processing, refresh

    package init(_ kind: TaskKind, isForeground: Bool) {
        switch kind {
        case .refresh: self = .refresh
        case .processing: self = .processing
        case .continued: self = isForeground ? .foreground : .continuedBackground
        }
    }
}
