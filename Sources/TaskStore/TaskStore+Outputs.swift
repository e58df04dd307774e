import GRDB

/// What stands in a folder, as far as jobs made it.
extension TaskStore {
    /// Calls a body with each picture that jobs made below a folder, in order of their paths' bytes.
    package func forEachPicture(below folder: String, _ body: (MadeRecord) -> Void) throws(StoreError) {
        // Everything that begins with the folder and a slash lies before the folder and the character after the slash.
        let stem = folder == "/" ? "" : folder
        try read { db in
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT output.*, settings.text AS settings_text FROM output
                    JOIN settings ON settings.id = output.settings
                    WHERE path >= ? AND path < ? AND width > 0 ORDER BY path
                    """, arguments: [stem + "/", stem + "0"])
            while let row = try rows.next() { body(MadeRecord(row)) }
        }
    }

    /// Whether a job made anything in a folder or below it, or was about to.
    package func knowsOutputs(below folder: String) throws(StoreError) -> Bool {
        let stem = folder == "/" ? "" : folder
        return try read { db in
            try ["output", "intent"].contains { table in
                try Bool.fetchOne(
                    db, sql: "SELECT EXISTS (SELECT 1 FROM \(table) WHERE path >= ? AND path < ?)",
                    arguments: [stem + "/", stem + "0"]) == true
            }
        }
    }

    /// What would begin each of these jobs again; a job without a recorded command is absent.
    package func commands(of jobs: Set<Int64>) throws(StoreError) -> [Int64: String] {
        try read { db in
            let statement = try db.makeStatement(sql: "SELECT command FROM job WHERE id = ?")
            var commands: [Int64: String] = [:]
            for job in jobs { commands[job] = try String.fetchOne(statement, arguments: [job]) }
            return commands
        }
    }
}
