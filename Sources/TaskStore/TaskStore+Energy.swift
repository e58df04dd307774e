import GRDB

/// Energy that a job, or with nil all that is none, took while jobs ran.
package struct EnergyRecord: Hashable, Sendable {
    package var job: UInt64?
    package var joules: Double
    /// Otherwise it is estimated.
    package var isMeasured: Bool

    package init(job: UInt64?, joules: Double, isMeasured: Bool) {
        self.job = job
        self.joules = joules
        self.isMeasured = isMeasured
    }
}

/// The ledger of energy (rule 97), by hours.
extension TaskStore {
    private static let hour = 3600.0

    /// Adds what was taken at a time (seconds since 1970).
    package func addEnergy(_ records: [EnergyRecord], at moment: Double) throws(StoreError) {
        try write { db in
            let add = try db.makeStatement(
                sql: """
                    INSERT INTO energy (hour, job, measured, joules) VALUES (?, ?, ?, ?)
                    ON CONFLICT DO UPDATE SET joules = joules + excluded.joules
                    """)
            for record in records {
                try add.execute(arguments: [
                    Int64(moment / Self.hour), Int64(record.job ?? 0), record.isMeasured, record.joules,
                ])
            }
        }
    }

    /// Sums of each job since the hour of a moment (seconds since 1970); any number will do.
    package func energy(since moment: Double) throws(StoreError) -> [EnergyRecord] {
        try read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT job, measured, sum(joules) AS joules FROM energy WHERE hour >= ?
                    GROUP BY job, measured ORDER BY job
                    """, arguments: [(moment / Self.hour).rounded(.down)]
            ).map { row in
                let job: Int64 = row["job"]
                return EnergyRecord(
                    job: job == 0 ? nil : UInt64(job), joules: row["joules"], isMeasured: row["measured"])
            }
        }
    }
}
