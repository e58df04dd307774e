import ArgumentParser
import Foundation
import Glibc
import ImageExport
import JobLink
import SchedulingCore
import TaskModel
import TaskStore

/// One run of `bgrun export`, from the parsed command line to the exit status.
struct ExportSession {
    private let command: ExportCommand
    private let folder: String
    private let inputs: [String]
    private let specs: [OutputSpec]
    private let templates: [NameTemplate]
    private let clock = SuspendingClock()
    private let begin: SuspendingClock.Instant
    private let stateFolder = StateFolder.path(ProcessInfo.processInfo.environment)
    private let host: JobHost?
    private let hostAudience: HostAudience?

    /// - Throws: A `ValidationError` for options that contradict each other or cannot be used.
    init(_ command: ExportCommand) throws {
        self.command = command
        begin = clock.now
        folder = CanonicalPath.folder(command.out)
        inputs = command.inputs.map(CanonicalPath.input)
        specs = try command.outputs.specs()
        let fallback = specs.count > 1 ? "{stem}-{size}.{ext}" : "{stem}.{ext}"
        templates = try specs.map { spec in try NameTemplate(spec.name ?? fallback) }
        host = try command.jobChannel.map { descriptor in
            guard let host = JobHost(descriptor: descriptor) else {
                throw ValidationError("--job-channel takes an open descriptor")
            }
            return host
        }
        hostAudience = host.map { HostAudience($0) }
    }

    func run() -> ExitStatus {
        let ending: ExportEnding
        do throws(StoreError) {
            ending = try carryOut()
        } catch {
            ending = .failed(error)
        }
        if let host {
            ending.tell(host)
        } else if !ending.text.isEmpty {
            StandardError.write(ending.text)
        }
        return ending.status
    }

    private func carryOut() throws(StoreError) -> ExportEnding {
        var status = stat()
        if stat(folder, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
            return .refused(
                "outputFolder", .cannotCreate,
                "bgrun: nothing was started.\n  outputFolder: \(folder) is a file, not a folder\n")
        }
        let signals = StopSignals.install()
        host?.listen()
        if [.requireDevice, .preferDevice].contains(command.lanePreference) {
            hostAudience?.phase("looking for a GPU")
        }
        let offer = ComputeOffer.look(for: command.lanePreference)
        let request = self.request
        let own =
            host == nil || command.gpu
            ? InProcessHost.ofOneExport(command, request, into: folder, offer, workers: workerCount) : nil
        // What else it asks for is granted to it everywhere.
        if command.gpu, let rejection = own?.rejection(of: .init(request)) { return .refused(rejection) }
        if host == nil, !command.dryRun { own?.submit(.init(request)) }
        // Workers start while the inputs are listed.
        let early = command.dryRun ? [] : (try? [WorkerProcess()]) ?? []

        hostAudience?.phase("listing the inputs")
        let scan = InputScan(inputs, excluding: folder) { StopSignals.received != nil }
        guard scan.missing.isEmpty else { return .missing(scan.missing) }
        if let signal = StopSignals.received { return .stoppedBeforeStart(.asked(by: signal)) }
        if command.dryRun { return try dryRun(scan) }
        let store = try TaskStore(folder: stateFolder, program: Program.version)
        // Two jobs that write into one folder would take each other's files for their own.
        guard let lock = try JobLock("output.\(Fingerprint.hexadecimal([folder]))", in: stateFolder) else {
            return .refused(alreadyRunning)
        }
        defer { withExtendedLifetime(lock) {} }
        let last = try store.lookUp(request.identifier)
        let plan = try planner.plan(scan, journal: store.known, job: last?.continues == true ? last : nil)
        guard plan.refusals.isEmpty else { return .refused(plan.refusals) }
        guard plan.inputCount > 0 else { return nothingFound(plan) }
        if let folder = plan.unwritableFolder(folder) {
            let reason = access(folder, W_OK) == 0 ? "" : " (\(String(cString: strerror(errno))))"
            return .refused(
                "outputFolder", .cannotCreate,
                "bgrun: nothing can be written in \(folder)\(reason). Make it writable.\n")
        }
        if host == nil, let own, let ending = waitForLaunch(own, signals) { return ending }
        let report: ReportFile?
        do throws(ReportFile.Refusal) {
            let inputs = Set(scan.files.map(\.key))
            report = try command.report.map { path throws(ReportFile.Refusal) in
                try ReportFile(path, inputs: inputs, lineSink: host.map { host in { host.tell(.record($0)) } })
            }
        } catch {
            return .refused("report", error.status, "bgrun: \(error.sentence)\n")
        }
        let outputs: OutputFolder?
        do throws(ExportFailure) {
            outputs = plan.items.isEmpty ? nil : try OutputFolder(path: folder)
        } catch {
            return .refused(
                error.code, error.code == "outputRefused" ? .cannotCreate : .writeFailed,
                "bgrun: nothing was started.\n  \(error.code): \(error.reason)\n")
        }
        let job = try store.begin(request, requestText: JSONText.encode(request), now: Self.wallTime)
        Leftovers.remove(from: plan.outputFolders)
        return try export(plan, store, job, offer, signals, early, report, outputs, own)
    }

