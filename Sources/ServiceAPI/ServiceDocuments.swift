package import TaskModel

/// What `GET /v1/status` answers.
package struct ServiceStatus: Codable, Hashable, Sendable {
    package var version: String
    package var process: Int32
    /// Seconds since 1970.
    package var started: Double
    package var active: Int
    package var running: Int
    /// It takes no new jobs, and ends when the running ones have ended.
    package var isDraining: Bool
    /// What gives jobs their processor share, and why not something better.
    package var priorityTier: String
    package var priorityTierReason: String

    package init(
        version: String, process: Int32, started: Double, active: Int, running: Int, isDraining: Bool,
        priorityTier: String, priorityTierReason: String
    ) {
        self.version = version
        self.process = process
        self.started = started
        self.active = active
        self.running = running
        self.isDraining = isDraining
        self.priorityTier = priorityTier
        self.priorityTierReason = priorityTierReason
    }
}

/// The body of every answer that is not a success.
package struct Refusal: Error, Codable, Hashable, Sendable {
    /// Stable machine code.
    package var code: String
    package var sentence: String
    package var fix: String
    /// Of a submission: every check that said no.
    package var rejection: Rejection?

    package init(code: String, sentence: String, fix: String, rejection: Rejection? = nil) {
        self.code = code
        self.sentence = sentence
        self.fix = fix
        self.rejection = rejection
    }

    package init(_ problem: Diagnostic) {
        self.init(code: problem.code, sentence: problem.sentence, fix: problem.fix)
    }

    package init(_ rejection: Rejection) {
        self.init(
            code: rejection.first.detail, sentence: rejection.sentence, fix: rejection.fix, rejection: rejection)
    }
}

/// Processor time of jobs, what `GET /v1/usage` answers.
package struct UsageDocument: Codable, Hashable, Sendable {
    /// How many days may be looked back.
    package static let possibleDays = 0.0...36_500

    package struct Entry: Codable, Hashable, Sendable {
        package var id: UInt64
        package var title: String
        /// Of all its processes, in seconds.
        package var processorSeconds: Double
        /// From start to end, in seconds, all attempts together.
        package var runningSeconds: Double
        /// Its share of what the machine counted.
        package var measuredJoules: Double
        /// By processor time, where the machine counted nothing.
        package var estimatedJoules: Double
        /// Files that it made in its last attempt; nil for a command.
        package var outputs: Int?
        package var outcome: String?

        package init(
            id: UInt64, title: String, processorSeconds: Double, runningSeconds: Double, measuredJoules: Double,
            estimatedJoules: Double, outputs: Int?, outcome: String?
        ) {
            self.id = id
            self.title = title
            self.processorSeconds = processorSeconds
            self.runningSeconds = runningSeconds
            self.measuredJoules = measuredJoules
            self.estimatedJoules = estimatedJoules
            self.outputs = outputs
            self.outcome = outcome
        }

        package var joules: Double { measuredJoules + estimatedJoules }
    }

    /// Seconds that are looked back.
    package var period: Double
    package var jobs: [Entry]
    package var processorSeconds: Double
    package var runningSeconds: Double
    package var measuredJoules: Double
    package var estimatedJoules: Double
    /// What the machine counted while jobs ran, and no job took; with ``measuredJoules`` it is all of it.
    package var othersJoules: Double
    /// What is reckoned for a busy processor where nothing is counted.
    package var processorWatts: Double

    package init(period: Double, jobs: [Entry], othersJoules: Double, processorWatts: Double) {
        self.period = period
        self.jobs = jobs
        self.othersJoules = othersJoules
        self.processorWatts = processorWatts
        processorSeconds = jobs.reduce(0) { $0 + $1.processorSeconds }
        runningSeconds = jobs.reduce(0) { $0 + $1.runningSeconds }
        measuredJoules = jobs.reduce(0) { $0 + $1.measuredJoules }
        estimatedJoules = jobs.reduce(0) { $0 + $1.estimatedJoules }
    }
}

/// What may be asked of a job: `POST /v1/jobs/ID/VERB`.
package enum JobVerb: String, Codable, Sendable, CaseIterable {
    case foreground, background, pause, resume, stop, cancel, kill, dismiss
}
