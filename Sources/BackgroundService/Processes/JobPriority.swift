import Dispatch
import Glibc
import Locking
import TaskModel
import WorkerPriority

/// Sees to it that the processes of one job have the priority that is wanted last.
final class JobPriority: Sendable {
    private struct State {
        var priority: WorkerPriority
        var wanted: RunTerms.Priority?
        var isOver = false
    }

    private let job: JobID
    private let limits: ProcessorLimits
    private let state: Lock<State>
    private let onChange: @Sendable (PriorityTier) -> Void
    /// Asking a manager blocks, and the kernel wants pauses between changes.
    private let queue = DispatchQueue(label: "bgrun.priority")

    /// `onChange` is told what gives the processes their share, whenever that was read back.
    init(
        _ job: JobID, process: pid_t, unit: String?, limits: ProcessorLimits,
        onChange: @escaping @Sendable (PriorityTier) -> Void
    ) {
        self.job = job
        self.limits = limits
        state = Lock(State(priority: WorkerPriority(process: process, unit: unit)))
        self.onChange = onChange
    }

    func want(_ priority: RunTerms.Priority) {
        let isNew = state.withLock { state in
            defer { state.wanted = priority }
            return state.wanted != priority
        }
        guard isNew else { return }
        // What is raised is needed at once, and may be all but standing still.
        if priority == .foreground { limits.release(job) }
        queue.async { self.apply() }
    }

    /// Its processes are gone.
    func end() {
        state.withLock { $0.isOver = true }
        limits.release(job)
    }

    private func apply() {
        let outcome = state.withLock { state in
            state.isOver ? nil : state.wanted.map { state.priority.apply($0) }
        }
        switch outcome {
        case .applied(let tier)?:
            settle()
            onChange(tier)
        case .retry(let delay)?:
            queue.asyncAfter(deadline: .now() + .milliseconds(Int(delay / .milliseconds(1)))) { self.apply() }
        case nil: break
        }
    }

    private func settle() {
        state.withLock { state in
            if !state.isOver, state.wanted == .background, let processors = state.priority.processors {
                limits.hold(job, processors)
            } else {
                limits.release(job)
            }
        }
    }
}
