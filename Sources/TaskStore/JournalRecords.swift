/// One job as the journal keeps it.
package struct JobRecord: Hashable, Sendable {
    /// Row of the job; the same for every run of the same command.
    package var id: Int64
    /// Counts the times the job was begun anew. A run that goes on after a stop keeps the number.
    package var run: Int64
    /// The last run was stopped or killed, and this one goes on with it.
    package var continues: Bool
    /// File system that the outputs of the run before went to; nil when that is not known.
    package var volume: Int64?
}

/// When a job was last begun, and how that ended.
package struct JobHistory: Hashable, Sendable {
    package var run: Int64
    /// Seconds since 1970.
    package var begun: Double
    package var ended: Double?
    /// Code of the outcome; nil for a run that has not ended, or was killed.
    package var outcome: String?
}

/// An output that is going to be written, noted before the work on it starts.
package struct PlannedOutput: Hashable, Sendable {
    package var path: String
    package var input: String
    package var inputIdentity: FileIdentity
    /// Everything that decides its bytes, as text that is equal when they are.
    package var settings: String
    /// A file that stands at `path` and is not ours; while it stands there unchanged, it stays not ours.
    package var foreign: FileIdentity?

    package init(
        path: String, input: String, inputIdentity: FileIdentity, settings: String, foreign: FileIdentity?
    ) {
        self.path = path
        self.input = input
        self.inputIdentity = inputIdentity
        self.settings = settings
        self.foreign = foreign
    }
}

/// An output that stands under its final name.
package struct MadeOutput: Hashable, Sendable {
    package var path: String
    package var identity: FileIdentity
    package var width: Int
    package var height: Int
    /// XXH3-128 of the file, hexadecimal.
    package var checksum: String

    package init(path: String, identity: FileIdentity, width: Int, height: Int, checksum: String) {
        self.path = path
        self.identity = identity
        self.width = width
        self.height = height
        self.checksum = checksum
    }
}

/// How one input of a job ended, with the outputs that were made of it.
package struct ItemRecord: Hashable, Sendable {
    package var input: String
    /// XXH3-128 of the input, hexadecimal; empty when it was not read.
    package var inputChecksum: String
    /// `good`, `damaged`, `failed` or `skipped`.
    package var status: String
    /// Machine code of a failure; empty otherwise.
    package var code: String
    package var reason: String
    package var outputs: [MadeOutput]

    package init(
        input: String, inputChecksum: String, status: String, code: String, reason: String, outputs: [MadeOutput]
    ) {
        self.input = input
        self.inputChecksum = inputChecksum
        self.status = status
        self.code = code
        self.reason = reason
        self.outputs = outputs
    }
}

/// An output that was made, with what it was made of.
package struct MadeRecord: Hashable, Sendable {
    package var job: Int64
    package var run: Int64
    package var input: String
    package var inputIdentity: FileIdentity
    package var inputChecksum: String
    package var settings: String
    package var program: String
    package var output: MadeOutput
    /// `good` or `damaged`: what came of the input.
    package var status: String
    package var reason: String
}

/// An output that a job was about to write when it was last heard of.
package struct Intent: Hashable, Sendable {
    /// What it was going to be made from.
    package var input: String
    /// The file that stood there then and was not ours.
    package var foreign: FileIdentity?
}

/// What the journal knows about a path that outputs go to.
package struct KnownOutput: Hashable, Sendable {
    package var made: MadeRecord?
    /// Set while a job works on it, and after a job that was killed at it.
    package var intent: Intent?

    /// The input that what stands at the path was made from.
    package var input: String? { made?.input ?? intent?.input }

    /// Whether a file that stands at the path is this program's work.
    package func wrote(_ file: FileIdentity) -> Bool {
        if made?.output.identity == file { return true }
        guard let intent else { return false }
        // Killed between the naming of the file and its record.
        return intent.foreign != file
    }
}
