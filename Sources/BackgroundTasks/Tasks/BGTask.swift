public import Foundation
import Locking
package import TaskModel

/// One run of a request's work, as given to its launch handler.
///
/// `@unchecked Sendable` holds because everything that changes is behind a lock; the class is not final only for the
/// subclasses of this module, which add nothing that changes outside one.
public class BGTask: NSObject, @unchecked Sendable {
    /// The identifier that was submitted.
    public let identifier: String
    package let job: JobID
    private let life: Lock<TaskLife<@Sendable () -> Void>>
    /// The host outlives its tasks' work; a task that a program keeps for longer tells nobody.
    private(set) weak var reports: (any TaskReports)?

    init(identifier: String, job: JobID, isCancellable: Bool, reports: any TaskReports) {
        self.identifier = identifier
        self.job = job
        self.reports = reports
        life = Lock(TaskLife(isCancellable: isCancellable))
        super.init()
    }

    // Closures of programs in Swift 5 mode, as Apple's documentation shows them, are not marked as sendable: hence
    // `@preconcurrency`, which changes nothing for Swift 6.
    /// Called once when the task has to stop, shortly before its time ends; finish the piece at hand, save, and
    /// complete the task.
    ///
    /// It runs on a queue of its own, at most once, and is cleared then or when the task is completed. Without one the
    /// task is complete and unsuccessful as soon as it has to stop.
    @preconcurrency public var expirationHandler: (@Sendable () -> Void)? {
        get { life.withLock(\.handler) }
        set {
            let action = life.withLock { $0.setHandler(newValue) }
            carryOut(action.map { [$0] } ?? [])
        }
    }

    /// Why the task has to stop; nil while it has not. Set before the expiration handler runs.
    public var stopReason: BGStopReason? {
        life.withLock(\.stopReason).map(BGStopReason.init)
    }

    /// Ends the task. Only the first call counts.
    ///
    /// - Parameter success: Whether the work is done. After the task had to stop, it counts as done only when its
    ///   progress is finished.
    public func setTaskCompleted(success: Bool) {
        carryOut(life.withLock { $0.complete(success: success) })
    }

    /// The kind of work that tasks of this class do; nil for the base class.
    class var kind: TaskKind? { nil }

    package var isComplete: Bool { life.withLock(\.isComplete) }

    func launchBegan() {
        life.withLock { $0.launchBegan() }
    }

    func launchReturned() {
        carryOut(life.withLock { $0.launchReturned() })
    }

    func expire(_ reason: StopReason) {
        carryOut(life.withLock { $0.expire(reason) })
    }

    /// Ends it without telling anyone: the scheduler knows.
    func end() {
        life.withLock { $0.end() }
    }

    private func carryOut(_ actions: [TaskLife<@Sendable () -> Void>.Action]) {
        for action in actions {
            switch action {
            case .runHandler(let handler): reports?.run(handler, job: job)
            case .complete(let success): reports?.completed(job, success: success)
            case .note(let diagnostic): reports?.noted(diagnostic, job: job)
            }
        }
    }
}

/// A run of a ``BGAppRefreshTaskRequest``.
public final class BGAppRefreshTask: BGTask, @unchecked Sendable {
    override class var kind: TaskKind? { .refresh }
}

/// A run of a ``BGProcessingTaskRequest``.
public class BGProcessingTask: BGTask, @unchecked Sendable {
    override class var kind: TaskKind? { .processing }
}

/// A run of a ``BGHealthResearchTaskRequest``.
public final class BGHealthResearchTask: BGProcessingTask, @unchecked Sendable {}
