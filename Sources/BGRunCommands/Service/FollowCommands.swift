import ArgumentParser
import Foundation
import Glibc
import ScheduleSimulation
import SchedulingCore
import ServiceAPI
import ServiceClient
import SystemText
import TaskModel

/// `bgrun attach`.
struct AttachCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attach", abstract: "Show a job and bring it to the foreground until you leave it.",
        discussion: """
            Ctrl-C stops the job. d and Ctrl-Z leave it to the background, and so does closing the terminal.

            EXAMPLES
              bgrun attach 3
            """)

    @OptionGroup var job: JobArgument

    @Option(help: .init("auto, plain, json or none.", valueName: "mode"))
    var progress = ProgressDisplay.Mode.auto

    @Flag(help: "Print the job's summary as JSON at its end.")
    var json = false

    func run() throws {
        _ = try ServiceAccess.ask { client throws(ServiceClient.Failure) in try client.job(job.id) }
        throw ExitCode(try JobFollower(job.id, progress: progress, json: json).follow())
    }
}

/// `bgrun wait`.
struct WaitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait for the end of jobs, and leave the exit status of the first that did not go well.",
        discussion: """
            The jobs stay in the background.

            EXAMPLES
              bgrun wait 3 4
            """)

    @Argument(help: .init("Numbers of jobs, as bgrun jobs shows them.", valueName: "id"))
    var ids: [UInt64]

    @Flag(help: "Print the jobs as JSON when they have ended.")
    var json = false

    func run() throws {
        var jobs: [JobDocument] = []
        for id in ids {
            while true {
                let job = try ServiceAccess.ask { client throws(ServiceClient.Failure) in try client.job(id) }
                if !job.state.isActive {
                    jobs.append(job)
                    break
                }
                // A service that is lost is started again by the next question.
                _ = try? ServiceAccess.client.follow(id, after: 0, isWaiting: false, isQuiet: true) { _ in }
            }
        }
        if json { try StandardOutput.print(JSONText.encode(jobs) + "\n") }
        if let status = jobs.map(\.exitStatus).first(where: { $0 != 0 }) { throw ExitCode(status) }
    }
}

/// `bgrun run`.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run any command as a job: when the machine allows it, out of the person's way.",
        discussion: """
            Without a condition or a time the command starts at once and is shown until it ends, but for what it \
            writes, which bgrun logs shows; its status is left, or 127 where there is no such command. Leave it with \
            d or Ctrl-Z, or start it with --detach. With a condition or a time it waits in the background until that \
            holds, and is told to stop (SIGTERM, and SIGKILL after 5 seconds) when it is lost. A command that leaves \
            status 75 is taken to have saved its state; bgrun resume starts it again.

            Commands may tell their progress on the descriptor that BGRUN_PROGRESS_FD names, in lines:
              progress 12 100       12 of 100 are done
              phase loading model   alive, without countable progress
              note 3 files skipped  a sentence for you

            EXAMPLES
              bgrun run -- ffmpeg -i in.mkv out.mp4
              bgrun run --detach --requires-power --idle --title "Proxies" -- ./proxies.sh
              bgrun run --at 22:30 -- rsync -a photos/ /mnt/backup/
              bgrun run --every 6h --requires-network -- ./fetch.sh
              bgrun run -- sh -c 'for i in $(seq 9); do sleep 1; echo progress $i 9 >&3; done'

            EXIT STATUS
              that of the command; 75 stopped early, 69 a required resource is missing, 0 when it was left or detached
            """)

    @Option(help: .init("What the job is called in lists.", valueName: "text"))
    var title: String?

    @Flag(help: "Wait for external power, and stop without it.")
    var requiresPower = false

    @Flag(help: "Wait for a network, and stop without it.")
    var requiresNetwork = false

    @Flag(help: "Wait until nobody uses the machine, and stop when somebody does.")
    var idle = false

    @Flag(help: "Require an OpenCL GPU; refuse the job where there is none.")
    var gpu = false

    @Option(help: .init("Not before this moment: 22:30, or 2026-12-24T18:00.", valueName: "time"))
    var at: String?

    @Option(help: .init("Not before so long from now, e.g. 90s or 2h.", valueName: "time"), transform: TimeSpan.parse)
    var after: TimeSpan?

    @Option(
        help: .init("Again and again, so long from start to start, e.g. 6h.", valueName: "time"),
        transform: TimeSpan.parse)
    var every: TimeSpan?

    @Option(help: .init("Memory that has to be free for it, e.g. 2G.", valueName: "size"))
    var memory: ByteCount?

    @Flag(help: "Refuse it when it cannot start at once.")
    var fail = false

    @Flag(help: "Leave it to the background at once, and print its number.")
    var detach = false

    @Flag(help: "Print JSON: the job when it is detached, otherwise at its end.")
    var json = false

    @Option(help: .init("auto, plain, json or none.", valueName: "mode"))
    var progress = ProgressDisplay.Mode.auto

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.")
    var command: [String] = []

    func validate() throws {
        guard !command.isEmpty else { throw ValidationError("name a command after --, e.g. bgrun run -- make") }
        guard at == nil || after == nil else { throw ValidationError("--at and --after exclude each other") }
        guard !fail || !hasConditions else {
            throw ValidationError("--fail is for work that starts at once; it excludes conditions and times")
        }
        if let every, every.duration < .seconds(1) { throw ValidationError("--every takes at least 1s") }
        if let at, Self.wait(until: at) == nil {
            throw ValidationError("--at takes a time of day such as 22:30, or a date such as 2026-12-24T18:00")
        }
    }

    /// Time from now to the next such time of day, or to that date.
    private static func wait(until text: String) -> Duration? {
        ThisMachine.wait(until: text, from: ThisMachine.currentTime())
    }

    private var hasConditions: Bool {
        requiresPower || requiresNetwork || idle || at != nil || after != nil || every != nil
    }

    func run() throws {
        let now = Date().timeIntervalSince1970
        let begin = (at.flatMap(Self.wait) ?? after?.duration).map { now + $0.inSeconds }
        let submission = JobSubmission(
            work: .command, arguments: command, folder: ProcessTexts.folder ?? "/",
            environment: ProcessTexts.environment, umask: FileMask.own,
            mode: hasConditions ? .processing : .continued,
            title: title ?? command.joined(separator: " "),
            name: "run.\(UInt64(now * 1e6))-\(getpid())", requiresExternalPower: requiresPower,
            requiresNetwork: requiresNetwork, requiresIdle: idle, requiresGPU: gpu, failsWithoutRoom: fail,
            earliestBegin: begin, interval: every?.duration.inSeconds, memoryBytes: memory?.bytes ?? 0,
            initiator: isatty(STDIN_FILENO) == 1 ? .terminal : .script, foreground: !detach && !hasConditions)
        let job = try ServiceAccess.ask { client throws(ServiceClient.Failure) in try client.submit(submission) }
        // What waits for a condition is not waited for.
        guard !detach, !hasConditions else { return try job.tellDetached(json: json) }
        throw ExitCode(try JobFollower(job.id, progress: progress, json: json).follow())
    }
}

extension JobDocument {
    /// Tells the number of a job that nobody waits for.
    func tellDetached(json: Bool) throws {
        if json { return try StandardOutput.print(JSONText.encode(self) + "\n") }
        let why = reasons.isEmpty ? "" : " It waits: \(reasons.map(\.sentence).joined(separator: " "))"
        try StandardOutput.print("\(id)\n")
        StandardError.write("Job \(id) is \(state.rawValue) in the background.\(why) bgrun attach \(id) shows it.\n")
    }
}
