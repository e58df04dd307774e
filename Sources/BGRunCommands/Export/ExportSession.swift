import Foundation
import Glibc
import ImageExport
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

    init(_ command: ExportCommand) throws {
        self.command = command
        begin = clock.now
        folder = CanonicalPath.folder(command.out)
        inputs = command.inputs.map(CanonicalPath.input)
        specs = try command.outputs.specs()
        let fallback = specs.count > 1 ? "{stem}-{size}.{ext}" : "{stem}.{ext}"
        templates = try specs.map { spec in try NameTemplate(spec.name ?? fallback) }
    }

    func run() throws -> ExitStatus {
        var status = stat()
        if stat(folder, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
            StandardError.write("bgrun: nothing was started.\n  outputFolder: \(folder) is a file, not a folder\n")
            return .cannotCreate
        }
        let signals = StopSignals.install()
        let offer = ComputeOffer.look(for: command.lanePreference)
        let request = self.request
        if let rejection = offer.rejection(of: request) { return refuse(rejection) }
        // Workers start while the inputs are listed.
        let early = command.dryRun ? [] : (try? [WorkerProcess()]) ?? []

        let scan = InputScan(inputs, excluding: folder) { StopSignals.received != nil }
        guard scan.missing.isEmpty else { return missing(scan.missing) }
        if StopSignals.received != nil { return stoppedBeforeStart() }
        do throws(StoreError) {
            if command.dryRun { return try dryRun(scan) }
            let store = try TaskStore(folder: stateFolder, program: Program.version)
            // Two jobs that write into one folder would take each other's files for their own.
            guard let lock = try JobLock("output.\(Fingerprint.hexadecimal([folder]))", in: stateFolder) else {
                return refuseForRunningJob()
            }
            defer { withExtendedLifetime(lock) {} }
            let last = try store.lookUp(request.identifier)
            let plan = try planner.plan(scan, journal: store.known, job: last?.continues == true ? last : nil)
            guard plan.refusals.isEmpty else { return refuse(plan.refusals) }
            guard plan.inputCount > 0 else { return nothingFound(plan) }
            if let folder = plan.unwritableFolder(folder) {
                StandardError.write("bgrun: nothing can be written in \(folder). Make it writable.\n")
                return .cannotCreate
            }
            let report: ReportFile?
            do throws(ReportFile.Refusal) {
                let inputs = Set(scan.files.map(\.key))
                report = try command.report.map { path throws(ReportFile.Refusal) in
                    try ReportFile(path, inputs: inputs)
                }
            } catch {
                StandardError.write("bgrun: \(error.sentence)\n")
                return error.status
            }
            let outputs: OutputFolder?
            do throws(ExportFailure) {
                outputs = plan.items.isEmpty ? nil : try OutputFolder(path: folder)
            } catch {
                StandardError.write("bgrun: nothing was started.\n  \(error.code): \(error.reason)\n")
                return error.code == "outputRefused" ? .cannotCreate : .writeFailed
            }
            let job = try store.begin(request, requestText: JSONText.encode(request), now: Self.wallTime)
            Leftovers.remove(from: plan.outputFolders)
            return try export(plan, store, job, offer, signals, early, report, outputs)
        } catch {
            StandardError.write("bgrun: \(error)\n")
            return .of(error)
        }
    }

    private func dryRun(_ scan: InputScan) throws(StoreError) -> ExitStatus {
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
        guard plan.refusals.isEmpty else { return refuse(plan.refusals) }
        guard plan.inputCount > 0 else { return nothingFound(plan) }
        plan.checkContents()
        return DryRun(plan: plan, command: command, workers: workerCount, rates: rates).show()
    }

    private func export(
        _ plan: ExportPlan, _ store: TaskStore, _ job: JobRecord, _ offer: ComputeOffer, _ signals: Int32,
        _ early: [WorkerProcess], _ report: ReportFile?, _ outputs: OutputFolder?
    ) throws(StoreError) -> ExitStatus {
        let ledger = ExportLedger(
            report: report, display: ProgressDisplay(command.progress),
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
            search: search, expireAfter: command.expireAfter?.duration, signals: signals,
            outputs: outputs)
        if command.preferGpu, offer.device == nil {
            let reason = offer.absences.first?.sentence ?? "There is no GPU."
            ledger.note("bgrun: --prefer-gpu: the CPU is used. \(reason)")
        }
        if offer.standsForGPU { StandardError.write(ComputeOffer.testNotice) }
        let journal = JournalWriter(store: store, job: job)
        let run = ExportRun(plan, settings, journal: journal, ledger: ledger, begin: begin, workers: early)
        let outcome = run.run()
        Leftovers.remove(of: run.fallen, from: plan.outputFolders)
        let seconds = begin.duration(to: clock.now).inSeconds
        let summary = ExportSummary(
            outcome: outcome, ledger: ledger, left: plan.inputCount - ledger.total, abandoned: run.abandoned,
            continued: job.continues, seconds: seconds)
        ledger.ended(outcome, summary, text: command.json ? nil : summary.text(folder: folder))
        let summaryTrouble = command.json ? StandardOutput.write(JSONText.encode(summary) + "\n") : 0
        try journal.finish(outcome, work: (ledger.inputBytes, seconds), now: Self.wallTime)
        let status = conclude(outcome, run, ledger)
        let troubles = [("report", report?.trouble ?? 0), ("summary", summaryTrouble)].filter { $0.1 != 0 }
        for (name, trouble) in troubles {
            ledger.note("bgrun: the \(name) could not be written: \(String(cString: strerror(trouble)))")
        }
        return troubles.isEmpty || ![.done, .doneWithFailures].contains(status) ? status : .writeFailed
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
    private var request: TaskRequest {
        let identity = [folder] + inputs + specs.map { JSONText.encode($0.settings) + ($0.name ?? "") }
        let resources: ComputeResources = .gpu
        return TaskRequest(
            identifier: TaskIdentifier("\(Program.identifier).export.\(Fingerprint.hexadecimal(identity))"),
            kind: .continued, title: command.title ?? "Export to \(folder)", subtitle: inputs.joined(separator: ", "),
            requiredResources: command.gpu ? resources : [], preferredResources: command.preferGpu ? resources : [],
            initiator: isatty(STDIN_FILENO) == 1 ? .terminal : .script)
    }

    private static var wallTime: Double { Date().timeIntervalSince1970 }

    private func refuse(_ rejection: Rejection) -> ExitStatus {
        StandardError.write("bgrun: the export was not started.\n")
        for failure in rejection.failures {
            StandardError.write("  \(failure.detail): \(failure.sentence) \(failure.fix)\n")
        }
        return .of(rejection)
    }

    private func refuseForRunningJob() -> ExitStatus {
        refuse(
            Rejection(
                first: .init(
                    code: .notPermitted, detail: "alreadyRunning",
                    sentence: "Another export into \(folder) is running.",
                    fix: "Wait until it has ended, or stop it.")))
    }

    private func nothingFound(_ plan: ExportPlan) -> ExitStatus {
        let note = plan.passedOverNote.map { " (\($0))" } ?? ""
        StandardError.write("bgrun: nothing was started: 0 inputs found in \(inputs.joined(separator: ", "))\(note).\n")
        return .missingInput
    }

    private func refuse(_ refusals: [ExportPlan.Refusal]) -> ExitStatus {
        StandardError.write("bgrun: nothing was started.\n")
        for refusal in refusals.prefix(ExportLedger.maxListed) {
            StandardError.write("  \(refusal.code): \(refusal.sentence)\n")
        }
        let more = refusals.count - ExportLedger.maxListed
        if more > 0 { StandardError.write("  and \(more) more\n") }
        return refusals.allSatisfy { $0.code == "outputExists" } ? .cannotCreate : .usage
    }

    private func missing(_ inputs: [InputProblem]) -> ExitStatus {
        StandardError.write("bgrun: nothing was started.\n")
        for input in inputs { StandardError.write("  \(input.code): \(input.path): \(input.reason)\n") }
        return .missingInput
    }

    private func stoppedBeforeStart() -> ExitStatus {
        StandardError.write("Stopped before anything was started. Run the same command to go on.\n")
        return .stoppedEarly
    }
}
