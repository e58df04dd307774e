import GRDB

/// The form of the journal. A migration that was released is never edited; a change is a new one at the end.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 jobs, items, outputs, intents") { db in
            try db.execute(
                sql: """
                    CREATE TABLE job (
                        id INTEGER PRIMARY KEY,
                        identifier TEXT NOT NULL UNIQUE,
                        request TEXT NOT NULL,
                        run INTEGER NOT NULL,
                        program TEXT NOT NULL,
                        begun REAL NOT NULL,
                        ended REAL,
                        outcome TEXT
                    ) STRICT;

                    CREATE TABLE settings (
                        id INTEGER PRIMARY KEY,
                        text TEXT NOT NULL UNIQUE
                    ) STRICT;

                    CREATE TABLE output (
                        path TEXT PRIMARY KEY,
                        job INTEGER NOT NULL REFERENCES job(id),
                        run INTEGER NOT NULL,
                        input TEXT NOT NULL,
                        input_size INTEGER NOT NULL,
                        input_modified INTEGER NOT NULL,
                        input_checksum TEXT NOT NULL,
                        settings INTEGER NOT NULL REFERENCES settings(id),
                        program TEXT NOT NULL,
                        size INTEGER NOT NULL,
                        modified INTEGER NOT NULL,
                        width INTEGER NOT NULL,
                        height INTEGER NOT NULL,
                        checksum TEXT NOT NULL,
                        status TEXT NOT NULL,
                        reason TEXT NOT NULL
                    ) STRICT, WITHOUT ROWID;

                    CREATE TABLE intent (
                        path TEXT PRIMARY KEY,
                        job INTEGER NOT NULL REFERENCES job(id),
                        run INTEGER NOT NULL,
                        input TEXT NOT NULL,
                        input_size INTEGER NOT NULL,
                        input_modified INTEGER NOT NULL,
                        settings INTEGER NOT NULL REFERENCES settings(id),
                        program TEXT NOT NULL,
                        foreign_size INTEGER,
                        foreign_modified INTEGER
                    ) STRICT, WITHOUT ROWID;

                    CREATE TABLE item (
                        job INTEGER NOT NULL REFERENCES job(id),
                        input TEXT NOT NULL,
                        run INTEGER NOT NULL,
                        status TEXT NOT NULL,
                        code TEXT NOT NULL,
                        reason TEXT NOT NULL,
                        PRIMARY KEY (job, input)
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("2 rates of jobs") { db in
            try db.execute(
                sql: """
                    ALTER TABLE job ADD COLUMN work_seconds REAL;
                    ALTER TABLE job ADD COLUMN work_bytes INTEGER;
                    """)
        }
        migrator.registerMigration("3 jobs of the service") { db in
            try db.execute(
                sql: """
                    CREATE TABLE service_job (
                        id INTEGER PRIMARY KEY,
                        identifier TEXT NOT NULL,
                        submission TEXT NOT NULL,
                        state TEXT NOT NULL,
                        paused INTEGER NOT NULL,
                        attempts INTEGER NOT NULL,
                        submitted REAL NOT NULL,
                        started REAL,
                        ended REAL,
                        outcome TEXT,
                        status INTEGER,
                        resumable INTEGER NOT NULL,
                        fraction REAL,
                        text TEXT,
                        summary TEXT,
                        process INTEGER,
                        process_start INTEGER,
                        process_boot TEXT,
                        processor_seconds REAL NOT NULL,
                        running_seconds REAL NOT NULL
                    ) STRICT;

                    CREATE INDEX service_job_state ON service_job(state) WHERE state <> 'ended';

                    CREATE TABLE service_wait (
                        job INTEGER NOT NULL,
                        reason TEXT NOT NULL,
                        seconds REAL NOT NULL,
                        PRIMARY KEY (job, reason)
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("4 volumes of outputs, lost runs") { db in
            try db.execute(
                sql: """
                    ALTER TABLE job ADD COLUMN volume INTEGER;
                    ALTER TABLE service_job ADD COLUMN losses INTEGER NOT NULL DEFAULT 0;
                    """)
        }
        migrator.registerMigration("5 commands of jobs") { db in
            try db.execute(sql: "ALTER TABLE job ADD COLUMN command TEXT")
        }
        migrator.registerMigration("6 energy of jobs") { db in
            try db.execute(
                sql: """
                    CREATE TABLE energy (
                        hour INTEGER NOT NULL,
                        job INTEGER NOT NULL,
                        measured INTEGER NOT NULL,
                        joules REAL NOT NULL,
                        PRIMARY KEY (hour, job, measured)
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("7 devices that failed") { db in
            try db.execute(
                sql: """
                    CREATE TABLE failed_device (
                        id TEXT PRIMARY KEY,
                        name TEXT NOT NULL,
                        failures INTEGER NOT NULL,
                        quarantines INTEGER NOT NULL,
                        quarantined_until REAL,
                        reason TEXT NOT NULL,
                        job INTEGER NOT NULL,
                        failed REAL NOT NULL
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("8 outputs of jobs") { db in
            try db.execute(sql: "ALTER TABLE service_job ADD COLUMN outputs INTEGER")
        }
        migrator.registerMigration("9 progress of jobs") { db in
            try db.execute(sql: "ALTER TABLE service_job ADD COLUMN progress TEXT")
        }
        return migrator
    }
}
