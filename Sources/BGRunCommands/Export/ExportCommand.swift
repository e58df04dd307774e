import ArgumentParser
import Foundation
import Glibc
import ServiceAPI
import ServiceClient
import TaskModel

/// `bgrun export`: pictures in, pictures out.
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export pictures: resize, convert, sharpen, encode.",
        discussion: """
            The service of bgrun does the work, so that it goes on when this terminal closes. While you look at it it \
            has the machine; Ctrl-Z or d leave it to the background, where it stays out of your way, and bgrun attach \
            brings it back. Ctrl-C stops it cleanly.

            Inputs are files and folders (with everything below them, hidden names left out); their folder tree is \
            kept in the output folder. Progress goes to standard error. A job that was stopped or killed goes on with \
            the same command: what was finished is not done again.

            EXAMPLES
              bgrun export photos --out web --size 2048 --quality 85
              bgrun export photos --out web --output size=2048 \\
                --output size=256,format=webp,name={stem}-small.{ext}
              bgrun export a.tif b.png --out prints --size fit:3000x2000 \\
                --format png --bits 16 --sharpen 0.6:1.2
              bgrun export photos --out web --size 1024 --dry-run
              bgrun export photos --out web --expire-after 15m --report report.jsonl
              bgrun export photos --out web --detach

            \(ExitStatus.help)
            """)

    @Argument(help: "Pictures and folders of pictures.", completion: .file())
    var inputs: [String]

    @Option(
        help: .init("Folder for the outputs; made when it is not there.", valueName: "folder"), completion: .directory)
    var out: String

    @OptionGroup(title: "OUTPUTS") var outputs: OutputFlags

    @Option(
        help: .init(
            """
            Where an output exists: skip what was made from the same input with the same settings, overwrite, or fail \
            before anything starts.
            """, valueName: "policy"))
    var existing = ExistingPolicy.skip

    @Flag(help: "Show the plan, the estimate and every problem; change nothing.")
    var dryRun = false

    @Option(help: .init("Write a line of JSON for each input; - is standard output.", valueName: "file"))
    var report: String?

    @Flag(help: "Print a summary as JSON on standard output.")
    var json = false

    @Option(help: .init("auto, plain, json or none.", valueName: "mode"))
    var progress = ProgressDisplay.Mode.auto

    @Flag(help: "Require an OpenCL GPU; refuse the job where there is none.")
    var gpu = false

    @Flag(help: "Use an OpenCL GPU where there is one, else the CPU; the result is the same.")
    var preferGpu = false

    @Flag(help: "Use the CPU alone. By default the faster one is found on the first pictures.")
    var cpu = false

    @Option(help: .init("Worker processes; by default one for each core.", valueName: "n"))
    var workers: Int?

    @Option(
        help: .init(
            """
            Memory that all pictures in work may take together, e.g. 800M; by default a quarter of what is free, \
            at least 256M, at most 1G for each worker, and never more than half of it.
            """, valueName: "size"))
    var memory: ByteCount?

    @Option(
        help: .init(
            "Stop cleanly after this time, e.g. 500ms, 90s, 15m, 2h, 1d; without a unit in seconds.", valueName: "time"),
        transform: TimeSpan.parse)
    var expireAfter: TimeSpan?

    @Option(
        help: .init(
            "Time for pictures in work after a stop, e.g. 500ms or 5s (default); what is not done then is done by the next run.",
            valueName: "time"), transform: TimeSpan.parse)
    var grace = TimeSpan(duration: .seconds(5))

    @Option(
        help: .init(
            "Give up a picture that makes no progress for so long, e.g. 60s (default) or 5m.", valueName: "time"),
        transform: TimeSpan.parse)
    var stallLimit = TimeSpan(duration: .seconds(60))

    @Option(help: .init("What the job is called in lists.", valueName: "text"))
    var title: String?

    @Flag(help: "Leave it to the background at once, and print the job's number.")
    var detach = false

    @Flag(help: "Run without the service: for containers, clusters and scripts. BGRUN_IN_PROCESS=1 does the same.")
    var inProcess = false

    @OptionGroup(title: "LIMITS") var limits: LimitFlags

    /// The descriptor of a socket to the host of this job, which is told and obeyed instead of a terminal.
    @Option(help: .hidden)
    var jobChannel: Int32?

    func validate() throws {
        guard !detach || !inProcess && !dryRun else {
            throw ValidationError("--detach is for the service; it excludes --in-process and --dry-run")
        }
        guard [gpu, preferGpu, cpu].count(where: { $0 }) <= 1 else {
            throw ValidationError("--gpu, --prefer-gpu and --cpu exclude each other")
        }
        guard jobChannel == nil || !dryRun else { throw ValidationError("a dry run is no job") }
        guard !inputs.isEmpty else { throw ValidationError("name at least one picture or folder") }
        guard workers.map({ (1...1024).contains($0) }) ?? true else {
            throw ValidationError("--workers takes a number from 1 to 1024")
        }
        guard !out.isEmpty, !inputs.contains("") else { throw ValidationError("an empty path is no file or folder") }
        do {
            for spec in try outputs.specs() { _ = try spec.name.map { text in try NameTemplate(text) } }
        } catch {
            throw ValidationError("\(error)")
        }
    }

    func run() throws {
        let session = try ExportSession(self)
        guard runsHere else { throw try submit(session.request) }
        let status = session.run()
        guard status == .done else { throw status.code }
    }

    /// It is the work of this process, and of no service.
    private var runsHere: Bool {
        let variable = ProcessInfo.processInfo.environment["BGRUN_IN_PROCESS"] ?? ""
        return inProcess || dryRun || jobChannel != nil || !variable.isEmpty
    }

    /// Has the service do it, and shows it unless it is detached.
    ///
    /// - Returns: The exit status.
    private func submit(_ request: TaskRequest) throws -> ExitCode {
        let submission = JobSubmission(
            work: .bgrun, arguments: Array(CommandLine.arguments.dropFirst()),
            folder: FileManager.default.currentDirectoryPath, environment: ProcessInfo.processInfo.environment,
            title: request.title, subtitle: request.subtitle,
            name: String(request.identifier.rawValue.dropFirst(Program.identifier.count + 1)), requiresGPU: gpu,
            prefersGPU: preferGpu, initiator: request.initiator, foreground: !detach)
        let job = try ServiceAccess.submit(submission, request.identifier)
        guard !detach else {
            try job.tellDetached(json: json)
            return ExitStatus.done.code
        }
        return ExitCode(try JobFollower(job.id, progress: progress, json: json).follow())
    }
}
