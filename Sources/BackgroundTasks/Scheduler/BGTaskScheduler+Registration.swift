public import Dispatch
import TaskModel

extension BGTaskScheduler {
    /// Registers what is called when a task of this identifier is launched.
    ///
    /// Handlers of refresh and processing work are registered before ``activate()``, those of continued work at any time.
    ///
    /// - Parameters:
    ///   - identifier: A permitted identifier, or a prefix with `.*` for continued work.
    ///   - queue: Where it is called; nil for a serial queue of its own in the background.
    ///   - launchHandler: Is called once for each launch. Its return is not completion: call `setTaskCompleted`.
    /// - Returns: False if the identifier is not permitted, has a handler already, or comes too late; ``diagnostics``
    ///   says which.
    // Closures of programs in Swift 5 mode, as Apple's documentation shows them, are not marked as sendable: hence
    // `@preconcurrency`, which changes nothing for Swift 6.
    @discardableResult
    @preconcurrency public func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
        launchHandler: @escaping @Sendable (BGTask) -> Void
    ) -> Bool {
        register(identifier, LaunchHandler(form: .closure(queue, launchHandler)))
    }

    /// Registers what is called with a task of a certain class; a request of another kind is refused at submission.
    ///
    /// - Parameters:
    ///   - identifier: A permitted identifier, or a prefix with `.*` for continued work.
    ///   - type: The class of task that it takes.
    ///   - queue: Where it is called; nil for a serial queue of its own in the background.
    ///   - launchHandler: Is called once for each launch. Its return is not completion: call `setTaskCompleted`.
    /// - Returns: As ``register(forTaskWithIdentifier:using:launchHandler:)``.
    @discardableResult
    public func register<Work: BGTask>(
        forTaskWithIdentifier identifier: String, as type: Work.Type, using queue: DispatchQueue? = nil,
        launchHandler: @escaping @Sendable (Work) -> Void
    ) -> Bool {
        register(
            identifier,
            LaunchHandler(
                kind: type.kind, takesResearchOnly: type == BGHealthResearchTask.self,
                form: .closure(queue) { task in
                    // Submission has seen to the class; without it nobody would complete the task.
                    guard let task = task as? Work else { return task.setTaskCompleted(success: false) }
                    launchHandler(task)
                }))
    }

    /// Registers work as an async function: its return completes the task, an error completes it without success, and
    /// expiration cancels its Swift task.
    ///
    /// - Parameters:
    ///   - identifier: A permitted identifier, or a prefix with `.*` for continued work.
    ///   - type: The class of task that it takes; a request of another kind is refused at submission.
    ///   - executor: Where it runs; nil for Swift's own.
    ///   - work: Is called once for each launch.
    /// - Returns: As ``register(forTaskWithIdentifier:using:launchHandler:)``.
    @discardableResult
    public func register<Work: BGTask>(
        _ identifier: String, for type: Work.Type, on executor: (any TaskExecutor)? = nil,
        _ work: @escaping @Sendable (Work) async throws -> Void
    ) -> Bool {
        register(
            identifier,
            LaunchHandler(
                kind: type.kind, takesResearchOnly: type == BGHealthResearchTask.self,
                form: .async(executor) { task in
                    guard let task = task as? Work else { return task.setTaskCompleted(success: false) }
                    try await work(task)
                }))
    }

    /// Ends the registration of refresh and processing handlers, as the end of an app's launch does.
    ///
    /// - Returns: A warning for each permitted identifier without a handler.
    @discardableResult
    public func activate() -> [BGDiagnostic] {
        findManifest()
        return host.activate()
    }

    private func register(_ identifier: String, _ handler: LaunchHandler) -> Bool {
        findManifest()
        return host.register(identifier, handler)
    }
}
