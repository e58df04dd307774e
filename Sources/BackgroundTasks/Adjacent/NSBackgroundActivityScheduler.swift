public import Foundation
import Locking
import TaskModel

/// Runs an activity that can wait at a time that suits the machine, and lets it stop in between.
///
/// It is processing work to the scheduler: the manifest permits the mode `processing` and its identifier.
public final class NSBackgroundActivityScheduler: NSObject, Sendable {
    /// How a run ended.
    public enum Result: Int, Hashable, Sendable {
        case finished = 1
        /// It stopped early because it should: it is called again when the machine allows.
        case deferred = 2
    }

    public typealias CompletionHandler = @Sendable (Result) -> Void

    private struct State {
        var plan = ActivityPlan()
        var qualityOfService: QualityOfService = .background
        var block: (@Sendable (@escaping CompletionHandler) -> Void)?
        var task: BGProcessingTask?
        var shouldDefer = false
        var isRegistered = false
    }

    /// Names it in the manifest.
    public let identifier: String
    private let scheduler: BGTaskScheduler
    private let state = Lock(State())

    /// - Parameter identifier: One of the manifest's identifiers.
    public convenience init(identifier: String) {
        self.init(identifier: identifier, scheduler: .shared)
    }

    /// - Parameters:
    ///   - identifier: One of the manifest's identifiers.
    ///   - scheduler: Runs it.
    public init(identifier: String, scheduler: BGTaskScheduler) {
        self.identifier = identifier
        self.scheduler = scheduler
        super.init()
    }

    /// Whether it is called again and again; false by default.
    public var repeats: Bool {
        get { state.withLock(\.plan.repeats) }
        set { state.withLock { $0.plan.repeats = newValue } }
    }

    /// Seconds between two runs on average, or before the only one.
    public var interval: TimeInterval {
        get { state.withLock(\.plan.interval).seconds }
        set { state.withLock { $0.plan.interval = .seconds(clamping: max(newValue, 0)) } }
    }

    /// Seconds that it may run earlier than planned; half of the interval by default.
    public var tolerance: TimeInterval {
        get { state.withLock { $0.plan.tolerance ?? $0.plan.interval / 2 }.seconds }
        set { state.withLock { $0.plan.tolerance = .seconds(clamping: max(newValue, 0)) } }
    }

    /// `.background` by default; above `.utility` it does not wait for an idle machine.
    public var qualityOfService: QualityOfService {
        get { state.withLock(\.qualityOfService) }
        set { state.withLock { $0.qualityOfService = newValue } }
    }

    /// Whether the running activity should finish its present piece, save, and complete with `.deferred`. Look at it often.
    public var shouldDefer: Bool { state.withLock(\.shouldDefer) }

    // Closures of programs in Swift 5 mode, as Apple's documentation shows them, are not marked as sendable: hence
    // `@preconcurrency`, which changes nothing for Swift 6.
    /// Asks for the activity's runs.
    ///
    /// - Parameter block: Does the work on a queue in the background, and completes it by its argument.
    @preconcurrency public func schedule(_ block: @escaping @Sendable (@escaping CompletionHandler) -> Void) {
        let wall = scheduler.host.clock.wallNow
        let (begin, isRegistered) = state.withLock { state in
            state.block = block
            defer { state.isRegistered = true }
            return (state.plan.scheduled(at: wall), state.isRegistered)
        }
        if !isRegistered {
            scheduler.register(forTaskWithIdentifier: identifier, as: BGProcessingTask.self) { [weak self] task in
                guard let self else { return task.setTaskCompleted(success: false) }
                run(task)
            }
        }
        submit(notBefore: begin)
    }

    /// Ends it: it is not called any more, and should stop if it runs.
    public func invalidate() {
        let isRunning = state.withLock { state in
            state.block = nil
            state.shouldDefer = state.task != nil
            return state.task != nil
        }
        scheduler.cancel(taskRequestWithIdentifier: identifier)
        if isRunning { scheduler.stop(taskWithIdentifier: identifier) }
    }

    private func submit(notBefore begin: Duration) {
        let request = BGProcessingTaskRequest(identifier: identifier)
        request.earliestBeginDate = Date(begin)
        request.requiresIdle = [.background, .utility, .default].contains(qualityOfService)
        do {
            try scheduler.submit(request)
        } catch {
            scheduler.host.perform { state, _ in
                state.note(
                    Diagnostic(
                        code: "activityRefused",
                        sentence: "The activity was refused: \(error.localizedDescription)",
                        fix: "Permit the mode \"processing\" and the identifier \"\(request.identifier)\"."),
                    identifier: request.identifier)
            }
        }
    }

    private func run(_ task: BGProcessingTask) {
        let block = state.withLock { state in
            state.task = task
            state.shouldDefer = false
            return state.block
        }
        guard let block else { return complete(task, .deferred) }
        // It is asked by `shouldDefer`, and has the grace of every other task to answer.
        task.expirationHandler = { [weak self] in self?.state.withLock { $0.shouldDefer = true } }
        block { [weak self] in self?.complete(task, $0) }
    }

    private func complete(_ task: BGProcessingTask, _ result: Result) {
        let wall = scheduler.host.clock.wallNow
        let (isFirst, next) = state.withLock { state -> (Bool, Duration?) in
            // Only the run at hand is completed, and once.
            guard state.task === task else { return (false, nil) }
            state.task = nil
            state.shouldDefer = false
            guard state.block != nil else { return (true, nil) }
            return (true, result == .finished ? state.plan.finished(at: wall) : state.plan.deferred(at: wall))
        }
        guard isFirst else { return }
        // To defer is no failure, and after an expiration it does not count as done.
        task.setTaskCompleted(success: true)
        if let next { submit(notBefore: next) }
    }
}
