import Dispatch
import Locking
import TaskModel
import TaskStore

/// Brings records into the journal, by itself on a thread of its own. A record is written through before its worker
/// goes on; that costs some ten microseconds, since the store waits for no disk (WAL, `synchronous = NORMAL`).
final class JournalWriter: Sendable {
    /// Outputs are noted this many items ahead of the work: few enough that a kill leaves little that was noted and not
    /// begun, enough that noting costs next to nothing.
    private static let planAhead = 16

    private let store: TaskStore
    private let job: JobRecord
    private let queue = DispatchQueue(label: "bgrun.journal")
    private let waiting = Lock<[ItemRecord]>([])
    private let failure = Lock<StoreError?>(nil)

    init(store: TaskStore, job: JobRecord) {
        self.store = store
        self.job = job
    }

    /// The first write that failed; the job should stop then.
    var error: StoreError? { failure.withLock { $0 } }

    /// Notes the outputs of an item and of those after it, unless that was done. Returns when they are noted.
    func plan(_ work: some WorkPlan, from index: Int, planned: inout Int) throws(StoreError) {
        guard index >= planned else { return }
        let end = min(index + Self.planAhead, work.itemCount)
        try store.plan((planned..<end).flatMap { work.intents(of: $0) }, of: job)
        planned = end
    }

    /// Notes outputs of the whole job, before they are made.
    func plan(_ outputs: [PlannedOutput]) throws(StoreError) { try store.plan(outputs, of: job) }

    /// Notes of outputs that could not be made, since files stand at their paths, that these are somebody else's.
    func disown(_ outputs: [PlannedOutput]) {
        let theirs = outputs.map { output in
            var output = output
            output.foreign = ExistingFile(output.path)?.identity
            return output
        }
        do {
            try store.plan(theirs, of: job)
        } catch {
            failure.withLock { $0 = $0 ?? error }
        }
    }

    /// What is known about these paths.
    func known(_ paths: [String]) throws(StoreError) -> [PathKey: KnownOutput] { try store.known(paths) }

    func add(_ record: ItemRecord) {
        waiting.withLock { $0.append(record) }
    }

    /// Begins to write what was added; returns at once.
    func flush() {
        guard waiting.withLock({ !$0.isEmpty }) else { return }
        queue.async { self.writeWaiting() }
    }

    /// Returns when everything that was added is written, or could not be.
    func settle() {
        queue.sync { writeWaiting() }
    }

    /// Writes what is left, and how the job ended; returns when it is written.
    func finish(_ outcome: TaskOutcome, work: (bytes: Int, seconds: Double), now: Double) throws(StoreError) {
        settle()
        if let error { throw error }
        try store.end(job, outcome, work: work, now: now)
    }

    private func writeWaiting() {
        let records = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        guard !records.isEmpty else { return }
        do {
            try store.record(records, of: job)
        } catch {
            failure.withLock { $0 = $0 ?? error }
        }
    }
}
