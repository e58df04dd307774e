import BackgroundTasks
import Foundation
import Glibc
import JobLink
import SchedulingCore
import ServiceAPI
import Locking
import SystemText
import TaskModel
import TaskStore
import WorkerPriority

/// Carries out what the scheduler decides.
extension JobKeeper {
    /// Time for what is in work when a job is to stop; what is not finished then is done again when it goes on.
    private static var longestStop: Duration { .milliseconds(150) }

    func act(_ action: SchedulerAction) {
        switch action {
        case .launch(let job, let launch): self.launch(job, launch)
        case .pause(let job, _):
            process(job)?.send(.pause)
            // A command stands still at once; it does not know that it does.
            if process(job)?.work == .command { host.perform { scheduler, now in scheduler.paused(job, at: now) } }
            publish(job)
        case .resume(let job, let terms):
            apply(terms.priority, to: job)
            process(job)?.send(.resume(terms))
            publish(job)
        case .setTerms(let job, let terms):
            apply(terms.priority, to: job)
            process(job)?.send(.terms(terms))
            publish(job)
        case .moveToCPU(let job):
            process(job)?.send(.leaveDevice)
            publish(job)
        case .expire(let job, .sleep, _) where process(job)?.work == .command:
            // It has no checkpoint but its memory, and that outlives a sleep.
            asleep.withLock { _ = $0.insert(job) }
            process(job)?.send(.pause)
            host.perform { scheduler, now in scheduler.completed(job, success: false, at: now) }
        case .expire(let job, let reason, _):
            forgetRelaunch(job)
            // A lowered process stops late, so it is raised first.
            apply(.foreground, to: job)
            let chunk = host.read { $0.scheduler.summary(job)?.terms }?.chunkTarget ?? .milliseconds(50)
            process(job)?.send(.stop(reason, within: min(chunk * 2, Self.longestStop)))
            publish(job)
        case .kill(let job):
            tell(job, .note, "It did not stop in time and was killed.")
            process(job)?.kill()
        case .requeue(let job, let begin):
            forgetRelaunch(job)
            // Nobody knows whether a command that was ended with the machine may be run twice: its person decides.
            guard goesOn(job) else {
                return host.perform { scheduler, now in scheduler.stop(job, .shutdown, at: now) }
            }
            let losses = host.read { $0.scheduler.summary(job)?.losses } ?? 0
            book.update(job) {
                $0.stored.state = .waiting
                $0.stored.losses = losses
            }
            let delay = begin - machine.clock.now
            if delay > .zero { tell(job, .note, "It is tried again in \(Int(delay.inSeconds.rounded(.up))) s.") }
            publish(job)
        case .end(let job, let outcome): ended(job, outcome)
        case .dismiss: break
        case .note(let job, let note): tell(job, .note, note.sentence)
        }
    }

    // MARK: Launching

    private func launch(_ job: JobID, _ launch: SchedulerAction.Launch) {
        let waited = host.read { state in
            state.scheduler.timePerReason(job).map { ($0.code.text, $0.time.inSeconds) }
        }
        let now = host.wallNow.inSeconds
        book.update(job) { entry in
            entry.stored.state = .running
            entry.stored.attempts = launch.attempt
            entry.stored.started = entry.stored.started ?? now
            entry.device = launch.device
            for (code, seconds) in waited { entry.stored.waited[code, default: 0] += seconds }
        }
        if asleep.withLock({ $0.remove(job) }) != nil, let process = process(job) {
            apply(launch.terms.priority, to: job)
            process.send(.resume(launch.terms))
            return publish(job)
        }
        // The process before it may be about to leave; two of one job never run at once.
        if process(job) != nil {
            relaunches.withLock { $0[job] = launch }
            return
        }
        start(job, launch)
    }

    private func start(_ job: JobID, _ launch: SchedulerAction.Launch) {
        guard let submission = book.entry(job)?.submission else { return }
        // A service that is lost from here on leaves a command that nobody may run twice. What cannot be kept starts all the same.
        if submission.work == .command { try? book.flush(job) }
        let began = ContinuousClock.now
        do throws(SpawnFailure) {
            var plan = plan(job, submission, launch)
            let terms = host.read { $0.scheduler.summary(job)?.terms } ?? launch.terms
            let started = WorkerPriority.launch(
                plan.command, environment: &plan.environment,
                unit: "bgrun-job-\(getpid())-\(job)-\(launch.attempt)", priority: terms.priority)
            plan.command = started.command
            let process = try JobProcess(plan)
            processes.withLock { $0[job] = process }
            let identity = process.identity
            energy.started(job, session: identity.processID)
            book.update(job) {
                $0.stored.process = .init(id: identity.processID, start: identity.start, boot: identity.boot)
            }
            let priority = JobPriority(
                job, process: identity.processID, unit: started.unit, limits: processorLimits
            ) { [weak self] tier in
                self?.book.touch(job) { $0.tier = tier.rawValue }
            }
            priorities.withLock { $0[job] = priority }
            apply(terms.priority, to: job)
            process.send(.terms(terms))
            publish(job)
            process.listen { [weak self] report in
                self?.heard(report, of: job)
            } onExit: { [weak self] exit in
                self?.exited(job, exit, after: ContinuousClock.now - began)
            }
        } catch {
            book.update(job) { entry in
                entry.stored.text = error.sentence + "\n"
                // As a shell tells it.
                if submission.work == .command { entry.stored.status = error.status == ENOENT ? 127 : 126 }
            }
            host.perform { scheduler, now in scheduler.broke(job, code: "notStarted", at: now) }
        }
    }

