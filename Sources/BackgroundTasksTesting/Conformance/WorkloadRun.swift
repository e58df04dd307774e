import BackgroundTasks
import Dispatch
import Foundation
import Locking

/// One run of a fresh workload on a machine of its own, disturbed at chosen moments.
///
/// Moments are reports of progress and the points that the workload names; they are counted from 1. What happens at one
/// happens on the thread of the work, before it goes on.
final class WorkloadRun: Sendable {
    enum Disturbance: Sendable {
        case expire(BGStopReason)
        /// Keeps the folders as they are at this moment, and then stops the run.
        case copyAndExpire(to: URL)
        case pause, promote, demote
        case fillVolume
    }

    /// What was seen of a run.
    struct Seen: Sendable {
        var moments = 0
        var outcome: BGTaskScheduler.Outcome?
        var wasDisturbed = false
        var findings: [WorkloadFinding] = []
        /// Its handlers did not return in time: nothing can be tried after it.
        var isStuck = false
        var duration: Duration = .zero
    }

    fileprivate struct State: Sendable {
        var seen = Seen()
        var isAsync = false
        var task: BGTask?
        var fraction: Double?
        /// Moments since it was asked to pause.
        var sincePause: Int?
        /// Files and units of progress when it ended.
        var atEnd: (output: WorkloadFiles, units: Int64)?
        var handlerTook: Duration?
        /// Its expiration handler, after it was asked to stop and until the work has been held up for it.
        var handler: CallOnce?
        var hadNoHandler = false
        var isOverdue = false
        var reachedAfterEnd = false
    }

    static let program = "org.example.workload"
    static let identifier = "org.example.workload.run"
    /// The name that ``KillPoint`` knows moments by.
    static let killPoint = "bgrun.workload.moment"

    let machine: SimulatedMachine
    private let folder: URL
    private let volume: SimulatedVolume
    private let trial: String
    private let disturbances: [Int: Disturbance]?
    private let limits: WorkloadCheck.Limits
    private let state = Lock(State())
    private let expired = Latch()
    private let ended = Latch()
    private let settled = Latch()
    private let handlerReturned = DispatchSemaphore(value: 0)
    private let submitted = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - folder: Has the folders of its stage.
    ///   - trial: What is told of findings.
    ///   - disturbances: By moment; nil to be killed at the one that is armed.
    ///   - limits: Of real time.
    /// - Throws: ``ManifestError`` when the manifest in here is not sound.
    init(
        in folder: URL, trial: String, disturbances: [Int: Disturbance]?, limits: WorkloadCheck.Limits
    ) throws(ManifestError) {
        machine = try SimulatedMachine(
            program: Self.program, modes: Set(BGTaskScheduler.Mode.allCases), permittedIdentifiers: [Self.identifier])
        self.folder = folder
        self.trial = trial
        self.disturbances = disturbances
        self.limits = limits
        volume = SimulatedVolume()
    }

    var stage: WorkloadStage {
        WorkloadStage(folder, volume: volume) { [weak self] in self?.momentCame(byWork: true) }
    }

    var volumeWasUsed: Bool { volume.writes > 0 }
    var volumeWasFull: Bool { volume.refusals > 0 }

    /// - Parameters:
    ///   - workload: Made for ``stage``.
    ///   - delay: For workloads without moments: what is planned for the first one happens after this real time.
    /// - Returns: What was seen.
    func play(_ workload: Workload, after delay: Duration? = nil) async -> Seen {
        state.withLock { $0.isAsync = workload.isAsync }
        let scheduler = machine.scheduler
        scheduler.host.observe { [weak self] in self?.happened($0) }
        let isRegistered = workload.register(scheduler, Self.identifier) { [weak self] task in
            self?.begin(task)
        }
        let began = ContinuousClock.now
        do {
            guard isRegistered else { throw Unregistered() }
            defer { submitted.signal() }
            // Nothing blocks on a simulated machine, and no other thread has to be found for it.
            try scheduler.submit(Self.request(workload.mode))
        } catch {
            find(.doesNotRun, "The workload could not be started: \(error)")
            return state.withLock(\.seen)
        }
        if let delay { disturbLater(delay, tries: 100) }
        await waitForEnd()
        state.withLock { $0.seen.duration = began.duration(to: .now) }
        await waitForHandlers()
        lookBack()
        return state.withLock(\.seen)
    }

