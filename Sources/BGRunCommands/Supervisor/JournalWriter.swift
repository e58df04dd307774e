import Dispatch
import Locking
import TaskModel
import TaskStore

/// Brings records into the journal, by itself on a thread of its own. A record is written through before its worker
/// goes on; that costs some ten microseconds, since the store waits for no disk (WAL, `synchronous = NORMAL`). Where items
/// take not much longer than that, a few records are written together: a kill then costs these few milliseconds.
final class JournalWriter: Sendable {
    /// An item that takes longer is written down before anything else.
    private static let longestBriefItem: Duration = .milliseconds(1)
    /// Records wait for others so long at most, and so many of them.
    private static let longestWait: Duration = .milliseconds(4)
    private static let mostWaiting = 16

    private struct Waiting {
        var records: [ItemRecord] = []
        /// When the first of them was added.
        var since: Duration = .zero
        /// One of them is of an item that took its time.
        var isUrgent = false
    }

    /// Outputs are noted this many items ahead of the work: few enough that a kill leaves little that was noted and not
    /// begun, enough that noting costs next to nothing.
    private static let planAhead = 16

    private let store: TaskStore
    private let job: JobRecord
    private let queue = DispatchQueue(label: "bgrun.journal")
    private let waiting = Lock(Waiting())
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

    /// Takes a record, which does not wait.
    func add(_ record: ItemRecord) {
        waiting.withLock { waiting in
            waiting.records.append(record)
            waiting.isUrgent = true
        }
    }

    /// Takes a record that may wait for others.
    ///
    /// - Parameters:
    ///   - record: How an item ended.
    ///   - length: How long it took.
    ///   - now: The time.
    func add(_ record: ItemRecord, after length: Duration, at now: Duration) {
        waiting.withLock { waiting in
            if waiting.records.isEmpty { waiting.since = now }
            waiting.records.append(record)
            if length > Self.longestBriefItem { waiting.isUrgent = true }
        }
    }

    /// When records are to be written that wait for others; nil while there are none.
    var due: Duration? {
        waiting.withLock { $0.records.isEmpty ? nil : $0.since + Self.longestWait }
    }

    private func isDue(at now: Duration) -> Bool {
        waiting.withLock { waiting in
            !waiting.records.isEmpty
                && (waiting.isUrgent || waiting.records.count >= Self.mostWaiting
                    || now >= waiting.since + Self.longestWait)
        }
    }

    /// Begins to write what was added and may not wait for more; returns at once.
    func flush(at now: Duration) {
        guard isDue(at: now) else { return }
        queue.async { self.writeWaiting() }
    }

    /// Returns when everything that was added and may not wait for more is written, or could not be.
    func settle(at now: Duration) {
        if isDue(at: now) { settle() }
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
            defer { waiting = Waiting() }
            return waiting.records
        }
        guard !records.isEmpty else { return }
        do {
            try store.record(records, of: job)
        } catch {
            failure.withLock { $0 = $0 ?? error }
        }
    }
}