    private func plan(
        _ job: JobID, _ submission: JobSubmission, _ launch: SchedulerAction.Launch
    ) -> JobProcess.Plan {
        var environment = submission.environment.isEmpty ? ProcessTexts.environment : submission.environment
        environment["BGRUN_JOB"] = "\(job)"
        environment[JobAttempt.variable] = "\(launch.attempt)"
        // For those that ask for none it is theirs to look for one.
        let wantsDevice = submission.requiresGPU || submission.prefersGPU
        environment[AssignedDevice.variable] = wantsDevice ? launch.device ?? AssignedDevice.none : nil
        let command: [String]
        switch submission.work {
        case .bgrun:
            command = [machine.executable] + JobChannelOption.added(to: submission.arguments, descriptor: 3)
        case .command:
            environment["BGRUN_PROGRESS_FD"] = "3"
            command = submission.arguments
        }
        return .init(
            work: submission.work, command: command, folder: submission.folder, environment: environment,
            umask: (submission.umask ?? machine.umask) & 0o777, log: place.log(of: job.rawValue))
    }

    /// Gives the processes of a job the share of the processor that its priority has.
    func apply(_ priority: RunTerms.Priority, to job: JobID) {
        priorities.withLock { $0[job] }?.want(priority)
    }

    // MARK: Hearing

    private func heard(_ report: JobReport, of job: JobID) {
        switch report {
        case .progress(let progress, let device):
            book.touch(job) { entry in
                entry.stored.progress = progress
                entry.phase = nil
                if !device.isEmpty { entry.device = device }
                entry.stored.fraction = progress.fraction
                entry.tell(JobEvent(kind: .progress, progress: progress, device: device))
            }
            let fraction = progress.itemsTotal > 0 ? progress.fraction : nil
            host.perform { scheduler, now in scheduler.progressed(job, to: fraction, at: now) }
        case .phase(let phase):
            book.touch(job) { $0.phase = phase }
            host.perform { scheduler, now in scheduler.heartbeat(job, phase: phase, at: now) }
        case .note(let text): tell(job, .note, text)
        case .record(let line): tell(job, .record, line)
        case .stopping(let reason, let text):
            book.touch(job) { $0.tell(JobEvent(kind: .stopping, text: text, reason: reason.code)) }
        case .paused:
            host.perform { scheduler, now in scheduler.paused(job, at: now) }
            publish(job)
        case .deviceFailed(let reason): deviceFailed(job, reason)
        case .ended: break
        }
    }

    // MARK: Ending

    private func exited(_ job: JobID, _ exit: JobProcess.Exit, after length: Duration) {
        processes.withLock { $0[job] = nil }
        priorities.withLock { $0.removeValue(forKey: job) }?.end()
        energy.ended(job, seconds: exit.processorSeconds)
        book.update(job) { entry in
            entry.stored.process = nil
            entry.stored.processorSeconds += exit.processorSeconds
            entry.stored.runningSeconds += length.inSeconds
            if let end = exit.end {
                entry.stored.text = end.text
                entry.stored.summary = end.summary
                entry.stored.status = end.status
                if let made = JSONDocument.decode(OutputCount.self, end.summary)?.outputs {
                    entry.stored.outputs = (entry.stored.outputs ?? 0) + made
                }
            } else if entry.submission.work == .command {
                // As a shell tells it.
                entry.stored.status = exit.signal.map { 128 + $0 } ?? exit.exitStatus
            }
        }
        if asleep.withLock({ $0.remove(job) }) != nil {
            return host.perform { scheduler, now in scheduler.stop(job, .hostRemoved, at: now) }
        }
        if let launch = relaunches.withLock({ $0.removeValue(forKey: job) }) { return start(job, launch) }
        let work = book.entry(job)?.submission.work ?? .command
        let fate = JobFate(exit, work: work, isExpiring: host.read { $0.scheduler.summary(job)?.state == .expiring })
        switch fate {
        case .completed(let failures):
            host.perform { scheduler, now in
                scheduler.progressed(job, to: 1, at: now)
                    + scheduler.completed(job, success: true, failures: failures, at: now)
            }
            keepDevices()
        case .stopped:
            host.perform { scheduler, now in scheduler.completed(job, success: false, at: now) }
        case .stoppedItself(.deviceLost): deviceLost(job)
        case .stoppedItself(.conditionLost(let condition)):
            // It may come back: a volume is full, or gone for a while.
            tell(job, .note, exit.end?.cause ?? "It stopped for want of \(condition.rawValue).")
            host.perform { scheduler, now in
                scheduler.crashed(job, code: "conditionLost.\(condition.rawValue)", at: now)
            }
        case .stoppedItself(let reason):
            host.perform { scheduler, now in
                scheduler.stop(job, reason, at: now) + scheduler.completed(job, success: false, at: now)
            }
        case .failed(let code, let sentence):
            if let sentence { tell(job, .note, sentence) }
            host.perform { scheduler, now in scheduler.broke(job, code: code, at: now) }
        case .brokeOff(let code, let sentence):
            tell(job, .note, sentence)
            host.perform { scheduler, now in scheduler.crashed(job, code: code, at: now) }
        }
    }

