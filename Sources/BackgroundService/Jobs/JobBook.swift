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

    private struct State {
        var entries: [JobID: JobEntry] = [:]
        var ended: [JobID] = []
        var trouble: StoreError?
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

    /// Returns when everything so far is in the store.
    ///
    /// - Throws: ``StoreError`` of anything that could not be kept since the last call.
    func flush() throws(StoreError) {
        writer.sync {}
        let trouble = state.withLock { state in
            defer { state.trouble = nil }
            return state.trouble
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
        let isNew = state.withLock { state in
            guard state.entries[job]?.wantsSaving == false else { return false }
            state.entries[job]?.wantsSaving = true
            return true
        }
        guard isNew else { return }
        writer.async { [self] in
            let stored = state.withLock { state in
                state.entries[job]?.wantsSaving = false
                return state.entries[job]?.stored
            }
            guard let stored else { return }
            do throws(StoreError) {
                try store.save([stored])
            } catch {
                state.withLock { $0.trouble = error }
            }
        }
    }
}
