public import Foundation
import Locking
import TaskModel

/// A run of a ``BGContinuedProcessingTaskRequest``: work that shows its progress and may be promoted and paused.
public final class BGContinuedProcessingTask: BGTask, ProgressReporting, @unchecked Sendable {
    private struct Shown {
        var title: String
        var subtitle: String
        var terms: BGRunTerms
        var device: String?
        var termsHandler: (@Sendable (BGRunTerms) -> Void)?
    }

    let taskProgress: TaskProgress
    let pauseGate = PauseGate()
    private let shown: Lock<Shown>

    init(
        identifier: String, job: JobID, title: String, subtitle: String, terms: RunTerms, device: String?,
        isCancellable: Bool, reports: any TaskReports
    ) {
        shown = Lock(Shown(title: title, subtitle: subtitle, terms: BGRunTerms(terms), device: device))
        taskProgress = TaskProgress(parent: nil)
        super.init(identifier: identifier, job: job, isCancellable: isCancellable, reports: reports)
    }

    override class var kind: TaskKind? { .continued }

    /// What has been done of what there is to do. Work that shows no progress for long is stopped as stalled.
    public var progress: Progress { taskProgress }
    /// As last set by ``updateTitle(_:subtitle:)``, at first the request's.
    public var title: String { shown.withLock(\.title) }
    /// As last set by ``updateTitle(_:subtitle:)``, at first the request's.
    public var subtitle: String { shown.withLock(\.subtitle) }

    /// Changes what is shown of the task, within 250 ms.
    public func updateTitle(_ title: String, subtitle: String) {
        shown.withLock {
            $0.title = title
            $0.subtitle = subtitle
        }
        reports?.retitled(job, title: title, subtitle: subtitle)
    }

    /// Counts units of work whose results are safe, and tells of the progress at once; from any number of threads.
    ///
    /// - Parameter units: Of ``progress``, at least 1.
    public func chunkCommitted(units: Int64) {
        precondition(units > 0, "a chunk has at least one unit")
        taskProgress.add(units)
        reports?.advanced(job)
    }

    /// Proves life in a phase without progress, such as compiling a kernel; each phase extends the limit once (rule 62).
    ///
    /// - Parameter phase: What is being done, a few words that stay the same throughout the phase.
    public func heartbeat(phase: String) {
        reports?.beat(job, phase: phase)
    }

    /// How the work is to behave from its next chunk on; changes with promotion, demotion and pacing.
    public var terms: BGRunTerms { shown.withLock(\.terms) }

    /// Called with the new terms whenever they change, on a queue of its own.
    public var termsHandler: (@Sendable (BGRunTerms) -> Void)? {
        get { shown.withLock(\.termsHandler) }
        set { shown.withLock { $0.termsHandler = newValue } }
    }

    /// The work should stop between two chunks until it is resumed.
    public var isPaused: Bool { pauseGate.isPaused }

    /// Returns when the work is not paused, has to stop, or its Swift task is cancelled; call it between chunks.
    public func waitWhilePaused() async {
        await pauseGate.wait { reports?.paused(job) }
    }

    /// As ``waitWhilePaused()`` for a thread that may block; never for one of Swift's own.
    @available(*, noasync)
    public func blockWhilePaused() {
        pauseGate.block { reports?.paused(job) }
    }

    /// Tells that the work stands still at a point from which it can go on, for work that waits in a way of its own.
    public func didPause() {
        reports?.paused(job)
    }

    /// Identity of the device that the work is to use; nil for the CPU. Changes when the device is lost.
    public var device: String? { shown.withLock(\.device) }

    func moveToCPU() {
        shown.withLock { $0.device = nil }
    }

    func change(_ terms: RunTerms) {
        let terms = BGRunTerms(terms)
        let handler = shown.withLock {
            $0.terms = terms
            return $0.termsHandler
        }
        if let handler { reports?.run({ handler(terms) }, job: job) }
    }

    override func expire(_ reason: StopReason) {
        super.expire(reason)
        pauseGate.openForGood()
    }

    override func end() {
        super.end()
        pauseGate.openForGood()
    }
}