    /// Of the summary of an export or an inference.
    private struct OutputCount: Decodable {
        var outputs: Int
    }

    /// A start that waits for the process before is not wanted any more.
    private func forgetRelaunch(_ job: JobID) { relaunches.withLock { $0[job] = nil } }

    private func ended(_ job: JobID, _ outcome: TaskOutcome) {
        forgetRelaunch(job)
        let now = host.wallNow.inSeconds
        let isUnwanted = isUnwanted(job)
        let isDone = if case .completed = outcome { true } else { false }
        if outcome == .stopped(.shutdown) || outcome == .stopped(.sleep), !isUnwanted, goesOn(job) {
            book.update(job) { $0.stored.state = .waiting }
            // Without one that comes back the next service goes on with it.
            return isDraining ? () : waitForReturn(job)
        }
        if asleep.withLock({ $0.remove(job) }) != nil { process(job)?.send(.stop(.userStop, within: .zero)) }
        book.update(job) { entry in
            entry.stored.state = .ended
            entry.stored.ended = now
            entry.stored.outcome = isUnwanted ? TaskOutcome.cancelled.code : outcome.code
            entry.stored.isResumable = !isDone && !isUnwanted && outcome != .stopped(.replaced)
            if isDone { entry.stored.fraction = 1 }
            entry.phase = nil
            entry.tier = nil
        }
        forgetUnwanted(job)
        let document = document(job)
        book.touch(job) { $0.tell(JobEvent(kind: .ended, job: document)) }
        book.ended(job)
        repeatIfWanted(job, outcome)
        checkForIdleness()
    }

    /// Has the scheduler start a job again that it ended because the machine leaves.
    private func waitForReturn(_ job: JobID) {
        guard let entry = book.entry(job) else { return }
        host.perform { scheduler, now in
            let request = entry.submission.request(program: Self.program)
            return scheduler.dismiss(job, at: now)
                + scheduler.adopt(
                    request, id: job, program: Self.program, submitted: now, attempts: entry.stored.attempts, at: now)
                + (entry.attachedClients == 0 ? scheduler.demote(job, at: now) : [])
                + (entry.stored.isPaused ? scheduler.pause(job, at: now) : [])
        }
        publish(job)
    }

    /// Whether work that was stopped with its service or its machine may be started again without being asked for.
    private func goesOn(_ job: JobID) -> Bool {
        guard let entry = book.entry(job) else { return false }
        if asleep.withLock({ $0.contains(job) }) { return true }
        return entry.submission.work == .bgrun || entry.stored.status == JobFate.tryAgain
    }

    /// Asks for the next run of what is to run every so often.
    private func repeatIfWanted(_ job: JobID, _ outcome: TaskOutcome) {
        guard let entry = book.entry(job), let interval = entry.submission.interval, !isDraining else { return }
        if case .stopped = outcome { return }
        if outcome == .cancelled { return }
        var next = entry.submission
        next.earliestBegin = max((entry.stored.started ?? entry.stored.submitted) + interval, host.wallNow.inSeconds)
        next.requestKey = nil
        next.foreground = false
        do throws(Refusal) {
            _ = try submit(next)
        } catch {
            tell(job, .note, "Its next run was refused: \(error.sentence)")
        }
    }

    // MARK: Telling

    func tell(_ job: JobID, _ kind: JobEvent.Kind, _ text: String) {
        book.touch(job) { $0.tell(JobEvent(kind: kind, text: text)) }
    }

    /// Tells whoever listens how the job stands.
    func publish(_ job: JobID) {
        guard let document = document(job) else { return }
        book.touch(job) { $0.tell(JobEvent(kind: .job, job: document)) }
    }
}

extension SchedulerAction.Note {
    /// For a person.
    fileprivate var sentence: String {
        switch self {
        case .stallWarning(let silence, let limit):
            "No progress for \(Int(silence.inSeconds)) s; it is stopped after \(Int(limit.inSeconds)) s."
        case .stalled(let silence, let limit):
            "No progress for \(Int(silence.inSeconds)) s, and \(Int(limit.inSeconds)) s are allowed: it is stopped."
        case .slow(let share): "It runs at \(Int(share * 100)) % of its earlier speed."
        case .progressFell(let from, let to): "Its progress fell from \(Int(from * 100)) to \(Int(to * 100)) %."
        case .pauseIgnored: "It was asked to pause and goes on all the same."
        case .overdue(let waited): "It has waited for \(Int(waited.inSeconds / 3600)) h."
        }
    }
}
