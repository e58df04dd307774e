import ArgumentParser
import Foundation
import Glibc
import SchedulingCore
import TaskModel

/// What a person says about a job of any kind of work: where it runs, how long, and what it tells.
struct JobFlags: ParsableArguments {
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

    @Flag(help: "Use the CPU alone. By default the faster one is found on the first inputs.")
    var cpu = false

    @Option(help: .init("Worker processes; by default one for each core.", valueName: "n"))
    var workers: Int?

    @Flag(help: "Give each input a worker process of its own; slower.")
    var isolate = false

    @Option(
        help: .init(
            """
            Memory that all inputs in work may take together, e.g. 800M; by default a quarter of what is free, \
            at least 256M and at most 1G for each worker or 4G, and never more than half of it.
            """, valueName: "size"))
    var memory: ByteCount?

    @Option(
        help: .init(
            "Stop cleanly after this time, e.g. 500ms, 90s, 15m, 2h, 1d; without a unit in seconds.", valueName: "time"),
        transform: TimeSpan.parse)
    var expireAfter: TimeSpan?

    @Option(
        help: .init(
            """
            Time for inputs in work after a stop, e.g. 500ms or 5s (default), and up to six times that for an encode that is \
            to end by then; what is not done then is done by the next run. A job of the service has 5s at most when it is \
            stopped from outside, by Ctrl-C too.
            """, valueName: "time"), transform: TimeSpan.parse)
    var grace = TimeSpan(duration: .seconds(5))

    @Option(
        help: .init(
            """
            Give up an input that makes no progress for so long, e.g. 60s (default) or 5m. Iterations of a model's loop that \
            only its own condition ends count as none.
            """, valueName: "time"),
        transform: TimeSpan.parse)
    var stallLimit = TimeSpan(duration: .seconds(60))

    @Option(help: .init("What the job is called in lists.", valueName: "text"))
    var title: String?

    @Flag(help: "Leave it to the background at once, and print the job's number.")
    var detach = false

    @Flag(help: "Run without the service: for containers, clusters and scripts. BGRUN_IN_PROCESS=1 does the same.")
    var inProcess = false

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
        guard workers.map({ (1...1024).contains($0) }) ?? true else {
            throw ValidationError("--workers takes a number from 1 to 1024")
        }
    }

    /// It is the work of this process, and of no service.
    var runsHere: Bool {
        let variable = ProcessInfo.processInfo.environment["BGRUN_IN_PROCESS"] ?? ""
        return inProcess || dryRun || jobChannel != nil || !variable.isEmpty
    }

    /// A command's words but those of the terminal it is given in: two commands with the same are for the same work.
    static func work(in arguments: [String]) -> [String] {
        var words: [String] = []
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--detach": continue
            case "--progress": rest = rest.dropFirst()
            case "--": return words + [word] + rest
            default: if !word.hasPrefix("--progress=") { words.append(word) }
            }
        }
        return words
    }

    var workerCount: Int { workers ?? Machine.allowedCores }

    var lanePreference: LanePolicy.Preference {
        if gpu { return .requireDevice }
        if preferGpu { return .preferDevice }
        return cpu ? .cpu : .measured
    }

    /// The request for a job of continued work, which its title may be given to by the person.
    func request(_ name: String, title: String, subtitle: String) -> TaskRequest {
        let resources: ComputeResources = .gpu
        return TaskRequest(
            identifier: TaskIdentifier("\(Program.identifier).\(name)"), kind: .continued, title: self.title ?? title,
            subtitle: subtitle, requiredResources: gpu ? resources : [], preferredResources: preferGpu ? resources : [],
            initiator: isatty(STDIN_FILENO) == 1 ? .terminal : .script)
    }
}

extension ExistingPolicy: ExpressibleByArgument {}

extension LanePolicy.Preference {
    /// Devices give other last digits than the CPU: one of them is used where it is asked for, and none by measuring, so
    /// that the same command gives the same bytes.
    static func deterministic(_ flags: JobFlags) -> Self {
        flags.lanePreference == .measured ? .cpu : flags.lanePreference
    }
}
