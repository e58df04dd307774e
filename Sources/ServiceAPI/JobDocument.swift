package import TaskModel

/// How a job stands: what `GET /v1/jobs/ID` answers.
package struct JobDocument: Codable, Hashable, Sendable {
    package enum State: String, Codable, Sendable {
        case waiting, running, pausing, paused
        /// Asked to stop; its grace is running.
        case stopping
        case ended

        /// It has not come to its end.
        package var isActive: Bool { self != .ended }
    }

    package struct Reason: Codable, Hashable, Sendable {
        package var code: String
        package var sentence: String
        package var fix: String
        package var measured: String?
        package var threshold: String?
        package var holders: [String]
        /// Seconds since 1970.
        package var earliest: Double?

        package init(
            code: String, sentence: String, fix: String, measured: String?, threshold: String?, holders: [String],
            earliest: Double?
        ) {
            self.code = code
            self.sentence = sentence
            self.fix = fix
            self.measured = measured
            self.threshold = threshold
            self.holders = holders
            self.earliest = earliest
        }
    }

    /// Time spent for a reason.
    package struct Wait: Codable, Hashable, Sendable {
        package var code: String
        package var seconds: Double

        package init(code: String, seconds: Double) {
            self.code = code
            self.seconds = seconds
        }
    }

    package var id: UInt64
    package var identifier: String
    package var mode: TaskKind
    package var title: String
    package var subtitle: String
    package var state: State
    package var priority: RunTerms.Priority
    /// What gives it its processor share, e.g. `autogroup`; nil while it does not run.
    package var priorityTier: String?
    /// Processors it may use, while others want them; nil for all.
    package var processorLimit: Double?
    package var terms: Terms?
    package var progress: ProgressSnapshot?
    /// 0 ... 1 where the work tells only that.
    package var fraction: Double?
    /// What it is at when it makes no countable progress.
    package var phase: String?
    package var device: String?
    package var attempt: Int
    /// Seconds since 1970, as all times here.
    package var submitted: Double
    package var started: Double?
    package var ended: Double?
    /// Code of how it ended, e.g. `completed` or `stopped.userStop`.
    package var outcome: String?
    /// What a command in a terminal would have left.
    package var status: Int32?
    /// It can be taken up again where it stopped.
    package var isResumable: Bool
    /// Everything that keeps it from running now.
    package var reasons: [Reason]
    /// What it has waited for so far.
    package var waited: [Wait]
    package var text: String?
    package var summary: String?
    package var arguments: [String]
    package var folder: String
    /// Its process while it runs.
    package var process: Int32?
    /// Seconds of processor time of all its processes that have ended.
    package var processorSeconds: Double

    /// How it is run.
    package struct Terms: Codable, Hashable, Sendable {
        package var chunkMilliseconds: Double
        /// Share of the time in which it works.
        package var dutyCycle: Double
        package var concurrency: Int

        package init(_ terms: RunTerms) {
            let (seconds, attoseconds) = terms.chunkTarget.components
            chunkMilliseconds = Double(seconds) * 1e3 + Double(attoseconds) * 1e-15
            dutyCycle = terms.dutyCycle
            concurrency = terms.concurrency
        }
    }

    package init(
        id: UInt64, identifier: String, mode: TaskKind, title: String, subtitle: String, state: State,
        priority: RunTerms.Priority, attempt: Int, submitted: Double, arguments: [String], folder: String
    ) {
        self.id = id
        self.identifier = identifier
        self.mode = mode
        self.title = title
        self.subtitle = subtitle
        self.state = state
        self.priority = priority
        self.attempt = attempt
        self.submitted = submitted
        self.arguments = arguments
        self.folder = folder
        isResumable = false
        reasons = []
        waited = []
        processorSeconds = 0
    }
}

/// One happening in the life of a job: what `GET /v1/jobs/ID/events` sends, as a server-sent event.
package struct JobEvent: Codable, Hashable, Sendable {
    package enum Kind: String, Codable, Sendable {
        /// The job as it stands, on every change of its state.
        case job
        case progress
        /// A sentence for the person.
        case note
        /// A line of the report on the items.
        case record
        /// It was asked to stop.
        case stopping
        /// The last one.
        case ended
    }

    /// Counts the events of a job from 1.
    package var id: UInt64
    package var kind: Kind
    package var job: JobDocument?
    package var progress: ProgressSnapshot?
    package var device: String?
    package var text: String?
    package var reason: String?

    package init(
        id: UInt64 = 0, kind: Kind, job: JobDocument? = nil, progress: ProgressSnapshot? = nil, device: String? = nil,
        text: String? = nil, reason: String? = nil
    ) {
        self.id = id
        self.kind = kind
        self.job = job
        self.progress = progress
        self.device = device
        self.text = text
        self.reason = reason
    }
}
