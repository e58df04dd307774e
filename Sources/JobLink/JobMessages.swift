package import TaskModel

/// The option that tells the process of a job which descriptor leads to its host.
package enum JobChannelOption {
    package static let name = "--job-channel"

    /// Gives a command line the option, before what a `--` sets apart from options.
    package static func added(to arguments: [String], descriptor: Int32) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return arguments[..<end] + [name, "\(descriptor)"] + arguments[end...]
    }

    package static func isIn(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains(name)
    }

    /// Takes it out of a command line again.
    package static func removed(from arguments: [String]) -> [String] {
        guard let place = arguments.prefix(while: { $0 != "--" }).firstIndex(of: name) else { return arguments }
        return Array(arguments[..<place] + arguments[place...].dropFirst(2))
    }
}

/// What the host of a job tells the process that does its work.
package enum JobCommand: Codable, Sendable {
    /// From the next chunk on, run by these terms.
    case terms(RunTerms)
    /// Come to a halt after the chunk in flight, commit, and answer by ``JobReport/paused``.
    case pause
    case resume(RunTerms)
    /// Commit what is finished, give up what is not done within that time, answer by ``JobReport/ended(_:)`` and exit.
    case stop(StopReason, within: Duration)
    /// Leave the device and go on with the CPU from the last committed chunk.
    case leaveDevice
}

/// What the process that does the work of a job tells its host.
package enum JobReport: Codable, Sendable {
    case progress(ProgressSnapshot, device: String)
    /// Alive, in a phase that makes no countable progress: compiling kernels, loading a model.
    case phase(String)
    /// A sentence for the person.
    case note(String)
    /// A line of the report on the items, as JSON.
    case record(String)
    /// It was asked to stop, and finishes what is in work.
    case stopping(StopReason, String)
    case paused
    /// The device that it was given failed again and again, at last like this; it does not use it any more.
    case deviceFailed(String)
    case ended(JobEnd)
}

/// How a process ended its job, as it says itself.
package struct JobEnd: Codable, Hashable, Sendable {
    package var outcome: TaskOutcome
    /// The exit status that a command in a terminal would have.
    package var status: Int32
    /// For a person, some lines.
    package var text: String
    /// For scripts, one line of JSON.
    package var summary: String
    /// Why it could not go on, a sentence; nil where it was done, or stopped by others.
    package var cause: String?

    package init(outcome: TaskOutcome, status: Int32, text: String, summary: String, cause: String? = nil) {
        self.outcome = outcome
        self.status = status
        self.text = text
        self.summary = summary
        self.cause = cause
    }
}
