package import BackgroundTasks
import Foundation
package import JobLink
import Locking
package import TaskModel

/// A scheduler in this process as the host of its one piece of continued work: what the scheduler does with the task is
/// said to the work in the words of a job channel, and what the work reports goes to the task.
///
/// Over a sleep of the machine the work stands still and keeps what it has begun; a run of the task ends with it, and the
/// next one goes on.
package final class InProcessHost: WorkHost {
    private struct State {
        var words: [HostWord] = []
        var task: BGContinuedProcessingTask?
        var answer: Result<Void, Rejection>?
        /// The run of the task is over as soon as the work stands still.
        var leaves = false
        /// It was told that it is to stand still, and not yet that it goes on.
        var isHalted = false
    }

    private static let totalUnits: Int64 = 1_000_000

    private let scheduler: BGTaskScheduler
    private let identifier: String
    private let wakeUp: @Sendable () -> Void
    private let state = Lock(State())

    /// - Parameters:
    ///   - scheduler: That the identifier is permitted to.
    ///   - identifier: Of the request that ``submit(_:)`` will get.
    ///   - wakeUp: Is called when there is something to ``take()``.
    package init(_ scheduler: BGTaskScheduler, identifier: String, wakeUp: @escaping @Sendable () -> Void) {
        self.scheduler = scheduler
        self.identifier = identifier
        self.wakeUp = wakeUp
        scheduler.host.observe { [weak self] in self?.heard($0) }
        scheduler.register(forTaskWithIdentifier: identifier, as: BGContinuedProcessingTask.self) { [weak self] task in
            self?.launched(task)
        }
    }

    /// Asks for the work, without waiting for an answer.
    package func submit(_ request: BGContinuedProcessingTaskRequest) {
        scheduler.submitTaskRequest(request) { [weak self] error in
            guard let self else { return }
            state.withLock { state in
                state.answer = error.map { .failure(Rejection($0)) } ?? .success(())
            }
            wakeUp()
        }
    }

    /// Why the request would be refused; nil when it would be taken. Blocks while the machine is looked at.
    package func rejection(of request: BGContinuedProcessingTaskRequest) -> Rejection? {
        if case .failure(let error) = scheduler.dryRun(request).answer { Rejection(error) } else { nil }
    }

    /// Whether the scheduler took the request; nil before it has answered.
    package var answer: Result<Void, Rejection>? { state.withLock(\.answer) }
    /// It was launched.
    package var isLaunched: Bool { state.withLock { $0.task != nil } }
    /// Identity of the device that the scheduler gave to the work.
    package var device: String? { state.withLock { $0.task?.device } }
    /// Why it does not run, one sentence; nil when it does.
    package var reason: String? { scheduler.why(identifier).first.map { "\($0.sentence) \($0.fix)" } }

    // MARK: The work

    package func beginWork() {}

    package func take() -> [HostWord] {
        state.withLock { state in
            defer { state.words = [] }
            return state.words
        }
    }

    package func tell(_ report: JobReport) {
        guard let task = state.withLock(\.task) else { return }
        switch report {
        case .progress(let progress, device: _):
            task.progress.completedUnitCount = Int64(progress.fraction * Double(Self.totalUnits))
        case .phase(let phase): task.heartbeat(phase: phase)
        case .paused:
            let leaves = state.withLock { state in
                defer { state.leaves = false }
                return state.leaves
            }
            if leaves { task.setTaskCompleted(success: false) } else { task.didPause() }
        case .note, .record, .stopping, .deviceFailed, .ended: break
        }
    }

    /// The work has ended, or cannot go on.
    package func end(_ outcome: TaskOutcome) {
        guard let task = state.withLock(\.task) else { return }
        let isDone = if case .completed = outcome { true } else { false }
        if isDone { task.progress.completedUnitCount = Self.totalUnits }
        task.setTaskCompleted(success: isDone)
    }

    // MARK: The scheduler

    private func launched(_ task: BGContinuedProcessingTask) {
        task.expirationHandler = { [weak self, weak task] in
            if let task { self?.expired(task) }
        }
        task.progress.totalUnitCount = Self.totalUnits
        let terms = RunTerms(task.terms)
        let isFirst = state.withLock { state in
            defer { state.task = task }
            state.leaves = false
            return state.task == nil
        }
        if isFirst { say(.command(.terms(terms))) } else { goOn(terms) }
    }

    private func heard(_ event: BGTaskScheduler.Event) {
        guard event.identifier == identifier else { return }
        switch event.kind {
        case .pausing: halt(reason ?? "The scheduler asked for it.")
        case .resumed: if let task = state.withLock(\.task) { goOn(RunTerms(task.terms)) }
        case .termsChanged(let terms): say(.command(.terms(RunTerms(terms))))
        case .movedToCPU: say(.command(.leaveDevice))
        // Whatever ended it: nobody hears this when the work has ended before.
        case .ended(.stopped(let reason)): say(.command(.stop(reason.value, within: .zero)))
        default: break
        }
    }

    private func expired(_ task: BGContinuedProcessingTask) {
        let reason = task.stopReason?.value ?? .hostRemoved
        switch reason {
        case .sleep, .shutdown:
            state.withLock { $0.leaves = true }
            halt(
                "The machine is about to \(reason == .sleep ? "sleep" : "shut down"). It goes on by itself afterwards.")
        default:
            say(.command(.stop(reason, within: task.terms.chunkTarget * 2)))
        }
    }

    private func halt(_ reason: String) {
        state.withLock { $0.isHalted = true }
        say(.note("Paused: \(reason)"), .command(.pause))
    }

    private func goOn(_ terms: RunTerms) {
        let wasHalted = state.withLock { state in
            defer { state.isHalted = false }
            return state.isHalted
        }
        if wasHalted { say(.note("Going on.")) }
        say(.command(.resume(terms)))
    }

    private func say(_ words: HostWord...) {
        state.withLock { $0.words += words }
        wakeUp()
    }
}

extension Rejection {
    /// What a scheduler of this process answered.
    fileprivate init(_ error: any Error) {
        let failures = (error as? BGTaskScheduler.Error)?.failures.map { failure in
            Failure(
                code: .init(failure.code), detail: failure.detail, sentence: failure.sentence, fix: failure.fix)
        }
        self.init(
            first: failures?.first
                ?? Failure(code: .notPermitted, detail: "refused", sentence: "\(error)", fix: "Report this."),
            others: Array(failures?.dropFirst() ?? []))
    }
}

extension Rejection.Code {
    fileprivate init(_ code: BGTaskScheduler.Error.Code) {
        switch code {
        case .unavailable: self = .unavailable
        case .tooManyPendingTaskRequests: self = .tooManyPendingTaskRequests
        case .notPermitted: self = .notPermitted
        case .immediateRunIneligible: self = .immediateRunIneligible
        }
    }
}

extension RunTerms {
    fileprivate init(_ terms: BGRunTerms) {
        self.init(
            priority: terms.priority == .foreground ? .foreground : .background, chunkTarget: terms.chunkTarget,
            dutyCycle: terms.dutyCycle, concurrency: terms.concurrency)
    }
}