    /// On the thread of the work, which does not begin before the submission has returned: until then its progress would
    /// be told by that thread, late.
    private func begin(_ task: BGTask) {
        state.withLock { $0.task = task }
        _ = submitted.wait(timeout: .now() + limits.patience / .seconds(1))
    }

    private struct Unregistered: Error, CustomStringConvertible {
        var description: String { "its handler was not accepted" }
    }

    private static func request(_ mode: BGTaskScheduler.Mode) -> BGTaskRequest {
        switch mode {
        case .refresh: BGAppRefreshTaskRequest(identifier: identifier)
        case .processing: BGProcessingTaskRequest(identifier: identifier)
        case .continued: continuedRequest
        }
    }

    private static var continuedRequest: BGContinuedProcessingTaskRequest {
        let request = BGContinuedProcessingTaskRequest(identifier: identifier, title: "Workload", subtitle: "")
        // In the foreground, wherever the check itself runs.
        request.initiator = .terminal
        return request
    }

    // MARK: Waiting

    private func waitForEnd() async {
        guard await expired.wait(atMost: limits.patience) else {
            find(.neverCompleted, "The task was not completed within \(limits.patience)")
            return await giveUp()
        }
        if await ended.wait(atMost: limits.grace) { return }
        find(.graceExceeded, "The task was asked to stop and was not completed within \(limits.grace)")
        await giveUp()
    }

    /// Ends the task as a scheduler does whose patience is over.
    private func giveUp() async {
        state.withLock { $0.isOverdue = true }
        machine.scheduler.simulateExpiration(forTaskWithIdentifier: Self.identifier, reason: .shutdown)
        machine.clock.advance(by: .seconds(60))
        _ = await ended.wait(atMost: limits.patience)
    }

    private func waitForHandlers() async {
        machine.scheduler.host.handlerCalls.notify(queue: .global()) { [settled] in settled.open() }
        guard await settled.wait(atMost: max(limits.patience, limits.grace)) else {
            if !state.withLock(\.isOverdue) {
                find(.workAfterCompletion, "A handler has not returned though its task was completed")
            }
            return state.withLock { $0.seen.isStuck = true }
        }
    }

    // MARK: Events

    private func happened(_ event: BGTaskScheduler.Event) {
        switch event.kind {
        case .progressed(let fraction):
            progressed(to: fraction)
            momentCame(byWork: false)
        case .paused:
            state.withLock { $0.sincePause = nil }
            machine.scheduler.resume(taskWithIdentifier: Self.identifier)
        case .expired: expired.open()
        case .diagnostic(let diagnostic) where diagnostic.code == "completedTwice":
            let isItsFault = state.withLock { !$0.hadNoHandler && !$0.isOverdue }
            if isItsFault { find(.completedTwice, "setTaskCompleted was called more than once") }
        case .ended(let outcome):
            let output = WorkloadFiles(of: folder)
            state.withLock { state in
                state.seen.outcome = outcome
                state.atEnd = (output, state.units)
            }
            expired.open()
            ended.open()
        default: break
        }
    }

    private func progressed(to fraction: Double?) {
        let former = state.withLock { state in
            defer { state.fraction = fraction }
            return state.fraction
        }
        guard let former, let fraction, fraction < former - 1e-9 else { return }
        find(.progressFell, "Progress fell from \(former) to \(fraction)")
    }

    private func momentCame(byWork: Bool) {
        // Quick work would be done before it has heard that it is to stop.
        awaitHandler()
        defer { if byWork { awaitHandler() } }
        let (moment, isIgnored) = state.withLock { state -> (Int?, Bool) in
            if state.seen.outcome != nil {
                state.reachedAfterEnd = state.reachedAfterEnd || byWork
                return (nil, false)
            }
            state.seen.moments += 1
            state.sincePause? += 1
            let task = state.task as? BGContinuedProcessingTask
            let isIgnored = (state.sincePause ?? 0) > 2 * (task?.terms.concurrency ?? 1) + 1
            if isIgnored { state.sincePause = nil }
            return (state.seen.moments, isIgnored)
        }
        if isIgnored {
            find(.pauseIgnored, "The work went on after it was asked to pause")
            machine.scheduler.resume(taskWithIdentifier: Self.identifier)
        }
        guard let moment else { return }
        if let disturbances { disturb(disturbances[moment]) } else { KillPoint.reach(Self.killPoint) }
    }

