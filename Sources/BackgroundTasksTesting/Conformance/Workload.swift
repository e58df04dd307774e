public import BackgroundTasks

/// A launch handler as it is checked: what the program would register for its identifier.
public struct Workload: Sendable {
    let mode: BGTaskScheduler.Mode
    /// Its return is completion, and cancellation tells it to stop.
    let isAsync: Bool
    /// Registers it; the second closure is given each task before the handler is.
    let register: @Sendable (BGTaskScheduler, String, @escaping @Sendable (BGTask) -> Void) -> Bool

    /// - Parameters:
    ///   - type: The class of task that it takes.
    ///   - launchHandler: Its return is not completion: it calls `setTaskCompleted`.
    public init<Work: BGTask>(_ type: Work.Type, launchHandler: @escaping @Sendable (Work) -> Void) {
        mode = Self.mode(of: type)
        isAsync = false
        register = { scheduler, identifier, seeing in
            scheduler.register(forTaskWithIdentifier: identifier, as: type) { task in
                seeing(task)
                launchHandler(task)
            }
        }
    }

    /// - Parameters:
    ///   - type: The class of task that it takes.
    ///   - work: Its return completes the task, an error does so without success, expiration cancels its Swift task.
    public init<Work: BGTask>(_ type: Work.Type, work: @escaping @Sendable (Work) async throws -> Void) {
        mode = Self.mode(of: type)
        isAsync = true
        register = { scheduler, identifier, seeing in
            scheduler.register(identifier, for: type) { task in
                seeing(task)
                try await work(task)
            }
        }
    }

    private static func mode(of type: BGTask.Type) -> BGTaskScheduler.Mode {
        if type is BGContinuedProcessingTask.Type { return .continued }
        return type is BGAppRefreshTask.Type ? .refresh : .processing
    }
}
