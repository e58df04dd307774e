import Dispatch
import Foundation
import SchedulingCore
import ServiceAPI
import Locking
import TaskModel
import TaskStore

/// The jobs in memory, kept in the store on a queue of its own, so that no decision waits for a disk.
final class JobBook: Sendable {
    /// Ended jobs that stay in memory for a client that comes back.
    private static let maxEnded = 64
    /// Seconds until what could not be kept is tried again.
    private static let retryAfter = 5

    private struct State {
        var entries: [JobID: JobEntry] = [:]
        var ended: [JobID] = []
        /// What the store does not know yet.
        var unsaved: [JobID: StoredJob] = [:]
        /// Why not, where it was tried.
        var trouble: StoreError?
        var retries = false
    }

    private let store: TaskStore
    private let writer = DispatchQueue(label: "bgrun.jobs")
    private let state = Lock(State())

    init(store: TaskStore) {
        self.store = store
    }

    func add(_ entry: JobEntry, _ job: JobID) {
        state.withLock { $0.entries[job] = entry }
        save(job)
    }

    /// Changes an entry and keeps it in the store soon.
    func update(_ job: JobID, _ change: (inout JobEntry) -> Void) {
        touch(job, change)
        save(job)
    }

    /// Changes what the store does not keep.
    func touch(_ job: JobID, _ change: (inout JobEntry) -> Void) {
        state.withLock { state in
            guard var entry = state.entries[job] else { return }
            change(&entry)
            state.entries[job] = entry
        }
    }

    func entry(_ job: JobID) -> JobEntry? { state.withLock { $0.entries[job] } }

    func jobs() -> [JobID] { state.withLock { $0.entries.keys.sorted() } }

    /// An ended job may leave memory when others end after it.
    func ended(_ job: JobID) {
        state.withLock { state in
            state.ended.append(job)
            while state.ended.count > Self.maxEnded {
                let oldest = state.ended.removeFirst()
                // It may have been taken up again.
                if state.entries[oldest]?.isIdle == true { state.entries[oldest] = nil }
            }
        }
    }

    /// Sends nobody anything any more.
    func stopListeners() {
        state.withLock { state in
            for job in state.entries.keys { state.entries[job]?.stopListeners() }
        }
    }

    /// Returns when everything so far is in the store, or could not be kept.
    ///
    /// - Parameter job: Whose state is to be there; nil asks for that of all.
    /// - Throws: ``StoreError`` where it is not. It is tried again later.
    func flush(_ job: JobID? = nil) throws(StoreError) {
        writer.sync {}
        let trouble = state.withLock { state in
            let isKept = job.map { state.unsaved[$0] == nil } ?? state.unsaved.isEmpty
            return isKept ? nil : state.trouble
        }
        if let trouble { throw trouble }
    }

    /// Stopped jobs of this work have nothing left to go on with: another one does.
    func takeOver(_ identifier: String) {
        state.withLock { state in
            for (job, entry) in state.entries where entry.stored.identifier == identifier {
                if entry.stored.state == .ended { state.entries[job]?.stored.isResumable = false }
            }
        }
        write { store throws(StoreError) in try store.takeOver(identifier) }
    }

    /// Keeps what was taken of the machine's energy until a moment (seconds since 1970).
    func keep(_ energy: [EnergyShares.Part], at moment: Double) {
        let records = energy.map { part in
            EnergyRecord(job: part.job?.rawValue, joules: part.joules, isMeasured: part.isMeasured)
        }
        write { store throws(StoreError) in try store.addEnergy(records, at: moment) }
    }

    /// Keeps what is known of devices that failed.
    func keep(_ devices: [DeviceRecord]) {
        write { store throws(StoreError) in try store.replaceFailedDevices(devices) }
    }

    private func write(_ body: @escaping @Sendable (TaskStore) throws(StoreError) -> Void) {
        writer.async { [self] in
            do throws(StoreError) {
                try body(store)
            } catch {
                state.withLock { $0.trouble = error }
            }
        }
    }

    private func save(_ job: JobID) {
        // It may have left memory by the time it is written.
        state.withLock { $0.unsaved[job] = $0.entries[job]?.stored ?? $0.unsaved[job] }
        writer.async { [self] in saveAll() }
    }

    private func saveAll() {
        let unsaved = state.withLock(\.unsaved)
        guard !unsaved.isEmpty else { return }
        do throws(StoreError) {
            try store.save(unsaved.values.sorted { $0.id < $1.id })
            state.withLock { state in
                for (job, stored) in unsaved where state.unsaved[job] == stored { state.unsaved[job] = nil }
                state.trouble = nil
            }
        } catch {
            let retries = state.withLock { state in
                state.trouble = error
                defer { state.retries = true }
                return !state.retries
            }
            guard retries else { return }
            writer.asyncAfter(deadline: .now() + .seconds(Self.retryAfter)) { [self] in
                state.withLock { $0.retries = false }
                saveAll()
            }
        }
    }
}