    /// Holds the work up until its expiration handler has returned. An expiration that is asked for while an event is told
    /// is carried out after that, so then the work is held up at its next moment.
    private func awaitHandler() {
        let call = state.withLock { state in
            guard state.task?.stopReason != nil else { return nil as CallOnce? }
            defer { state.handler = nil }
            return state.handler
        }
        guard let call else { return }
        // The host calls it too, as soon as the system has a thread for that, which may be long.
        Thread { call() }.start()
        _ = handlerReturned.wait(timeout: .now() + limits.grace / .seconds(1))
    }

    /// What is planned for the first moment happens after a time, but not before the work has set its handler.
    private func disturbLater(_ delay: Duration, tries: Int) {
        DispatchQueue.global().asyncAfter(deadline: .now() + delay / .seconds(1)) { [weak self] in
            guard let self else { return }
            let isReady = state.withLock { $0.isAsync ? $0.task != nil : $0.task?.expirationHandler != nil }
            if isReady || tries == 0 {
                disturb(disturbances?[1])
            } else {
                disturbLater(.milliseconds(1), tries: tries - 1)
            }
        }
    }

    private func disturb(_ disturbance: Disturbance?) {
        guard let disturbance, state.withLock({ $0.seen.outcome == nil }) else { return }
        state.withLock { $0.seen.wasDisturbed = true }
        let scheduler = machine.scheduler
        switch disturbance {
        case .expire(let reason): expire(reason)
        case .copyAndExpire(let copy):
            do {
                try WorkloadFiles(of: folder).write(to: copy)
            } catch {
                find(.doesNotRun, "The folders could not be copied: \(error)")
            }
            expire(.shutdown)
        case .pause:
            state.withLock { $0.sincePause = 0 }
            scheduler.pause(taskWithIdentifier: Self.identifier)
        case .promote: scheduler.promote(taskWithIdentifier: Self.identifier)
        case .demote:
            machine.clock.advance(by: .seconds(10))
            scheduler.demote(taskWithIdentifier: Self.identifier)
        case .fillVolume: volume.fill()
        }
    }

    private func expire(_ reason: BGStopReason) {
        let (task, isAsync) = state.withLock { ($0.task, $0.isAsync) }
        if let task, let handler = task.expirationHandler {
            let call = CallOnce { [weak self] in
                let began = ContinuousClock.now
                handler()
                let took = began.duration(to: .now)
                self?.state.withLock { $0.handlerTook = took }
                self?.handlerReturned.signal()
            }
            task.expirationHandler = { call() }
            state.withLock { $0.handler = call }
        }
        let hadNoHandler = task.map { !isAsync && $0.expirationHandler == nil && !$0.isComplete } ?? false
        state.withLock { $0.hadNoHandler = hadNoHandler }
        let isAsked = machine.scheduler.simulateExpiration(forTaskWithIdentifier: Self.identifier, reason: reason)
        if !isAsked { state.withLock { $0.handler = nil } }
    }

    // MARK: Looking back

    private func find(_ code: WorkloadFinding.Code, _ seen: String) {
        state.withLock { $0.seen.findings.append(WorkloadFinding(code, seen, in: trial)) }
    }

    private func lookBack() {
        let output = WorkloadFiles(of: folder)
        let state = state.withLock(\.self)
        if state.hadNoHandler {
            find(.noExpirationHandler, "The task was asked to stop when it had no expiration handler")
        }
        if let took = state.handlerTook, took > limits.grace {
            find(.slowExpirationHandler, "The expiration handler took \(took)")
        }
        if state.seen.outcome?.isCompleted == true, state.task is BGContinuedProcessingTask {
            if state.seen.moments == 0 {
                find(.progressIncomplete, "The task succeeded and has reported no progress")
            } else if let fraction = state.fraction, fraction < 1 - 1e-9 {
                find(.progressIncomplete, "The task succeeded with a progress of \(fraction)")
            }
        }
        guard let atEnd = state.atEnd, !state.isOverdue, !state.hadNoHandler else { return }
        let changed = output.differing(from: atEnd.output)
        if let file = changed.first {
            find(.workAfterCompletion, "\"\(file)\" changed after the task was completed")
        } else if state.units != atEnd.units || state.reachedAfterEnd {
            find(.workAfterCompletion, "The work went on after the task was completed")
        }
    }
}

extension WorkloadRun.State {
    fileprivate var units: Int64 { (task as? BGContinuedProcessingTask)?.progress.completedUnitCount ?? 0 }
}

extension BGTaskScheduler.Outcome {
    var isCompleted: Bool {
        if case .completed = self { true } else { false }
    }
}
