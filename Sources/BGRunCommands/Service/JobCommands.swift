import ArgumentParser
import Foundation
import Glibc
import ServiceAPI
import ServiceClient
import SystemText
import TaskModel

/// `bgrun jobs`.
struct JobsCommand: ParsableCommand {
    static let name = "jobs"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "List the jobs of the service: those that wait, run, are paused, and ended lately.",
        discussion: """
            EXAMPLES
              bgrun jobs
              bgrun jobs --all --json
            """)

    @Flag(help: "Also jobs of earlier days, as far as the store has them.")
    var all = false

    @Flag(help: "Print JSON: an array of jobs.")
    var json = false

    func run() throws { try Self.list(all: all, asJSON: json) }

    static func list(all: Bool = false, asJSON: Bool = false) throws {
        // Nothing runs without a service; only the history of one needs it.
        let jobs =
            ServiceAccess.hasState
            ? try ServiceAccess.ask { client throws(ServiceClient.Failure) in try client.jobs(all: all) } : []
        try StandardOutput.print(
            asJSON ? JSONText.encode(jobs) + "\n" : jobs.isEmpty ? "No jobs.\n" : JobText.table(jobs))
    }
}

/// `bgrun show`.
struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show everything about a job.",
        discussion: """
            EXAMPLES
              bgrun show 3
              bgrun show 3 --json
            """)

    @OptionGroup var job: JobArgument

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let document = try ServiceAccess.ask { client throws(ServiceClient.Failure) in try client.job(job.id) }
        try StandardOutput.print(json ? JSONText.encode(document) + "\n" : JobText.details(document))
    }
}

/// What commands that ask one thing of one job have in common.
protocol JobVerbCommand: ParsableCommand {
    static var verb: JobVerb { get }
    /// One sentence about the job after it.
    static func sentence(_ job: JobDocument) -> String
    var options: JobVerbOptions { get }
}

struct JobVerbOptions: ParsableArguments {
    @OptionGroup var job: JobArgument

    @Flag(help: "Print the job as JSON.")
    var json = false
}

extension JobVerbCommand {
    func run() throws {
        let document = try ServiceAccess.ask { client throws(ServiceClient.Failure) in
            try client.ask(options.job.id, Self.verb)
        }
        try StandardOutput.print(options.json ? JSONText.encode(document) + "\n" : Self.sentence(document) + "\n")
    }
}

/// `bgrun fg`.
struct ForegroundCommand: JobVerbCommand {
    static let configuration = CommandConfiguration(
        commandName: "fg", abstract: "Bring a job to the foreground: it gets the machine from its next chunk on.",
        discussion: """
            The job stays there until bgrun bg, or until a terminal that was attached to it leaves.

            EXAMPLES
              bgrun fg 3
            """)
    static let verb = JobVerb.foreground

    @OptionGroup var options: JobVerbOptions

    static func sentence(_ job: JobDocument) -> String {
        job.state.isActive ? "Job \(job.id) is in the foreground (\(JobText.state(job)))." : JobText.over(job)
    }
}

/// `bgrun bg`.
struct BackgroundCommand: JobVerbCommand {
    static let configuration = CommandConfiguration(
        commandName: "bg", abstract: "Send a job to the background: others get the machine before it.",
        discussion: """
            EXAMPLES
              bgrun bg 3
            """)
    static let verb = JobVerb.background

    @OptionGroup var options: JobVerbOptions

    static func sentence(_ job: JobDocument) -> String {
        guard job.state.isActive else { return JobText.over(job) }
        return job.priority == .background
            ? "Job \(job.id) is in the background (\(JobText.state(job)))."
            : "Job \(job.id) goes to the background in a few seconds: its priority has just changed."
    }
}

/// `bgrun pause`.
struct PauseCommand: JobVerbCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Halt a job at its next chunk; it keeps everything.",
        discussion: """
            EXAMPLES
              bgrun pause 3
            """)
    static let verb = JobVerb.pause

    @OptionGroup var options: JobVerbOptions

    static func sentence(_ job: JobDocument) -> String {
        job.state.isActive ? "Job \(job.id) is paused. bgrun resume \(job.id) lets it go on." : JobText.over(job)
    }
}

/// `bgrun resume`.
struct ResumeCommand: JobVerbCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Let a paused job go on, or take a stopped one up again where it stopped.",
        discussion: """
            EXAMPLES
              bgrun resume 3
            """)
    static let verb = JobVerb.resume

    @OptionGroup var options: JobVerbOptions

    static func sentence(_ job: JobDocument) -> String {
        job.state == .waiting
            ? "Job \(job.id) waits for its turn: bgrun why \(job.id)."
            : "Job \(job.id) goes on (\(JobText.state(job)))."
    }
}

/// `bgrun stop`.
struct StopCommand: JobVerbCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "Stop a job at its next chunk and keep what it has done.",
        discussion: """
            What is finished stays, and bgrun resume goes on with the rest. bgrun wait tells when it has stopped.

            EXAMPLES
              bgrun stop 3
            """)
    static let verb = JobVerb.stop

    @OptionGroup var options: JobVerbOptions

    static func sentence(_ job: JobDocument) -> String {
        job.state == .ended
            ? JobText.over(job) : "Job \(job.id) is stopping. bgrun resume \(job.id) takes it up again."
    }
}

/// `bgrun cancel`.
struct CancelCommand: JobVerbCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "End a job whose result is not wanted; it is not taken up again.",
        discussion: """
            Files that it has finished stay where they are.

            EXAMPLES
              bgrun cancel 3
            """)
    static let verb = JobVerb.cancel

    @OptionGroup var options: JobVerbOptions

    static func sentence(_ job: JobDocument) -> String {
        job.state == .ended ? JobText.over(job) : "Job \(job.id) is ending."
    }
}

extension JobText {
    static func over(_ job: JobDocument) -> String { "Job \(job.id) has ended: \(state(job))." }
}

/// `bgrun logs`.
struct LogsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs", abstract: "Print what a job and its programs wrote.",
        discussion: """
            EXAMPLES
              bgrun logs 3
              bgrun logs 3 --json | jq -r .text
            """)

    @OptionGroup var job: JobArgument

    @Flag(help: "Print JSON: the job's number as id, and what was written as text.")
    var json = false

    private struct Log: Encodable {
        let id: UInt64
        let text: String
    }

    func run() throws {
        let log = try ServiceAccess.ask { client throws(ServiceClient.Failure) in try client.log(of: job.id) }
        guard json else { return try StandardOutput.print(bytes: Array(log)) }
        try StandardOutput.print(JSONText.encode(Log(id: job.id, text: String(system: Array(log)))) + "\n")
    }
}