    /// Waits until the scheduler of this process lets the export start.
    ///
    /// - Returns: Why it does not start; nil when it does.
    private func waitForLaunch(_ own: InProcessHost, _ signals: Int32) -> ExportEnding? {
        var display = ProgressDisplay(command.progress)
        var waits = false
        while !own.isLaunched {
            let reason = own.reason
            if case .failure(let rejection) = own.answer { return .refused(rejection) }
            if !waits, let reason {
                waits = true
                display.note("Waiting: \(reason)")
            }
            // What comes before that is dealt with by the run.
            if waits, let signal = StopSignals.received { return .stoppedBeforeStart(.asked(by: signal)) }
            let left = waits ? command.expireAfter.map { $0.duration - begin.duration(to: clock.now) } : nil
            if let left, left <= .zero { return .stoppedBeforeStart(.timeBudget) }
            var signal = pollfd(fd: signals, events: Int16(POLLIN), revents: 0)
            _ = poll(&signal, 1, left.map { Int32(clamping: Int(($0.inSeconds * 1000).rounded(.up))) } ?? -1)
            StopSignals.drain(signals)
        }
        return nil
    }

    private func dryRun(_ scan: InputScan) throws(StoreError) -> ExportEnding {
        var known: ([String]) throws(StoreError) -> [PathKey: KnownOutput] = { _ in [:] }
        var last: JobRecord?
        var rates: ClosedRange<Double>?
        // Without a journal there is nothing to know, and none is made.
        if ExistingFile(TaskStore.path(in: stateFolder)) != nil {
            let store = try TaskStore(folder: stateFolder, program: Program.version)
            known = store.known
            last = try store.lookUp(request.identifier)
            rates = try store.rates()
        }
        var plan = try planner.plan(scan, journal: known, job: last?.continues == true ? last : nil)
        guard plan.refusals.isEmpty else { return .refused(plan.refusals) }
        guard plan.inputCount > 0 else { return nothingFound(plan) }
        plan.checkContents()
        let status = DryRun(plan: plan, command: command, workers: workerCount, rates: rates).show()
        return ExportEnding(.completed(failures: 0), status, text: "")
    }

