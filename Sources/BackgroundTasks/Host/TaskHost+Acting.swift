import Dispatch
import Foundation
import SchedulingCore
import TaskModel

extension TaskHost {
    /// Carries out one decision.
    func act(_ action: SchedulerAction) {
        switch action {
        case .launch(let job, let launch): self.launch(job, launch)
        case .pause(let job, _):
            continuedTask(job)?.pauseGate.pause()
            tell(.pausing, job)
        case .resume(let job, let terms):
            if let task = continuedTask(job) {
                task.change(terms)
                task.pauseGate.resume()
            }
            tell(.resumed, job)
        case .setTerms(let job, let terms):
            continuedTask(job)?.change(terms)
            tell(.termsChanged(BGRunTerms(terms)), job)
        case .moveToCPU(let job):
            continuedTask(job)?.moveToCPU()
            tell(.movedToCPU, job)
        case .expire(let job, let reason, _): expire(job, reason)
        case .kill(let job): overran(job)
        case .requeue(let job, let notBefore):
            finish(job)
            let offset = read(\.wallOffset)
            tell(.waitsAgain(notBefore: Date(notBefore + offset)), job)
        case .end(let job, let outcome):
            // Told first: the work may be quick to submit again when it hears of its end.
            tell(.ended(.init(outcome)), job)
            finish(job)
            perform { state, _ in
                state.own.protection[job] = nil
                state.own.display.forget(job)
            }
        case .dismiss(let job): tell(.dismissed, job: job, identifier: nil)
        case .note(let job, let note): tell(.init(note), job)
        }
    }

    private func tell(_ kind: BGTaskScheduler.Event.Kind, _ job: JobID) {
        let identifier = read { $0.scheduler.request(of: job)?.identifier.rawValue }
        tell(kind, job: job, identifier: identifier)
    }

    func task(_ job: JobID) -> BGTask? { read { $0.own.running[job]?.task } }

    private func continuedTask(_ job: JobID) -> BGContinuedProcessingTask? { task(job) as? BGContinuedProcessingTask }

    // MARK: Launching

    private func launch(_ job: JobID, _ launch: SchedulerAction.Launch) {
        let identifier = launch.request.identifier
        let (handler, protection) = read { state in
            let pattern = state.scheduler.handler(for: identifier, program: state.program)
            return (pattern.flatMap { state.own.handlers[$0] }, state.own.protection[job])
        }
        guard let handler else {
            // It was there when the request was taken: a new manifest has taken it away since.
            perform { state, now in state.add(state.scheduler.broke(job, code: "handlerMissing", at: now)) }
            return
        }
        let task = makeTask(job, launch, isResearch: protection != nil, isCancellable: handler.isAsync)
        perform { state, _ in state.own.running[job] = .init(task: task) }
        tell(.started(attempt: launch.attempt, terms: BGRunTerms(launch.terms)), job)
        switch handler.form {
        case .closure(let queue, let body):
            // Each launch has a serial queue: one that blocks holds up no other.
            let queue = queue ?? DispatchQueue(label: identifier.rawValue, target: handlerQueue)
            queue.async(group: handlerCalls) {
                task.launchBegan()
                body(task)
                task.launchReturned()
            }
        case .async(let executor, let body):
            let work = Task(executorPreference: executor ?? handlerExecutor) {
                task.launchBegan()
                do {
                    try await body(task)
                    if !task.isComplete { task.setTaskCompleted(success: true) }
                } catch {
                    if !task.isComplete { task.setTaskCompleted(success: false) }
                }
                task.launchReturned()
            }
            // It may have ended by now, and then nobody will ask for its work any more.
            perform { state, _ in state.own.running[job]?.work = work }
        }
    }

    private func makeTask(
        _ job: JobID, _ launch: SchedulerAction.Launch, isResearch: Bool, isCancellable: Bool
    ) -> BGTask {
        let identifier = launch.request.identifier.rawValue
        switch launch.request.kind {
        case .refresh:
            return BGAppRefreshTask(identifier: identifier, job: job, isCancellable: isCancellable, reports: self)
        case .processing where isResearch:
            return BGHealthResearchTask(identifier: identifier, job: job, isCancellable: isCancellable, reports: self)
        case .processing:
            return BGProcessingTask(identifier: identifier, job: job, isCancellable: isCancellable, reports: self)
        case .continued:
            return BGContinuedProcessingTask(
                identifier: identifier, job: job, title: launch.request.title, subtitle: launch.request.subtitle,
                terms: launch.terms, device: launch.device, isCancellable: isCancellable, reports: self)
        }
    }

    // MARK: Ending

    private func expire(_ job: JobID, _ reason: StopReason) {
        let (task, work) = read { ($0.own.running[job]?.task, $0.own.running[job]?.work) }
        tell(.expired(BGStopReason(reason)), job)
        task?.expire(reason)
        work?.cancel()
    }

    /// The grace is over and the work has not ended: a process cannot kill a part of itself.
    private func overran(_ job: JobID) {
        guard let task = task(job) else { return }
        let isStrict = perform { state, _ in
            state.note(
                Diagnostic(
                    code: "graceExceeded",
                    sentence: "\"\(task.identifier)\" was asked to stop and was not completed in time.",
                    fix: "Stop at the next chunk when the expiration handler is called, and complete the task."),
                job: job, identifier: task.identifier)
            return state.own.isStrict
        }
        tell(.graceExceeded, job)
        // Strict mode is chosen to find mistakes of the program, by a trap where each is made.
        if isStrict { fatalError("graceExceeded: \(task.identifier) was not completed within its grace") }
    }

    private func finish(_ job: JobID) {
        let running = perform { state, _ in state.own.running.removeValue(forKey: job) }
        running?.task.end()
        running?.work?.cancel()
    }
}

extension BGTaskScheduler.Event.Kind {
    fileprivate init(_ note: SchedulerAction.Note) {
        switch note {
        case .stallWarning(let silence, let limit): self = .stallWarning(silence: silence, limit: limit)
        case .stalled(let silence, let limit): self = .stalled(silence: silence, limit: limit)
        case .slow(let share): self = .slow(share: share)
        case .progressFell(let from, let to): self = .progressFell(from: from, to: to)
        case .pauseIgnored: self = .pauseIgnored
        case .overdue(let waited): self = .overdue(waited: waited)
        }
    }
}
