import ArgumentParser
import FoundationEssentials
import Glibc
import ScheduleSimulation
import SchedulingCore
import ServiceAPI
import ServiceClient
import TaskModel
import TaskStore

struct WhyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Tell everything that keeps a request from running, what was measured, and what would help.",
        discussion: """
            With --trace the identifier is one of a described day (see bgrun simulate), at a moment of it. With a \
            manifest and a kind it is told what would hold such a request up on this machine now. A number is a \
            job of the service, as bgrun jobs shows it. Otherwise it is the identifier of an export of this machine.

            EXAMPLES
              bgrun why --trace day.yml --at 14:30 org.example.photos.faces
              bgrun why --manifest photos.yml --kind processing --requires-power org.example.photos.faces
              bgrun why 3
              bgrun why bgrun.export.0123456789abcdef

            EXIT STATUS
              as bgrun submit; 66 also when nothing is known by this name
            """
    )

    @Argument(help: "What is asked about.")
    var identifier: String

    @Option(help: .init("A described day.", valueName: "file"), completion: .file())
    var trace: String?

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup(title: "REQUEST") var options: RequestOptions

    func validate() throws {
        guard trace == nil || options.manifest == nil && options.kind == nil else {
            throw ValidationError("--trace and the description of a request exclude each other")
        }
    }

    func run() throws {
        if let trace { return try explainDay(trace) }
        if options.manifest != nil || options.kind != nil { return try explainRequest() }
        if let number = UInt64(identifier) { return try explainJob(number) }
        try explainRecorded()
    }

    // MARK: A job of the service

    private func explainJob(_ number: UInt64) throws {
        let job = try ServiceAccess.ask { client throws(ServiceClient.Failure) in try client.job(number) }
        if json { return try StandardOutput.print(JSONText.encode(job) + "\n") }
        let standing = "\(job.id)  \(job.shownTitle): \(JobText.state(job))"
        try StandardOutput.print(([standing] + JobText.reasons(job)).joined(separator: "\n") + "\n")
    }

    // MARK: A described day

    private func explainDay(_ file: String) throws {
        let day = try DescribedDay.read(file)
        var moment = day.length
        if let text = options.at, let time = DayTraceReader.time(text, start: day.start) {
            guard time >= .zero, time <= day.length else {
                throw Trouble.told("\(text) is not within the day of \(file).", fix: "Choose another time.", .usage)
            }
            moment = time
        }
        let names = day.entries.compactMap { entry in
            if case .request(let virtual) = entry.happening { virtual.request.identifier } else { nil }
        }
        let name = try SpanHistory.find(identifier, among: names, in: file)
        var played = VirtualDay(day)
        played.play(until: moment)
        let standing = DayStanding(played, name, start: day.start)
        try StandardOutput.print(json ? JSONText.encode(standing.document) + "\n" : standing.text)
    }

    // MARK: This machine

    private func explainRequest() throws {
        let preview = SubmissionPreview(
            try DescribedRequest(file: nil, identifier: identifier, options: options))
        try StandardOutput.print(json ? JSONText.encode(preview.document) + "\n" : preview.text)
        guard preview.status == .done else { throw preview.status.code }
    }

    private func explainRecorded() throws {
        let folder = StateFolder.path(ProcessInfo.processInfo.environment)
        var known: JobHistory?
        var names: [String] = []
        // Asking must not make the journal.
        if FileManager.default.fileExists(atPath: TaskStore.path(in: folder)) {
            do throws(StoreError) {
                let store = try TaskStore(folder: folder, program: Program.version)
                known = try store.history(TaskIdentifier(identifier))
                if known == nil { names = try store.identifiers() }
            } catch {
                throw Trouble.told(error.sentence, fix: error.fix, ExitStatus.of(error))
            }
        }
        guard let known else {
            let near = ClosestNames.sentence(to: identifier, among: names)
            let latest = names.first.map { " The latest is \"\($0)\"." } ?? ""
            throw Trouble.told(
                "no job of this machine is called \"\(identifier)\".\(near.isEmpty ? latest : near)",
                fix: "Name a job that bgrun export has begun, or describe a request with --manifest and --kind.",
                .missingInput)
        }
        let standing = RecordedStanding(identifier: identifier, history: known)
        try StandardOutput.print(json ? JSONText.encode(standing) + "\n" : standing.text)
    }
}

