import Locking
import SchedulingCore
import TaskModel
import TaskStore

/// What jobs have shown of the devices (rule 35): the scheduler decides by it, and it outlives the service.
final class FailedDevices: Sendable {
    private let records: Lock<[String: DeviceRecord]>
    private let book: JobBook

    /// - Throws: ``StoreError`` where what an earlier service knew cannot be read.
    init(_ store: TaskStore, _ book: JobBook) throws(StoreError) {
        let known = try store.failedDevices()
        records = Lock(Dictionary(uniqueKeysWithValues: known.map { ($0.id, $0) }))
        self.book = book
    }

    /// For a scheduler whose time runs so far behind the wall clock.
    func health(wallOffset: Duration) -> [String: DeviceHealth] {
        records.withLock { records in
            records.mapValues { record in
                DeviceHealth(
                    failures: record.failures, quarantines: record.quarantines,
                    quarantinedUntil: record.quarantinedUntil.map { .seconds($0) - wallOffset })
            }
        }
    }

    /// A job gave a device up.
    ///
    /// - Parameters:
    ///   - device: As the scheduler knows it.
    ///   - reason: How it failed last.
    ///   - job: That gave it up.
    ///   - moment: Seconds since 1970.
    func failed(_ device: ComputeDevice, _ reason: String, in job: JobID, at moment: Double) {
        records.withLock { records in
            var record =
                records[device.id]
                ?? DeviceRecord(
                    id: device.id, name: device.name, failures: 0, quarantines: 0, quarantinedUntil: nil, reason: "",
                    job: 0, failed: 0)
            (record.reason, record.job, record.failed) = (reason, job.rawValue, moment)
            records[device.id] = record
        }
    }

    /// Keeps what the scheduler has made of it; one that did well again before it was left alone is no news any more.
    func keep(_ health: [String: DeviceHealth], wallOffset: Duration) {
        change { records in
            for (id, known) in health {
                records[id]?.failures = known.failures
                records[id]?.quarantines = known.quarantines
                records[id]?.quarantinedUntil = known.quarantinedUntil.map { ($0 + wallOffset).inSeconds }
                if known.failures + known.quarantines == 0 { records[id] = nil }
            }
        }
    }

    func forgetAll() { change { $0 = [:] } }

    private func change(_ body: (inout [String: DeviceRecord]) -> Void) {
        let changed = records.withLock { records -> [DeviceRecord]? in
            let before = records
            body(&records)
            return records == before ? nil : Array(records.values)
        }
        if let changed { book.keep(changed) }
    }
}
