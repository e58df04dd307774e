extension BGTaskScheduler {
    /// What a ``backgroundTask(_:action:)`` is for.
    public struct BackgroundTaskKind: Hashable, Sendable {
        let identifier: String
        let mode: Mode

        /// A run of the refresh requests of an identifier.
        public static func appRefresh(_ identifier: String) -> Self { .init(identifier: identifier, mode: .refresh) }
        /// A run of the processing requests of an identifier.
        public static func processing(_ identifier: String) -> Self { .init(identifier: identifier, mode: .processing) }
        /// A run of the continued requests of an identifier or a pattern.
        public static func continued(_ identifier: String) -> Self { .init(identifier: identifier, mode: .continued) }
    }

    /// Registers work in the manner of SwiftUI's scenes: the action's return is completion, and its Swift task is
    /// cancelled when its time ends.
    ///
    /// - Parameters:
    ///   - kind: What it is for.
    ///   - action: Is called once for each launch.
    /// - Returns: As ``register(forTaskWithIdentifier:using:launchHandler:)``.
    @discardableResult
    public func backgroundTask(_ kind: BackgroundTaskKind, action: @escaping @Sendable () async -> Void) -> Bool {
        switch kind.mode {
        case .refresh: register(kind.identifier, for: BGAppRefreshTask.self) { _ in await action() }
        case .processing: register(kind.identifier, for: BGProcessingTask.self) { _ in await action() }
        case .continued: register(kind.identifier, for: BGContinuedProcessingTask.self) { _ in await action() }
        }
    }
}
