import Dispatch
import TaskModel

/// What is called when a task is launched, and where.
struct LaunchHandler: Sendable {
    enum Form: Sendable {
        /// Its return is not completion.
        case closure(DispatchQueue?, @Sendable (BGTask) -> Void)
        /// Its return is completion, and cancellation tells it to stop.
        case async((any TaskExecutor)?, @Sendable (BGTask) async throws -> Void)
    }

    /// Of typed registrations.
    var kind: TaskKind?
    /// It takes research tasks only.
    var takesResearchOnly = false
    var form: Form

    var isAsync: Bool {
        if case .async = form { true } else { false }
    }
}
