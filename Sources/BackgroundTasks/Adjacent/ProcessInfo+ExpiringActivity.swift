public import Foundation

extension ProcessInfo {
    // Closures of programs in Swift 5 mode, as Apple's documentation shows them, are not marked as sendable: hence
    // `@preconcurrency`, which changes nothing for Swift 6.
    /// Runs a block that should not be cut off when the process goes to the background.
    ///
    /// The block is called with false on a queue of its own. It is called a second time with true, beside the first, when
    /// the time is nearly over; or only with true when there is none.
    ///
    /// - Parameters:
    ///   - reason: What it does, for reports.
    ///   - block: Is told whether it has to end.
    @preconcurrency public func performExpiringActivity(
        withReason reason: String, using block: @escaping @Sendable (Bool) -> Void
    ) {
        BGApplication.shared.performExpiringActivity(withReason: reason, using: block)
    }
}

extension BGApplication {
    // Closures of programs in Swift 5 mode, as Apple's documentation shows them, are not marked as sendable: hence
    // `@preconcurrency`, which changes nothing for Swift 6.
    /// As `ProcessInfo.performExpiringActivity(withReason:using:)`, for this application.
    ///
    /// - Parameters:
    ///   - reason: What it does, for reports.
    ///   - block: Is told whether it has to end.
    @preconcurrency public func performExpiringActivity(
        withReason reason: String, using block: @escaping @Sendable (Bool) -> Void
    ) {
        let activities = host.handlerQueue
        let calls = host.handlerCalls
        let identifier = beginBackgroundTask(withName: reason) {
            activities.async(group: calls) { block(true) }
        }
        activities.async(group: calls) { [self] in
            block(identifier == .invalid)
            endBackgroundTask(identifier)
        }
    }
}
