import Foundation
import Glibc
import Locking
import ServiceAPI
import ServiceClient
import TaskModel

/// Keeps one job of a service at work, at one priority: where one ends, the next begins.
final class WorkFeed: Sendable {
    private struct State {
        var job: UInt64 = 0
        var process: pid_t?
        /// Of jobs that have ended.
        var processorSeconds = 0.0
        var pictures = 0.0
        /// Of the present job.
        var progress = 0.0
        var isOver = false
        var trouble: ProcessError?
    }

    private let service: BenchService
    private let work: [String]
    private let priority: RunTerms.Priority
    private let state = Lock(State())
    private let ended = DispatchSemaphore(value: 0)

    /// Returns when the job works at its priority.
    ///
    /// - Throws: ``ProcessError``.
    init(_ service: BenchService, _ work: [String], _ priority: RunTerms.Priority) throws {
        self.service = service
        self.work = work
        self.priority = priority
        try begin()
        let thread = Thread { [self] in
            while follow() {}
            ended.signal()
        }
        thread.start()
    }

    /// Number and process of the present job.
    var job: UInt64 { state.withLock(\.job) }

    /// Processor time of all its jobs so far.
    var processorSeconds: Double {
        let (process, before) = state.withLock { ($0.process, $0.processorSeconds) }
        return before + (process.map { ProcessUse.seconds(below: $0) } ?? 0)
    }

    /// Pictures that were exported so far, with shares of those in work.
    var pictures: Double { state.withLock { $0.pictures + $0.progress } }

    /// Ends it.
    ///
    /// - Throws: ``ProcessError`` when a job could not be submitted meanwhile.
    func end() throws {
        let job = state.withLock { state in
            state.isOver = true
            return state.job
        }
        _ = try? service.client.ask(job, .cancel)
        ended.wait()
        if let trouble = state.withLock(\.trouble) { throw trouble }
    }

    private var output: String { service.folder + "/out" }

    private func begin() throws(ProcessError) {
        // What cannot be removed is skipped by the export, which then has too little to do and says so.
        _ = try? FileManager.default.removeItem(atPath: output)
        let id = try service.submit(work, to: output)
        if priority == .foreground { try service.ask(id, .foreground) }
        let job = try service.waitFor(id, "work at its priority") {
            $0.priority == priority && $0.process != nil && $0.priorityTier != nil && ($0.progress?.fraction ?? 0) > 0
        }
        state.withLock {
            $0.job = id
            $0.process = job.process
        }
    }

    private func follow() -> Bool {
        let job = self.job
        _ = try? service.client.follow(job, after: 0, isWaiting: false, isQuiet: false) { event in
            if let progress = event.progress {
                state.withLock { $0.progress = progress.fraction * Double(progress.itemsTotal) }
            }
            if event.kind == .ended, let job = event.job {
                state.withLock { state in
                    state.pictures += state.progress
                    state.progress = 0
                    state.processorSeconds += job.processorSeconds
                    state.process = nil
                }
            }
        }
        guard !state.withLock(\.isOver) else { return false }
        do throws(ProcessError) {
            try begin()
        } catch {
            state.withLock { state in
                if !state.isOver { state.trouble = error }
            }
            return false
        }
        // It may have been ended before the new job had its number.
        if state.withLock(\.isOver) { _ = try? service.client.ask(self.job, .cancel) }
        return true
    }
}
