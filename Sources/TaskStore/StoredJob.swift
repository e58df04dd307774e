package import TaskModel

/// A job of the service as the store keeps it.
package struct StoredJob: Hashable, Sendable {
    package enum State: String, Sendable {
        case waiting, running, ended
    }

    /// Which process did its work when it was last heard of.
    package struct Process: Hashable, Sendable {
        package var id: Int32
        /// Clock ticks from the start of the machine.
        package var start: UInt64
        /// Of the run of the machine.
        package var boot: String

        package init(id: Int32, start: UInt64, boot: String) {
            self.id = id
            self.start = start
            self.boot = boot
        }
    }

    package var id: UInt64
    package var identifier: String
    /// What was asked for, as JSON.
    package var submission: String
    package var state: State
    /// A person paused it.
    package var isPaused = false
    package var attempts = 0
    /// Runs that were lost with their process, of which there may be only so many.
    package var losses = 0
    /// Seconds since 1970, as all times here.
    package var submitted: Double
    package var started: Double?
    package var ended: Double?
    package var outcome: String?
    package var status: Int32?
    package var isResumable = false
    package var fraction: Double?
    /// The last that its process told.
    package var progress: ProgressSnapshot?
    package var text: String?
    package var summary: String?
    package var process: Process?
    package var processorSeconds: Double = 0
    package var runningSeconds: Double = 0
    /// Files that its runs made, of those that told; nil where none did.
    package var outputs: Int?
    /// Seconds by reason.
    package var waited: [String: Double] = [:]

    package init(id: UInt64, identifier: String, submission: String, state: State, submitted: Double) {
        self.id = id
        self.identifier = identifier
        self.submission = submission
        self.state = state
        self.submitted = submitted
    }
}
