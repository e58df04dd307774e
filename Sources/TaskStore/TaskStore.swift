import Foundation
import GRDB
import Glibc
import SystemText
package import TaskModel

/// The journal of jobs in SQLite: what was asked for, what is going to be written, and what was made.
///
/// Several processes may use it at once. What was recorded survives the death of any process; after a power cut the
/// last moments may be missing, never more than that.
package final class TaskStore: Sendable {
    package let path: String
    private let queue: DatabaseQueue
    private let program: String

    /// Opens the journal in a folder, and makes both where there is none.
    ///
    /// - Parameters:
    ///   - folder: Made when it is not there, for its owner alone: submissions have a person's variables.
    ///   - program: Version of what decides the bytes of outputs.
    /// - Throws: ``StoreError``: `cannotOpen`, `damaged`, `newerVersion` or `busy`; the file is left as it is.
    package init(folder: String, program: String) throws(StoreError) {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StoreError(
                .cannotOpen, "The folder \(folder) cannot be made.",
                fix: "Set XDG_STATE_HOME to a folder that can be written.")
        }
        path = Self.path(in: folder)
        self.program = program
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        configuration.journalMode = .wal
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = NORMAL")
        }
        // Two processes that make the file at the same moment would meet in the middle of it.
        let opening = OpeningLock(folder: folder)
        defer { withExtendedLifetime(opening) {} }
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
            let migrator = Schema.migrator
            let isNewer = try queue.read { db in try migrator.hasBeenSuperseded(db) }
            guard !isNewer else {
                throw StoreError(
                    .newerVersion, "The journal \(path) was written by a newer version of bgrun.",
                    fix: "Use that version, or set XDG_STATE_HOME to another folder.")
            }
            try migrator.migrate(queue)
        } catch {
            throw Self.wrap(error, path)
        }
    }

    package static func path(in folder: String) -> String { folder + "/tasks.sqlite" }

    /// Begins a job, or goes on with it where its last run was stopped or killed. `command` is what would begin it again;
    /// `now` counts seconds since 1970.
    package func begin(
        _ request: TaskRequest, requestText: String, command: String? = nil, volume: Int64? = nil, now: Double
    ) throws(StoreError) -> JobRecord {
        try write { db in
            guard let job = try Self.lookUp(request.identifier, db) else {
                try db.execute(
                    sql: """
                        INSERT INTO job (identifier, request, command, run, program, begun, volume)
                        VALUES (?, ?, ?, 1, ?, ?, ?)
                        """, arguments: [request.identifier.rawValue, requestText, command, self.program, now, volume])
                return JobRecord(id: db.lastInsertedRowID, run: 1, continues: false)
            }
            try db.execute(
                sql: """
                    UPDATE job SET request = ?, command = ?, run = ?, program = ?, begun = ?, volume = ?, ended = NULL,
                        outcome = NULL
                    WHERE id = ?
                    """,
                arguments: [requestText, command, job.run, self.program, now, volume, job.id])
            return job
        }
    }

    /// Whether the last run of a job was stopped or killed, and its run number. Changes nothing.
    package func lookUp(_ identifier: TaskIdentifier) throws(StoreError) -> JobRecord? {
        try read { db in try Self.lookUp(identifier, db) }
    }

    private static func lookUp(_ identifier: TaskIdentifier, _ db: Database) throws -> JobRecord? {
        try Row.fetchOne(
            db, sql: "SELECT id, run, outcome, volume FROM job WHERE identifier = ?", arguments: [identifier.rawValue]
        ).map { row in
            let outcome: String? = row["outcome"]
            let continues = outcome?.hasPrefix("completed") != true
            return JobRecord(
                id: row["id"], run: row["run"] + (continues ? 0 : 1), continues: continues, volume: row["volume"])
        }
    }

    /// How a job stands; nil for one that was never begun. Changes nothing.
    package func history(_ identifier: TaskIdentifier) throws(StoreError) -> JobHistory? {
        try read { db in
            try Row.fetchOne(
                db, sql: "SELECT run, begun, ended, outcome FROM job WHERE identifier = ?",
                arguments: [identifier.rawValue]
            ).map { JobHistory(run: $0["run"], begun: $0["begun"], ended: $0["ended"], outcome: $0["outcome"]) }
        }
    }

    /// The jobs that were ever begun, the latest first, at most 1000.
    package func identifiers() throws(StoreError) -> [String] {
        try read { db in try String.fetchAll(db, sql: "SELECT identifier FROM job ORDER BY begun DESC LIMIT 1000") }
    }

    /// Records how a job's run ended. What it had planned and not made is no longer planned, but for files that a killed
    /// worker left under their names.
    ///
    /// `work` is the input that was read and the time that took, for later estimates.
    package func end(
        _ job: JobRecord, _ outcome: TaskOutcome, work: (bytes: Int, seconds: Double) = (0, 0), now: Double
    ) throws(StoreError) {
        try write { db in
            try Self.disclaim(job, db)
            try db.execute(
                sql: """
                    UPDATE job SET ended = ?, outcome = ?, work_seconds = coalesce(work_seconds, 0) + ?,
                        work_bytes = coalesce(work_bytes, 0) + ? WHERE id = ?
                    """, arguments: [now, outcome.code, work.seconds, work.bytes, job.id])
        }
    }

    /// Forgets what was planned and not recorded, but for new files: a worker that was killed had named them.
    private static func disclaim(_ job: JobRecord, _ db: Database) throws {
        let left = try Row.fetchAll(
            db,
            sql: """
                SELECT intent.path, foreign_size, foreign_modified, output.size, output.modified
                FROM intent LEFT JOIN output ON output.path = intent.path WHERE intent.job = ?
                """, arguments: [job.id])
        for row in left {
            let path: String = row["path"]
            var status = stat()
            if stat(path.systemBytes, &status) == 0 {
                let known = [("foreign_size", "foreign_modified"), ("size", "modified")].compactMap { names in
                    FileIdentity(size: row[names.0], modified: row[names.1])
                }
                if !known.contains(FileIdentity(status)) { continue }
            }
            try db.execute(sql: "DELETE FROM intent WHERE path = ? AND job = ?", arguments: [path, job.id])
        }
    }

    /// Bytes of input per second, of the slowest and the fastest among the latest jobs of the kind that a job is of; nil
    /// before any such job.
    package func rates(ofJobsLike identifier: TaskIdentifier) throws(StoreError) -> ClosedRange<Double>? {
        let name = identifier.rawValue
        let kind = String(name[...(name.lastIndex(of: ".") ?? name.startIndex)])
        return try read { db in
            let rates = try Double.fetchAll(
                db,
                sql: """
                    SELECT work_bytes / work_seconds FROM job WHERE work_seconds > 0.5 AND work_bytes > 0
                        AND substr(identifier, 1, length(?)) = ?
                    ORDER BY ended DESC LIMIT 5
                    """, arguments: [kind, kind])
            guard let slowest = rates.min(), let fastest = rates.max() else { return nil }
            return slowest...fastest
        }
    }

    /// Notes outputs before the work on them starts, in one transaction.
    package func plan(_ outputs: [PlannedOutput], of job: JobRecord) throws(StoreError) {
        try writeOften { db in
            var settings: [String: Int64] = [:]
            let insert = try db.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO intent (path, job, run, input, input_size, input_modified, settings, program,
                        foreign_size, foreign_modified)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """)
            for output in outputs {
                let id = try settings[output.settings] ?? Self.settingsID(output.settings, db)
                settings[output.settings] = id
                try insert.execute(arguments: [
                    output.path, job.id, job.run, output.input, output.inputIdentity.size,
                    output.inputIdentity.modified, id, self.program, output.foreign?.size, output.foreign?.modified,
                ])
            }
        }
    }

    /// Records how items ended, in one transaction. Only outputs that were planned by the same job are taken as made.
    package func record(_ items: [ItemRecord], of job: JobRecord) throws(StoreError) {
        try writeOften { db in
            let insert = try db.cachedStatement(
                sql: "INSERT OR REPLACE INTO item (job, input, run, status, code, reason) VALUES (?, ?, ?, ?, ?, ?)")
            let make = try db.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO output (path, job, run, input, input_size, input_modified, input_checksum,
                        settings, program, size, modified, width, height, checksum, status, reason)
                    SELECT path, job, run, input, input_size, input_modified, ?, settings, program, ?, ?, ?, ?, ?, ?, ?
                    FROM intent WHERE path = ? AND job = ?
                    """)
            let fulfil = try db.cachedStatement(sql: "DELETE FROM intent WHERE path = ? AND job = ?")
            for item in items {
                try insert.execute(arguments: [job.id, item.input, job.run, item.status, item.code, item.reason])
                for output in item.outputs {
                    try make.execute(arguments: [
                        item.inputChecksum, output.identity.size, output.identity.modified, output.width,
                        output.height, output.checksum, item.status, item.reason, output.path, job.id,
                    ])
                    try fulfil.execute(arguments: [output.path, job.id])
                }
            }
        }
    }

    /// What is known about these paths; paths that no job ever had are absent.
    package func known(_ paths: [String]) throws(StoreError) -> [PathKey: KnownOutput] {
        try read { db in
            var found: [PathKey: KnownOutput] = [:]
            for start in stride(from: 0, to: paths.count, by: 500) {
                let part = paths[start..<min(start + 500, paths.count)]
                let marks = Array(repeating: "?", count: part.count).joined(separator: ",")
                let made = try Row.fetchCursor(
                    db,
                    sql: """
                        SELECT output.*, settings.text AS settings_text FROM output
                        JOIN settings ON settings.id = output.settings WHERE path IN (\(marks))
                        """, arguments: StatementArguments(part))
                while let row = try made.next() {
                    found[PathKey(row["path"]), default: KnownOutput()].made = MadeRecord(row)
                }
                let planned = try Row.fetchCursor(
                    db, sql: "SELECT path, input, foreign_size, foreign_modified FROM intent WHERE path IN (\(marks))",
                    arguments: StatementArguments(part))
                while let row = try planned.next() {
                    found[PathKey(row["path"]), default: KnownOutput()].intent = Intent(row)
                }
            }
            return found
        }
    }

    private static func settingsID(_ text: String, _ db: Database) throws -> Int64 {
        try db.execute(sql: "INSERT OR IGNORE INTO settings (text) VALUES (?)", arguments: [text])
        return try Int64.fetchOne(db, sql: "SELECT id FROM settings WHERE text = ?", arguments: [text]) ?? 0
    }

    func write<T>(_ body: (Database) throws -> T) throws(StoreError) -> T {
        do { return try queue.write(body) } catch { throw Self.wrap(error, path) }
    }

    /// The same, with the statements around the transaction prepared once, for what is done with every item.
    private func writeOften(_ body: (Database) throws -> Void) throws(StoreError) {
        do {
            try queue.writeWithoutTransaction { db in
                try db.cachedStatement(sql: "BEGIN IMMEDIATE TRANSACTION").execute()
                do {
                    try body(db)
                    try db.cachedStatement(sql: "COMMIT TRANSACTION").execute()
                } catch {
                    // As the write itself, it may have been ended by SQLite already.
                    try? db.rollback()
                    throw error
                }
            }
        } catch {
            throw Self.wrap(error, path)
        }
    }

    func read<T>(_ body: (Database) throws -> T) throws(StoreError) -> T {
        do { return try queue.read(body) } catch { throw Self.wrap(error, path) }
    }

    private static func wrap(_ error: any Error, _ path: String) -> StoreError {
        if let error = error as? StoreError { return error }
        let code = (error as? DatabaseError)?.resultCode
        switch code {
        case .SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_SCHEMA, .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH:
            return StoreError(
                .damaged, "The journal \(path) cannot be read: \(message(error)).",
                fix: "Move it away to begin a new one; outputs stay, but are no longer known as made by bgrun.")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            return StoreError(
                .busy, "The journal \(path) is held by another process.", fix: "Run the command again.")
        case .SQLITE_FULL, .SQLITE_IOERR:
            return StoreError(
                .writeFailed, "The journal \(path) cannot be written: \(message(error)).",
                fix: "Make room on its volume and run the command again.")
        default:
            return StoreError(
                .cannotOpen, "The journal \(path) cannot be opened: \(message(error)).",
                fix: "Make its folder writable, or set XDG_STATE_HOME to another folder.")
        }
    }

    private static func message(_ error: any Error) -> String {
        (error as? DatabaseError)?.message ?? "\(error)"
    }
}

