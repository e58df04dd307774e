import Dispatch
import Locking
import SchedulingCore
package import TaskModel
package import WorkerPriority

/// Keeps background jobs out of the way of the person's other sessions, which their weight does not reach: what they may use
/// of the processors together follows what others leave.
package final class ProcessorLimits: Sendable {
    private struct Unit {
        var processors: UnitProcessors
        var used: Duration
        var limit: Double?
    }

    private struct State {
        var units: [JobID: Unit] = [:]
        var spare: SpareProcessors
        /// Of all units, those that are gone among them.
        var own: Duration = .zero
        var timer: (any DispatchSourceTimer)?
    }

    private static let interval: Duration = .milliseconds(100)
    /// Of what all units used: one that used less leaves its part to the others.
    private static let leastShare = 0.05

    private let system: PrioritySystem
    private let state: Lock<State>
    private let queue = DispatchQueue(label: "bgrun.processors")
    private let clock = SuspendingClock()
    private let begin = SuspendingClock().now

    package init(system: PrioritySystem = PrioritySystem()) {
        self.system = system
        state = Lock(State(spare: SpareProcessors(processors: MachineProcessors(system: system)?.count ?? 1)))
    }

    /// Has a job keep out of the way from now on.
    package func hold(_ job: JobID, _ processors: UnitProcessors) {
        guard let used = processors.used else { return }
        state.withLock { state in
            guard state.units[job] == nil else { return }
            state.units[job] = Unit(processors: processors, used: used, limit: nil)
            if state.timer == nil { state.timer = makeTimer() }
        }
    }

    /// Lets a job have what its weight gives it.
    package func release(_ job: JobID) {
        let limited = state.withLock { state in
            let unit = state.units.removeValue(forKey: job)
            if state.units.isEmpty {
                state.timer?.cancel()
                state.timer = nil
            }
            return unit?.limit == nil ? nil : unit
        }
        _ = limited?.processors.limit(to: nil)
    }

    /// Processors that a job may use now; nil for all.
    package func limit(of job: JobID) -> Double? { state.withLock { $0.units[job]?.limit } }

    private func makeTimer() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let milliseconds = Int(Self.interval / .milliseconds(1))
        timer.schedule(
            deadline: .now() + .milliseconds(milliseconds), repeating: .milliseconds(milliseconds),
            leeway: .milliseconds(milliseconds / 10))
        timer.setEventHandler { [weak self] in self?.look() }
        timer.activate()
        return timer
    }

    private func look() {
        guard let machine = MachineProcessors(system: system) else { return }
        let now = begin.duration(to: clock.now)
        // In the lock: a limit must not be written after its job was released.
        state.withLock { state in
            var spent: [JobID: Duration] = [:]
            for (job, unit) in state.units {
                guard let used = unit.processors.used else {
                    state.units[job] = nil
                    continue
                }
                spent[job] = used - unit.used
                state.units[job]?.used = used
            }
            let total = spent.values.reduce(.zero, +)
            state.own += total
            state.spare.look(.init(at: now, idle: machine.idle, own: state.own))
            let active = spent.values.count { $0 >= total * Self.leastShare }
            let limit = state.spare.limit.map { $0 / Double(max(active, 1)) }
            for (job, unit) in state.units where limit != nil || unit.limit != nil {
                state.units[job]?.limit = unit.processors.limit(to: limit) ? limit : nil
            }
        }
    }
}
