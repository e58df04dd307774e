package import TaskModel

/// The states of one launched task: active, paused, expiring, over. It ends exactly once.
package struct TaskMachine: Sendable {
    /// What keeps a task paused; it goes on when none is left.
    package enum PauseCause: Hashable, Sendable {
        case conditions, preempted, person, device
    }

    package enum Phase: Hashable, Sendable {
        /// Leaves by `pause`, `expire` or `completed`.
        case active
        /// Asked to pause at its next commit point. Leaves by `paused`, `resume`, `expire` or `completed`.
        case pausing(since: Duration)
        /// At a commit point, holding no slot. Leaves by `resume`, `expire` or `completed`.
        case paused
        /// Asked to end. Leaves by `completed` or at the deadline.
        case expiring(StopReason, deadline: Duration)
        /// Events that come late are ignored.
        case ended
    }

    package private(set) var phase: Phase = .active
    package private(set) var pauseCauses: Set<PauseCause> = []

    package init() {}

    /// - Returns: Whether the task has to be asked to pause now.
    package mutating func pause(_ cause: PauseCause, at now: Duration) -> Bool {
        switch phase {
        case .active:
            pauseCauses.insert(cause)
            phase = .pausing(since: now)
            return true
        case .pausing, .paused:
            pauseCauses.insert(cause)
            return false
        case .expiring, .ended:
            return false
        }
    }

    /// The task has stopped at a commit point.
    ///
    /// - Returns: Whether it was asked to.
    package mutating func paused() -> Bool {
        guard case .pausing = phase else { return false }
        phase = .paused
        return true
    }

    package mutating func clear(_ cause: PauseCause) {
        pauseCauses.remove(cause)
    }

    /// The task goes on.
    package mutating func resume() {
        precondition(pauseCauses.isEmpty, "a task with a reason to be paused does not go on")
        switch phase {
        case .pausing, .paused: phase = .active
        case .active, .expiring, .ended: break
        }
    }

    /// The first reason given is the one that counts.
    ///
    /// - Returns: Whether the task has to be told now.
    package mutating func expire(_ reason: StopReason, deadline: Duration) -> Bool {
        switch phase {
        case .active, .pausing, .paused:
            phase = .expiring(reason, deadline: deadline)
            return true
        case .expiring, .ended:
            return false
        }
    }

    /// A person wants a task to end that already does so because the machine leaves: that is why it has ended then, and
    /// it is not to go on afterwards.
    package mutating func personStops() {
        switch phase {
        case .expiring(.sleep, let deadline), .expiring(.shutdown, let deadline):
            phase = .expiring(.userStop, deadline: deadline)
        case .active, .pausing, .paused, .expiring, .ended: break
        }
    }

    /// The task says that it is done.
    ///
    /// - Parameters:
    ///   - success: What it says of itself.
    ///   - isFinished: Whether its progress is complete; only then does success after an expiration count (rule 74).
    ///   - failures: Items that could not be done.
    /// - Returns: How it ended; nil when it had ended already.
    package mutating func completed(success: Bool, isFinished: Bool, failures: Int) -> TaskOutcome? {
        switch phase {
        case .ended:
            return nil
        case .expiring(let reason, _):
            phase = .ended
            return success && isFinished ? .completed(failures: failures) : .stopped(reason)
        case .active, .pausing, .paused:
            phase = .ended
            return success ? .completed(failures: failures) : .failed(code: "unsuccessful")
        }
    }

    /// The task ends without being asked: its process is gone, or its grace is over.
    ///
    /// - Returns: How it ended; nil when it had ended already.
    package mutating func end(_ outcome: TaskOutcome) -> TaskOutcome? {
        if case .ended = phase { return nil }
        phase = .ended
        return outcome
    }
}
