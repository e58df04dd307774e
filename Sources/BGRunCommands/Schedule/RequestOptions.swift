import ArgumentParser
import BackgroundTasks
import DescribedFile
import ScheduleSimulation
import TaskModel

extension TaskKind: ExpressibleByArgument {}

/// What is asked for, on the command line.
struct RequestOptions: ParsableArguments {
    @Option(
        help: .init(
            "The program's manifest, in YAML or JSON; by default what BGRUN_MANIFEST names, or bgrun-tasks.yml here.",
            valueName: "file"), completion: .file())
    var manifest: String?

    @Option(help: .init("The program; by default that of the manifest.", valueName: "name"))
    var program: String?

    @Option(help: .init("refresh, processing or continued.", valueName: "kind"))
    var kind: TaskKind?

    @Flag(help: "Wait for a network.")
    var requiresNetwork = false

    @Flag(help: "Wait for external power.")
    var requiresPower = false

    @Flag(help: "Processing work that goes on while somebody uses the machine.")
    var notIdle = false

    @Flag(help: "Require a GPU.")
    var gpu = false

    @Flag(help: "Use a GPU where there is one.")
    var preferGpu = false

    @Option(help: .init("Not before, e.g. 22:00, +2h or 2026-03-02T22:00.", valueName: "time"))
    var at: String?

    @Option(
        help: .init("For continued work that cannot start at once: queue (default) or fail.", valueName: "strategy"))
    var strategy: String?

    @Option(help: .init("Memory that the work claims, e.g. 800M.", valueName: "size"))
    var memory: ByteCount?

    @Option(help: .init("Device memory that the work claims.", valueName: "size"))
    var gpuMemory: ByteCount?

    @Option(
        help: .init("How long the work takes alone, for the estimate, e.g. 20m.", valueName: "time"),
        transform: TimeSpan.parse)
    var work: TimeSpan?

    func validate() throws {
        if let strategy, !["queue", "fail"].contains(strategy) {
            throw ValidationError("--strategy is queue or fail")
        }
        guard !(gpu && preferGpu) else { throw ValidationError("--gpu and --prefer-gpu exclude each other") }
        if let at, DayTraceReader.time(at, start: WallTime(sinceEpoch: .zero)) == nil {
            throw ValidationError("--at takes a time as 22:00, +2h or 2026-03-02T22:00")
        }
    }

    /// Puts what was given over what a file says.
    func apply(to request: inout TaskRequest, now: WallTime) {
        if let kind { request.kind = kind }
        if requiresNetwork { request.requiresNetwork = true }
        if requiresPower { request.requiresExternalPower = true }
        if notIdle { request.requiresIdle = false }
        if gpu { request.requiredResources.insert(.gpu) }
        if preferGpu { request.preferredResources.insert(.gpu) }
        if let at { request.earliestBegin = ThisMachine.wait(until: at, from: now).map { now.sinceEpoch + $0 } }
        if let strategy { request.strategy = strategy == "fail" ? .fail : .queue }
        if let memory { request.claim.memoryBytes = memory.bytes }
        if let gpuMemory { request.claim.deviceMemoryBytes = gpuMemory.bytes }
        if let work { request.expectedWork = work.duration }
    }
}

/// A request as a file or the command line describes it, with the program that makes it.
struct DescribedRequest {
    var manifest: ProgramManifest
    var request: TaskRequest
    /// The program's name, as it was given.
    var program: String

    /// Puts together what a file and the options say.
    ///
    /// - Throws: An exit status, after telling on standard error what is wrong.
    init(file: String?, identifier: String?, options: RequestOptions) throws {
        let now = ThisMachine.currentTime()
        var request: TaskRequest?
        var manifest: ProgramManifest?
        var program = options.program
        if let file {
            do throws(FileMistakes) {
                let described = try DescribedFile.read(path: file)
                if let fields = described.root.fields(RequestFields.keys + ["manifest"]) {
                    request = RequestFields.read(fields) { Self.floor($0, now: now) }
                    program = program ?? fields["program"]?.text()
                    if options.manifest == nil, let value = fields["manifest"] {
                        manifest =
                            value.isMapping
                            ? DescribedManifest.read(value)?.program : try Self.manifest(value, of: file)
                    }
                }
                try described.log.check()
            } catch {
                throw error.told(.doneWithFailures)
            }
        }
        var complete = request ?? TaskRequest(identifier: TaskIdentifier(identifier ?? ""), kind: .continued)
        if let identifier { complete.identifier = TaskIdentifier(identifier) }
        guard !complete.identifier.rawValue.isEmpty, request != nil || options.kind != nil else {
            throw Trouble.told(
                "a request needs an identifier and a kind.",
                fix: "Name a file that describes it, or give --identifier and --kind.", .usage)
        }
        options.apply(to: &complete, now: now)
        let isOwn = complete.identifier.rawValue.hasPrefix("\(Program.identifier).")
        // As a program of the library finds it, but for the folder of its executable.
        let found = manifest == nil && !isOwn ? ManifestSearch.path(executableFolder: nil) : nil
        if let path = options.manifest ?? found {
            do throws(FileMistakes) {
                manifest = try Self.manifest(at: path)
            } catch {
                throw error.told(.configuration)
            }
        }
        guard let known = manifest ?? (isOwn ? Program.manifest : nil) else {
            throw Trouble.told(
                "the program's manifest is not known.",
                fix: "Name it by --manifest, in the file by \"manifest\", or by BGRUN_MANIFEST.", .usage)
        }
        self.manifest = known
        self.request = complete
        self.program = program ?? known.program
    }

    private static func manifest(at path: String) throws(FileMistakes) -> ProgramManifest? {
        let described = try DescribedFile.read(path: path)
        let manifest = DescribedManifest.read(described.root)?.program
        try described.log.check()
        return manifest
    }

    /// A manifest named in a file is looked for beside it.
    private static func manifest(_ value: DescribedValue, of file: String) throws(FileMistakes) -> ProgramManifest? {
        guard let name = value.text() else { return nil }
        let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
        return try manifest(at: name.hasPrefix("/") ? name : folder + name)
    }

    private static func floor(_ value: DescribedValue, now: WallTime) -> Duration? {
        guard let text = value.text() else { return nil }
        guard let time = ThisMachine.wait(until: text, from: now) else {
            value.refuse("notATime", "\"\(text)\" is no time.", fix: "Write a time as 22:00, +2h or 2026-03-02T22:00.")
            return nil
        }
        return now.sinceEpoch + time
    }
}
