import GRDB

/// What jobs have shown of a device (rule 35). Times count seconds since 1970.
package struct DeviceRecord: Hashable, Sendable {
    package var id: String
    package var name: String
    /// In a row, since the last success or quarantine.
    package var failures: Int
    package var quarantines: Int
    package var quarantinedUntil: Double?
    /// How it failed last, in which job and when.
    package var reason: String
    package var job: UInt64
    package var failed: Double

    package init(
        id: String, name: String, failures: Int, quarantines: Int, quarantinedUntil: Double?, reason: String,
        job: UInt64, failed: Double
    ) {
        self.id = id
        self.name = name
        self.failures = failures
        self.quarantines = quarantines
        self.quarantinedUntil = quarantinedUntil
        self.reason = reason
        self.job = job
        self.failed = failed
    }
}

/// Devices that failed, until a person says that they are well.
extension TaskStore {
    package func failedDevices() throws(StoreError) -> [DeviceRecord] {
        try read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM failed_device ORDER BY id").map { row in
                let job: Int64 = row["job"]
                return DeviceRecord(
                    id: row["id"], name: row["name"], failures: row["failures"], quarantines: row["quarantines"],
                    quarantinedUntil: row["quarantined_until"], reason: row["reason"], job: UInt64(job),
                    failed: row["failed"])
            }
        }
    }

    /// Keeps these and forgets all others.
    package func replaceFailedDevices(_ devices: [DeviceRecord]) throws(StoreError) {
        try write { db in
            try db.execute(sql: "DELETE FROM failed_device")
            let add = try db.makeStatement(sql: "INSERT INTO failed_device VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
            for device in devices {
                try add.execute(arguments: [
                    device.id, device.name, device.failures, device.quarantines, device.quarantinedUntil,
                    device.reason, Int64(device.job), device.failed,
                ])
            }
        }
    }
}
