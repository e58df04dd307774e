import Foundation
import GRDB
import TaskModel

/// The jobs of the service.
extension TaskStore {
    /// Keeps jobs as they stand, all or none.
    package func save(_ jobs: [StoredJob]) throws(StoreError) {
        try write { db in
            let keep = try db.makeStatement(
                sql: """
                    INSERT OR REPLACE INTO service_job (id, identifier, submission, state, paused, attempts, submitted,
                        started, ended, outcome, status, resumable, fraction, text, summary, process, process_start,
                        process_boot, processor_seconds, running_seconds, losses, outputs, progress)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """)
            let wait = try db.makeStatement(
                sql: "INSERT OR REPLACE INTO service_wait (job, reason, seconds) VALUES (?, ?, ?)")
            for job in jobs {
                try keep.execute(arguments: [
                    Int64(job.id), job.identifier, job.submission, job.state.rawValue, job.isPaused, job.attempts,
                    job.submitted, job.started, job.ended, job.outcome, job.status, job.isResumable, job.fraction,
                    job.text, job.summary, job.process?.id, job.process.map { Int64($0.start) }, job.process?.boot,
                    job.processorSeconds, job.runningSeconds, job.losses, job.outputs,
                    try job.progress.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) },
                ])
                for (reason, seconds) in job.waited {
                    try wait.execute(arguments: [Int64(job.id), reason, seconds])
                }
            }
        }
    }

    /// Has no ended job with this identifier be one that can be taken up again.
    package func takeOver(_ identifier: String) throws(StoreError) {
        try write { db in
            try db.execute(
                sql: "UPDATE service_job SET resumable = FALSE WHERE identifier = ? AND state = 'ended' AND resumable",
                arguments: [identifier])
        }
    }

    /// Jobs that have not come to their end, in order of submission.
    package func unfinishedJobs() throws(StoreError) -> [StoredJob] {
        try jobs(where: "state <> 'ended' ORDER BY id")
    }

    /// The latest jobs, whatever their state, the latest first.
    package func latestJobs(_ count: Int) throws(StoreError) -> [StoredJob] {
        try jobs(where: "TRUE ORDER BY id DESC LIMIT \(count)")
    }

    /// Jobs that ran at some time after a moment (seconds since 1970), or have not ended.
    package func jobs(since moment: Double) throws(StoreError) -> [StoredJob] {
        try jobs(where: "started IS NOT NULL AND coalesce(ended, 1e300) > ? ORDER BY id", [moment])
    }

    package func job(_ id: UInt64) throws(StoreError) -> StoredJob? {
        try jobs(where: "id = ?", [Int64(clamping: id)]).first
    }

    /// The highest number that a job ever had; 0 before the first.
    package func lastJob() throws(StoreError) -> UInt64 {
        try read { db in UInt64(try Int64.fetchOne(db, sql: "SELECT max(id) FROM service_job") ?? 0) }
    }

    private func jobs(where condition: String, _ arguments: StatementArguments = []) throws(StoreError) -> [StoredJob] {
        try read { db in
            var jobs = try Row.fetchAll(
                db, sql: "SELECT * FROM service_job WHERE \(condition)", arguments: arguments
            ).map(StoredJob.init)
            let indices = Dictionary(uniqueKeysWithValues: jobs.indices.map { (jobs[$0].id, $0) })
            let waits = try Row.fetchCursor(
                db,
                sql: """
                    SELECT job, reason, seconds FROM service_wait
                    WHERE job IN (SELECT id FROM service_job WHERE \(condition))
                    """, arguments: arguments)
            while let wait = try waits.next() {
                let id: Int64 = wait["job"]
                guard let index = indices[UInt64(id)] else { continue }
                jobs[index].waited[wait["reason"]] = wait["seconds"]
            }
            return jobs
        }
    }
}

extension StoredJob {
    fileprivate init(_ row: Row) {
        let id: Int64 = row["id"]
        let state: String = row["state"]
        self.init(
            id: UInt64(id), identifier: row["identifier"], submission: row["submission"],
            // A state of a later version is none that goes on here.
            state: State(rawValue: state) ?? .ended, submitted: row["submitted"])
        isPaused = row["paused"]
        attempts = row["attempts"]
        losses = row["losses"]
        started = row["started"]
        ended = row["ended"]
        outcome = row["outcome"]
        status = row["status"]
        isResumable = row["resumable"]
        fraction = row["fraction"]
        text = row["text"]
        summary = row["summary"]
        if let process: Int32 = row["process"], let start: Int64 = row["process_start"] {
            self.process = Process(id: process, start: UInt64(start), boot: row["process_boot"] ?? "")
        }
        processorSeconds = row["processor_seconds"]
        runningSeconds = row["running_seconds"]
        outputs = row["outputs"]
        let progress: String? = row["progress"]
        self.progress = progress.flatMap { try? JSONDecoder().decode(ProgressSnapshot.self, from: Data($0.utf8)) }
    }
}
