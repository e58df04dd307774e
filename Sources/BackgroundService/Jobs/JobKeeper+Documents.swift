import BackgroundTasks
import Foundation
import SchedulingCore
package import ServiceAPI
import TaskModel
import TaskStore

/// How jobs stand, for lists.
extension JobKeeper {
    /// Active jobs and those that ended lately, in order of submission; with `all` every job that is known.
    ///
    /// - Throws: ``Refusal`` when the store cannot be read.
    package func documents(all: Bool) throws(Refusal) -> [JobDocument] {
        let active = book.jobs().compactMap { document($0) }
        let known = Set(active.map(\.id))
        let since = all ? 0 : host.wallNow.inSeconds - Self.lately
        do throws(StoreError) {
            let older = try store.latestJobs(all ? Self.maxListed : Self.maxLately).filter {
                !known.contains($0.id) && ($0.ended ?? 0) >= since
            }
            return (older.compactMap { Self.document(stored: $0) } + active).sorted { $0.id < $1.id }
        } catch {
            throw Refusal(code: error.code.rawValue, sentence: error.sentence, fix: error.fix)
        }
    }

    private static let maxListed = 1_000
    /// Seconds for which an ended job is listed without being asked for, and how many of them.
    private static let lately: Double = 86_400
    private static let maxLately = 20

    /// - Throws: ``Refusal`` when there is no such job.
    package func found(_ id: UInt64) throws(Refusal) -> JobDocument {
        if let document = document(JobID(id)) { return document }
        guard let stored = try? store.job(id), let document = Self.document(stored: stored) else {
            throw Self.unknown(id)
        }
        return document
    }

    func document(_ job: JobID) -> JobDocument? {
        guard let entry = book.entry(job), var document = Self.document(stored: entry.stored, entry.submission) else {
            return (try? store.job(job.rawValue)).flatMap { $0.flatMap { Self.document(stored: $0) } }
        }
        document.phase = entry.phase
        document.device = entry.device
        document.priorityTier = entry.tier
        document.processorLimit = processorLimits.limit(of: job)
        guard entry.stored.state != .ended else { return document }
        let process = process(job)?.identity.processID
        let (summary, reasons, waits, offset) = host.read { state in
            let scheduler = state.scheduler
            return (scheduler.summary(job), scheduler.why(job), scheduler.timePerReason(job), state.wallOffset)
        }
        guard let summary else { return document }
        // How it ended is known a moment after the scheduler has let it go; until then it is about to end.
        document.state = summary.state == .ended ? .stopping : .init(summary.state)
        if summary.state == .waiting, entry.stored.isPaused { document.state = .paused }
        document.priority = summary.isForeground ? .foreground : .background
        document.terms = summary.terms.map { .init($0) }
        document.fraction = summary.fraction ?? document.fraction
        document.attempt = summary.attempt
        document.process = process
        document.reasons = reasons.map { .init($0, wallOffset: offset) }
        for (code, time) in waits {
            let index = document.waited.firstIndex { $0.code == code.text }
            if let index {
                document.waited[index].seconds += time.inSeconds
            } else {
                document.waited.append(.init(code: code.text, seconds: time.inSeconds))
            }
        }
        return document
    }

    private static func document(stored: StoredJob) -> JobDocument? {
        JSONDocument.decode(JobSubmission.self, stored.submission).flatMap { document(stored: stored, $0) }
    }

    private static func document(stored: StoredJob, _ submission: JobSubmission) -> JobDocument? {
        let state: JobDocument.State =
            switch stored.state {
            case .waiting: .waiting
            case .running: .running
            case .ended: .ended
            }
        var document = JobDocument(
            id: stored.id, identifier: stored.identifier, mode: submission.mode, title: submission.title,
            subtitle: submission.subtitle, state: state, priority: .background, attempt: stored.attempts,
            submitted: stored.submitted, arguments: submission.arguments, folder: submission.folder)
        document.started = stored.started
        document.ended = stored.ended
        document.outcome = stored.outcome
        document.status = stored.status
        document.isResumable = stored.isResumable
        document.fraction = stored.fraction
        document.progress = stored.progress
        document.text = stored.text
        document.summary = stored.summary
        document.processorSeconds = stored.processorSeconds
        document.waited = stored.waited.sorted { $1.value < $0.value }.map { .init(code: $0.key, seconds: $0.value) }
        return document
    }

    /// What jobs that ran within the last seconds took of the machine.
    ///
    /// - Throws: ``Refusal`` when the store cannot be read.
    package func usage(period: Double) throws(Refusal) -> UsageDocument {
        energy.look()
        do throws(StoreError) {
            try book.flush()
            let begin = host.wallNow.inSeconds - period
            let taken = try store.energy(since: begin)
            let jobs = try store.jobs(since: begin)
            func joules(_ job: UInt64?, _ isMeasured: Bool) -> Double {
                taken.first { $0.job == job && $0.isMeasured == isMeasured }?.joules ?? 0
            }
            return UsageDocument(
                period: period,
                jobs: jobs.map { job in
                    UsageDocument.Entry(
                        id: job.id,
                        title: JSONDocument.decode(JobSubmission.self, job.submission)?.title ?? job.identifier,
                        processorSeconds: job.processorSeconds, runningSeconds: job.runningSeconds,
                        measuredJoules: joules(job.id, true), estimatedJoules: joules(job.id, false),
                        outputs: job.outputs, outcome: job.outcome)
                },
                othersJoules: joules(nil, true), processorWatts: energy.watts)
        } catch {
            throw Refusal(code: error.code.rawValue, sentence: error.sentence, fix: error.fix)
        }
    }
}

extension JobDocument.State {
    fileprivate init(_ state: JobSummary.State) {
        switch state {
        case .waiting: self = .waiting
        case .running: self = .running
        case .pausing: self = .pausing
        case .paused: self = .paused
        case .expiring: self = .stopping
        case .ended: self = .ended
        }
    }
}

extension JobDocument.Reason {
    fileprivate init(_ reason: WaitReason, wallOffset: Duration) {
        self.init(
            code: reason.code.text, sentence: reason.sentence, fix: reason.fix, measured: reason.measured,
            threshold: reason.threshold, holders: reason.holders.map(\.rawValue),
            earliest: reason.earliest.map { ($0 + wallOffset).inSeconds })
    }
}