/// Held by one process at a time while it opens the store.
private struct OpeningLock: ~Copyable {
    private let descriptor: Int32

    init(folder: String) {
        descriptor = open((folder + "/opening.lock").systemBytes, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        // Where there are no locks, opening works as well as it can without.
        while flock(descriptor, LOCK_EX) != 0 && errno == EINTR {}
    }

    deinit {
        close(descriptor)
    }
}

extension MadeRecord {
    /// Of a row of `output` with its settings as `settings_text`.
    init(_ row: Row) {
        self.init(
            job: row["job"], run: row["run"], input: row["input"],
            inputIdentity: FileIdentity(size: row["input_size"], modified: row["input_modified"]),
            inputChecksum: row["input_checksum"], settings: row["settings_text"], program: row["program"],
            output: MadeOutput(
                path: row["path"], identity: FileIdentity(size: row["size"], modified: row["modified"]),
                width: row["width"], height: row["height"], checksum: row["checksum"]),
            status: row["status"], reason: row["reason"])
    }
}

extension Intent {
    fileprivate init(_ row: Row) {
        self.init(
            input: row["input"], foreign: FileIdentity(size: row["foreign_size"], modified: row["foreign_modified"]))
    }
}

extension FileIdentity {
    /// nil where a row has none.
    fileprivate init?(size: Int64?, modified: Int64?) {
        guard let size, let modified else { return nil }
        self.init(size: size, modified: modified)
    }
}
