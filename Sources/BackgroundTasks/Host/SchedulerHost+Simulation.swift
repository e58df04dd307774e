import SchedulingCore
package import TaskModel

/// What tests have happen to a host (rule 99).
extension SchedulerHost {
    /// Has something happen as if the machine or a person had done it.
    ///
    /// - Parameters:
    ///   - simulation: A crash and a hang are the business of whoever has processes.
    ///   - job: The one that the simulation names; nil when there is none.
    /// - Returns: Why it did not happen; nil when it did.
    package func simulate(
        _ simulation: Simulation, job: (borrowing State) -> JobID? = { _ in nil }
    ) -> Diagnostic? {
        decide { state, now in
            switch simulation.kind {
            case .launch:
                guard let job = job(state) else { return Self.unknown(simulation) }
                state.add(state.scheduler.simulateLaunch(job, at: now))
                return state.scheduler.summary(job)?.state == .waiting
                    ? Diagnostic(
                        code: "notLaunched",
                        sentence: "\"\(simulation.target)\" cannot start while the machine leaves, "
                            + "its program is gone, or another of its name runs.", fix: "Try again later.") : nil
            case .expire:
                guard let job = job(state), state.scheduler.summary(job)?.state != .waiting else {
                    return Self.unknown(simulation)
                }
                state.add(state.scheduler.stop(job, simulation.reason ?? .simulated, at: now))
                return nil
            case .lose, .meet, .measure:
                guard let condition = ConditionKind(rawValue: simulation.target) else {
                    return Diagnostic(
                        code: "unknownCondition", sentence: "There is no condition \"\(simulation.target)\".",
                        fix: "Name one of \(ConditionKind.allCases.map(\.rawValue).joined(separator: ", ")).")
                }
                state.take(condition, isMet: simulation.kind == .measure ? nil : simulation.kind == .meet, at: now)
                return nil
            case .unplug:
                return state.loseDevice(simulation.target, at: now) == 0 ? Self.unknown(simulation) : nil
            case .crash, .hang:
                return Diagnostic(
                    code: "noProcess", sentence: "\"\(simulation.target)\" has no process of its own.",
                    fix: "End or stop the process of its program: kill -9, kill -STOP.")
            }
        }
    }

    private static func unknown(_ simulation: Simulation) -> Diagnostic {
        switch simulation.kind {
        case .launch:
            Diagnostic(
                code: "notWaiting", sentence: "Nothing called \"\(simulation.target)\" waits.",
                fix: "Submit it first.")
        case .unplug:
            Diagnostic(
                code: "deviceUnused", sentence: "Nothing runs on a device called \"\(simulation.target)\".",
                fix: "Name a device that a job is shown with.")
        default:
            Diagnostic(
                code: "notRunning", sentence: "Nothing called \"\(simulation.target)\" runs.",
                fix: "Have it launched first.")
        }
    }
}

extension HostState {
    /// A device fails once: whatever runs on it loses it.
    ///
    /// - Returns: How many tasks did.
    package mutating func loseDevice(_ name: String, at now: Duration) -> Int {
        let users = scheduler.jobs().filter { $0.device == name && $0.state != .ended && $0.state != .waiting }
        for user in users { add(scheduler.deviceFailed(user.id, at: now)) }
        return users.count
    }

    /// Takes a condition for met or lost, whatever is measured; nil for what is measured.
    fileprivate mutating func take(_ condition: ConditionKind, isMet: Bool?, at now: Duration) {
        simulated[condition] = isMet
        if condition == .allowedHours {
            blockHours(at: now)
        } else {
            add(scheduler.conditionsChanged(conditions, at: now))
        }
    }
}