    private func export(
        _ plan: ExportPlan, _ store: TaskStore, _ job: JobRecord, _ offer: ComputeOffer, _ signals: Int32,
        _ early: [WorkerProcess], _ report: ReportFile?, _ outputs: OutputFolder?, _ own: InProcessHost?
    ) throws(StoreError) -> ExportEnding {
        let ledger = ExportLedger(
            report: report, audience: hostAudience ?? HostedDisplay(ProgressDisplay(command.progress), own),
            keepsAllProblems: command.json)
        for record in plan.settled { ledger.add(record) }
        for record in plan.passedOver { report?.add(record) }
        if let note = plan.passedOverNote { ledger.note("bgrun: \(note).") }
        let workers = min(workerCount, max(plan.items.count, 1))
        let search = command.lanePreference == .measured ? DeviceSearch.start(items: plan.items.count) : nil
        let settings = ExportRun.Settings(
            limits: JobMachine.Limits(
                workers: workers, claimBytes: command.memory?.bytes ?? Machine.defaultClaimBytes(workers: workers),
                hang: command.stallLimit.duration, grace: command.grace.duration),
            decodeLimits: command.limits.limits,
            lanes: LanePolicy(command.lanePreference, deviceIsUsable: offer.device != nil), device: offer.device,
            search: search, expireAfter: command.expireAfter?.duration, signals: signals, host: host ?? own,
            outputs: outputs)
        if command.preferGpu, offer.device == nil {
            let reason = offer.absences.first?.sentence ?? "There is no GPU."
            ledger.note("bgrun: --prefer-gpu: the CPU is used. \(reason)")
        }
        if offer.standsForGPU { ledger.note(ComputeOffer.testNotice) }
        let journal = JournalWriter(store: store, job: job)
        let run = ExportRun(plan, settings, journal: journal, ledger: ledger, begin: begin, workers: early)
        var outcome = run.run()
        own?.end(outcome)
        Leftovers.remove(of: run.fallen, from: plan.outputFolders)
        // Damaged pictures count, and files that turned out to be none do not.
        if case .completed = outcome { outcome = .completed(failures: ledger.problemCount) }
        let seconds = begin.duration(to: clock.now).inSeconds
        let summary = ExportSummary(
            outcome: outcome, ledger: ledger, left: plan.inputCount - ledger.total, abandoned: run.abandoned,
            continued: job.continues, seconds: seconds)
        ledger.ended(outcome, summary, text: command.json ? nil : summary.text(folder: folder))
        let isOnStandardOutput = command.json && host == nil
        let summaryTrouble = isOnStandardOutput ? StandardOutput.write(JSONText.encode(summary) + "\n") : 0
        try journal.finish(outcome, work: (ledger.inputBytes, seconds), now: Self.wallTime)
        var status = conclude(outcome, run, ledger)
        let troubles = [("report", report?.trouble ?? 0), ("summary", summaryTrouble)].filter { $0.1 != 0 }
        for (name, trouble) in troubles {
            ledger.note("bgrun: the \(name) could not be written: \(String(cString: strerror(trouble)))")
        }
        if !troubles.isEmpty, [.done, .doneWithFailures].contains(status) { status = .writeFailed }
        return hostAudience?.ending(status) ?? ExportEnding(outcome, status, text: "")
    }

    /// The exit status, and the line that says how to go on where that is possible.
    private func conclude(_ outcome: TaskOutcome, _ run: ExportRun, _ ledger: ExportLedger) -> ExitStatus {
        switch (outcome, run.trouble.verdict, run.fault) {
        case (.completed, _, _):
            return ledger.problemCount == 0 ? .done : .doneWithFailures
        case (_, let verdict?, _):
            ledger.note("bgrun: \(verdict.sentence); the same command goes on.")
            return verdict.status
        case (_, _, let fault?):
            ledger.note("bgrun: \(fault)")
            return (fault as? StoreError).map(ExitStatus.of) ?? .stoppedEarly
        case (.stopped, _, _), (.failed, _, _), (.cancelled, _, _):
            if outcome == .stopped(.timeBudget), ledger.counts.good + ledger.counts.damaged == 0, run.abandoned > 0 {
                ledger.note("Not one picture was finished: --expire-after with --grace is shorter than one takes.")
            }
            ledger.note("Run the same command to go on.")
            return .stoppedEarly
        }
    }

    private var planner: ExportPlanner {
        ExportPlanner(
            folder: folder, specs: specs, templates: templates, existing: command.existing, program: Program.version)
    }

    private var workerCount: Int { command.workers ?? Machine.allowedCores }

    /// The same command line in the same place is the same job.
    var request: TaskRequest {
        let identity = [folder] + inputs + specs.map { JSONText.encode($0.settings) + ($0.name ?? "") }
        let resources: ComputeResources = .gpu
        return TaskRequest(
            identifier: TaskIdentifier("\(Program.identifier).export.\(Fingerprint.hexadecimal(identity))"),
            kind: .continued, title: command.title ?? "Export to \(folder)", subtitle: inputs.joined(separator: ", "),
            requiredResources: command.gpu ? resources : [], preferredResources: command.preferGpu ? resources : [],
            initiator: isatty(STDIN_FILENO) == 1 ? .terminal : .script)
    }

    private static var wallTime: Double { Date().timeIntervalSince1970 }

    private var alreadyRunning: Rejection {
        Rejection(
            first: .init(
                code: .notPermitted, detail: "alreadyRunning",
                sentence: "Another export into \(folder) is running.",
                fix: "Wait until it has ended, or stop it."))
    }

    private func nothingFound(_ plan: ExportPlan) -> ExportEnding {
        let note = plan.passedOverNote.map { " (\($0))" } ?? ""
        return .refused(
            "nothingFound", .missingInput,
            "bgrun: nothing was started: 0 inputs found in \(inputs.joined(separator: ", "))\(note).\n")
    }
}

extension StopReason {
    /// What a signal to this process means.
    static func asked(by signal: Int32) -> StopReason { signal == SIGINT ? .userStop : .shutdown }
}