/// How an identifier of a described day stands at a moment.
struct DayStanding {
    private let name: TaskIdentifier
    private let now: Duration
    private let start: WallTime
    private let summary: JobSummary?
    private let reasons: [WaitReason]
    private let earliest: Duration?
    private let waits: [(code: WaitReason.Code, time: Duration)]
    private let job: Timeline.Job?
    private let rejections: [Timeline.RejectedRequest]

    init(_ day: VirtualDay, _ name: TaskIdentifier, start: WallTime) {
        self.name = name
        self.start = start
        now = day.now
        let id = day.job(name)
        let timeline = day.timeline
        summary = id.flatMap(day.scheduler.summary)
        reasons = id.map(day.scheduler.why) ?? []
        earliest = day.scheduler.earliestStart(reasons)
        job = timeline.jobs.last { $0.id == id }
        waits = job?.waits ?? []
        rejections = timeline.rejections.filter { $0.identifier == name }
    }

    var text: String {
        let moment = { (time: Duration) in start.advanced(by: time) }
        var lines = ["\(name) at \(moment(now).text): \(state)"]
        lines += ReasonText.lines(reasons, now: now, moment: moment)
        if !reasons.isEmpty {
            let when = earliest.map { ReasonText.when($0, now: now, moment: moment) }
            lines.append("Earliest start: \(when ?? "not known").")
        }
        if !waits.isEmpty { lines.append("Waited so far for: \(ReasonText.history(waits)).") }
        for rejection in rejections {
            lines.append("Rejected at \(moment(rejection.at).text):")
            lines += rejection.rejection.failures.map { "  \($0.detail): \($0.sentence) \($0.fix)" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var state: String {
        guard let job else { return rejections.isEmpty ? "not asked for yet" : "rejected" }
        if let outcome = job.outcome, let ended = job.ended {
            return "over since \(start.advanced(by: ended).clockWithSeconds): \(outcome.code)"
        }
        let since = job.spans.last.map { " since \(start.advanced(by: $0.from).clockWithSeconds)" } ?? ""
        return (summary?.state.rawValue ?? "waiting") + since
    }

    struct Document: Encodable {
        let version = 1
        let identifier, state: String
        /// Seconds since the start of the day.
        let at: Double
        let outcome: String?
        let reasons: [ReasonDocument]
        /// Seconds since the start of the day; nil when it is not known.
        let earliestStart: Double?
        let waitedFor: [String: Double]
        let failures: [Rejection.Failure]
    }

    var document: Document {
        Document(
            identifier: name.rawValue,
            state: job == nil ? (rejections.isEmpty ? "notYet" : "rejected") : summary?.state.rawValue ?? "ended",
            at: now.inSeconds, outcome: job?.outcome?.code,
            reasons: reasons.map { ReasonDocument($0, origin: .zero) },
            earliestStart: reasons.isEmpty ? nil : earliest?.inSeconds,
            waitedFor: Dictionary(
                waits.map { ($0.code.text, $0.time.inSeconds) }, uniquingKeysWith: { first, _ in first }),
            failures: rejections.flatMap(\.rejection.failures))
    }
}

/// How a job of this machine stands, as far as its journal knows.
struct RecordedStanding: Encodable {
    let version = 1
    let identifier: String
    let run: Int64
    /// Seconds since 1970.
    let begun: Double
    let ended: Double?
    let outcome: String?

    init(identifier: String, history: JobHistory) {
        self.identifier = identifier
        run = history.run
        begun = history.begun
        ended = history.ended
        outcome = history.outcome
    }

    var text: String {
        let offset = ThisMachine.currentTime().offsetSeconds
        let moment = { (seconds: Double) in
            WallTime(sinceEpoch: .seconds(Int(seconds)), offsetSeconds: offset).text
        }
        guard let ended, let outcome else {
            return "\(identifier): begun at \(moment(begun)) and not ended. It runs, or it was killed; the same "
                + "command goes on with it, and says so when it runs.\n"
        }
        let hint =
            outcome.hasPrefix("completed") ? "It waits for nothing." : "The same command goes on where it stopped."
        return "\(identifier): \(outcome) at \(moment(ended)) in run \(run). \(hint)\n"
    }
}
