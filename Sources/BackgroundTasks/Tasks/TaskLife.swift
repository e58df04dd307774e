package import TaskModel

/// Decides what happens with one task's handlers between its launch and its end (rules 69, 70, 72 and 74).
package struct TaskLife<Handler: Sendable>: Sendable {
    package enum Action: Sendable {
        /// Call the expiration handler, once.
        case runHandler(Handler)
        /// The task is complete; tell the scheduler.
        case complete(success: Bool)
        case note(Diagnostic)
    }

    private enum State: Sendable {
        /// Its launch handler has not begun. Leaves by `launchBegan` or `expire`.
        case launching(Handler?)
        /// Leaves by `expire` or `complete`.
        case running(Handler?)
        /// Asked to stop before its launch handler began: the program had no chance to set a handler yet. Leaves by
        /// `launchBegan` or `complete`.
        case expiredEarly(Handler?)
        /// Asked to stop; its handler has run, or may still be set. Leaves by `complete`.
        case expiring(handlerRan: Bool)
        /// Nothing that comes later counts.
        case complete
    }

    private var state: State = .launching(nil)
    /// Set with the first request to stop.
    package private(set) var stopReason: StopReason?
    /// Cancelling the work stands for a handler.
    private let isCancellable: Bool

    /// - Parameter isCancellable: The work is a Swift task, which is told to stop by cancelling it.
    package init(isCancellable: Bool = false) {
        self.isCancellable = isCancellable
    }

    package var handler: Handler? {
        switch state {
        case .launching(let handler), .running(let handler), .expiredEarly(let handler): handler
        case .expiring, .complete: nil
        }
    }

    package var isComplete: Bool {
        if case .complete = state { true } else { false }
    }

    package mutating func setHandler(_ handler: Handler?) -> Action? {
        switch state {
        case .launching: state = .launching(handler)
        case .running: state = .running(handler)
        case .expiredEarly: state = .expiredEarly(handler)
        case .expiring(handlerRan: false):
            // It comes late, but the work should still hear of it.
            guard let handler else { return nil }
            state = .expiring(handlerRan: true)
            return .runHandler(handler)
        case .expiring(handlerRan: true), .complete:
            break
        }
        return nil
    }

    /// The launch handler is being called.
    package mutating func launchBegan() {
        switch state {
        case .launching(let handler): state = .running(handler)
        case .expiredEarly(let handler): state = .expiredEarly(handler)
        case .running, .expiring, .complete: break
        }
    }

    /// The launch handler has returned, which is not completion of the task.
    package mutating func launchReturned() -> [Action] {
        guard case .expiredEarly(let handler) = state else { return [] }
        return expireNow(handler)
    }

    package mutating func expire(_ reason: StopReason) -> [Action] {
        switch state {
        case .launching(let handler):
            stopReason = reason
            state = .expiredEarly(handler)
            return []
        case .running(let handler):
            stopReason = reason
            return expireNow(handler)
        case .expiredEarly, .expiring, .complete:
            // The first reason given is the one reported.
            return []
        }
    }

    package mutating func complete(success: Bool) -> [Action] {
        if case .complete = state {
            return [
                .note(
                    Diagnostic(
                        code: "completedTwice", sentence: "A task was completed more than once; the first time counts.",
                        fix: "Call setTaskCompleted(success:) once for each task."))
            ]
        }
        state = .complete
        return [.complete(success: success)]
    }

    /// Its time is over, whatever the program does.
    package mutating func end() {
        state = .complete
    }

    private mutating func expireNow(_ handler: Handler?) -> [Action] {
        if let handler {
            state = .expiring(handlerRan: true)
            return [.runHandler(handler)]
        }
        state = .expiring(handlerRan: false)
        // Without a handler nobody would tell.
        return isCancellable ? [] : complete(success: false)
    }
}
