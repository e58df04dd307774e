import ArgumentParser
import Foundation
import Glibc
import ImageExport
import JobLink
import SchedulingCore
import ServiceAPI
import SystemText
import TaskModel
import TaskStore

/// One run of a job's command, from the parsed command line to the exit status.
struct WorkSession<Kind: Work> {
    private var work: Kind
    private let flags: JobFlags
    private let folder: String
    private let clock = SuspendingClock()
    private let begin: SuspendingClock.Instant
    private let stateFolder = StateFolder.path(ProcessInfo.processInfo.environment)
    private let host: JobHost?
    private let hostAudience: HostAudience?

    /// Does the work here, or has the service do it.
    ///
    /// - Throws: The exit status, and a `ValidationError` for options that cannot be used.
    static func carryOut(_ work: Kind, _ flags: JobFlags) throws {
        guard flags.runsHere else {
            var work = work
            // What can be known to be missing is said at once.
            if let ending = work.prepare() {
                ending.show(json: flags.json)
                throw ending.status.code
            }
            throw try submit(work, flags)
        }
        var session = try WorkSession(work, flags)
        let status = session.run()
        guard status == .done else { throw status.code }
    }

    /// Has the service do it, and shows it unless it is detached.
    ///
    /// - Returns: The exit status.
    private static func submit(_ work: Kind, _ flags: JobFlags) throws -> ExitCode {
        let request = work.request
        let submission = JobSubmission(
            work: .bgrun, arguments: Array(ProcessTexts.arguments.dropFirst()),
            folder: ProcessTexts.folder ?? "/", environment: ProcessTexts.environment,
            umask: FileMask.own, title: request.title, subtitle: request.subtitle,
            name: String(request.identifier.rawValue.dropFirst(Program.identifier.count + 1)),
            requiresGPU: flags.gpu, prefersGPU: flags.preferGpu, initiator: request.initiator,
            foreground: !flags.detach)
        let (job, isFound) = try ServiceAccess.submit(submission, request.identifier)
        guard !flags.detach else {
            try job.tellDetached(json: flags.json)
            return ExitStatus.done.code
        }
        let follower = JobFollower(job.id, progress: flags.progress, json: flags.json)
        if isFound { follower.note("Job \(job.id) is doing that already, and is shown from here on.") }
        return ExitCode(try follower.follow())
    }

    private init(_ work: Kind, _ flags: JobFlags) throws {
        self.work = work
        self.flags = flags
        begin = clock.now
        folder = work.folder
        host = try flags.jobChannel.map { descriptor in
            guard let host = JobHost(descriptor: descriptor) else {
                throw ValidationError("\(JobChannelOption.name) takes an open descriptor")
            }
            return host
        }
        hostAudience = host.map { HostAudience($0) }
    }

    private mutating func run() -> ExitStatus {
        let ending: WorkEnding
        do throws(StoreError) {
            ending = try carryOut()
        } catch {
            ending = .failed(error)
        }
        if let host {
            ending.tell(host)
        } else if !ending.text.isEmpty {
            ending.show(json: flags.json)
        }
        return ending.status
    }

    private mutating func carryOut() throws(StoreError) -> WorkEnding {
        var status = stat()
        if stat(folder.systemBytes, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
            return .refused(
                "outputFolder", .cannotCreate,
                "bgrun: nothing was started.\n  outputFolder: \(folder.onOneLine) is a file, not a folder\n")
        }
        let signals = StopSignals.install()
        host?.listen()
        if work.lanePreference(flags).asksForDevice { hostAudience?.phase("looking for a GPU") }
        var offer = ComputeOffer.look(for: work.lanePreference(flags))
        let request = work.request
        let own =
            host == nil || flags.gpu
            ? InProcessHost.ofOneJob(flags, request, into: folder, offer, wanted: work.lanePreference(flags)) : nil
        // What else it asks for is granted to it everywhere.
        if flags.gpu, let rejection = own?.rejection(of: .init(request)) { return .refused(rejection, Kind.words) }
        if host == nil, !flags.dryRun { own?.submit(.init(request)) }
        // Two workers start while the inputs are listed, and the others while it is found out what is left to be done.
        var early = [EarlyWorker.take()].compactMap(\.self)
        while !flags.dryRun, early.count < min(flags.workerCount, 2), let worker = try? WorkerProcess() {
            early.append(worker)
        }

        if let ending = work.prepare() { return ending }
        hostAudience?.phase("listing the inputs")
        let scan = InputScan(work.inputs, excluding: folder) { StopSignals.received != nil }
        guard scan.missing.isEmpty else { return .missing(scan.missing) }
        if let signal = StopSignals.received { return .stoppedBeforeStart(.asked(by: signal)) }
        if flags.dryRun { return try dryRun(scan) }
        while early.count < min(flags.workerCount, scan.files.count), let worker = try? WorkerProcess() {
            early.append(worker)
        }
        let store = try TaskStore(folder: stateFolder, program: Program.version)
        // Two jobs that write into one folder would take each other's files for their own.
        guard let lock = try outputLock() else {
            if let signal = StopSignals.received { return .stoppedBeforeStart(.asked(by: signal)) }
            return .refused(alreadyRunning, Kind.words)
        }
        defer { withExtendedLifetime(lock) {} }
        let last = try store.lookUp(work.request.identifier)
        let volume = OutputTrouble.volume(of: folder)
        if host != nil, let last, last.continues, access(folder.systemBytes, F_OK) != 0,
            let cause = causeOfAbsence(of: folder, before: last.volume, now: volume)
        {
            var ending = WorkEnding(
                .stopped(.conditionLost(.outputVolume)), .writeFailed, text: "bgrun: \(cause)\n")
            ending.cause = cause
            return ending
        }
        let plan = try work.plan(scan, journal: JournalReader(store), job: last?.continues == true ? last : nil)
        guard plan.refusals.isEmpty else { return .refused(plan.refusals) }
        guard plan.inputCount > 0 else { return nothingFound(plan) }
        if let folder = plan.unwritableFolder(folder) {
            let reason = access(folder.systemBytes, W_OK) == 0 ? "" : " (\(String(cString: strerror(errno))))"
            return .refused(
                "outputFolder", .cannotCreate,
                "bgrun: nothing can be written in \(folder.onOneLine)\(reason). Make it writable.\n")
        }
        if host == nil, let own {
            if let ending = waitForLaunch(own, signals) { return ending }
            if offer.device != nil, own.device != offer.device?.identity { offer = .withoutDevice }
        }
        let report: ReportFile?
        do throws(ReportFile.Refusal) {
            report = try flags.report.map { path throws(ReportFile.Refusal) in
                try ReportFile(path, inputs: scan.files, lineSink: host.map { host in { host.tell(.record($0)) } })
            }
        } catch {
            return .refused("report", error.status, "bgrun: \(error.sentence.onOneLine)\n")
        }
        let outputs: OutputFolder?
        do throws(ExportFailure) {
            outputs = plan.isFinished ? nil : try OutputFolder(path: folder)
        } catch {
            return .refused(
                error.code, error.code == "outputRefused" ? .cannotCreate : .writeFailed,
                "bgrun: nothing was started.\n  \(error.code): \(error.reason.onOneLine)\n")
        }
        let job = try store.begin(
            request, requestText: JSONText.encode(request), command: JSONText.encode(RecordedCommand.ofThisProcess),
            volume: volume, now: Self.wallTime)
        Leftovers.remove(from: plan.outputFolders)
        return try carryOut(plan, store, job, offer, signals, early, report, outputs, own)
    }

    /// Nobody looks on: what stands below a volume that is not mounted is no place for the outputs of a job that had one,
    /// nor is a folder that is made anew after the job's own was moved.
    private func causeOfAbsence(of folder: String, before: Int64?, now: Int64?) -> String? {
        if let before, before != now { return "The volume that \(folder) was on is not mounted." }
        let isAgain = JobAttempt.isAgain(ProcessInfo.processInfo.environment)
        return isAgain ? "\(folder) was moved or removed while the job ran." : nil
    }

    /// Waits until the scheduler of this process lets the work start.
    ///
    /// - Returns: Why it does not start; nil when it does.
    private func waitForLaunch(_ own: InProcessHost, _ signals: Int32) -> WorkEnding? {
        var display = ProgressDisplay(flags.progress)
        var waits = false
        while !own.isLaunched {
            let reason = own.reason
            if case .failure(let rejection) = own.answer { return .refused(rejection, Kind.words) }
            if !waits, let reason {
                waits = true
                display.note("Waiting: \(reason)")
            }
            // What comes before that is dealt with by the run.
            if waits, let signal = StopSignals.received { return .stoppedBeforeStart(.asked(by: signal)) }
            let left = waits ? flags.expireAfter.map { $0.duration - begin.duration(to: clock.now) } : nil
            if let left, left <= .zero { return .stoppedBeforeStart(.timeBudget) }
            var signal = pollfd(fd: signals, events: Int16(POLLIN), revents: 0)
            _ = poll(&signal, 1, left.map { Int32(clamping: Int(($0.inSeconds * 1000).rounded(.up))) } ?? -1)
            StopSignals.drain(signals)
        }
        return nil
    }

    private func dryRun(_ scan: InputScan) throws(StoreError) -> WorkEnding {
        var journal = JournalReader.empty
        var last: JobRecord?
        var rates: ClosedRange<Double>?
        // Without a journal there is nothing to know, and none is made.
        if ExistingFile(TaskStore.path(in: stateFolder)) != nil {
            let store = try TaskStore(folder: stateFolder, program: Program.version)
            journal = JournalReader(store)
            last = try store.lookUp(work.request.identifier)
            rates = try store.rates(ofJobsLike: work.request.identifier)
        }
        let plan = try work.plan(scan, journal: journal, job: last?.continues == true ? last : nil)
        guard plan.refusals.isEmpty else { return .refused(plan.refusals) }
        guard plan.inputCount > 0 else { return nothingFound(plan) }
        return WorkEnding(.completed(failures: 0), work.show(plan, rates: rates), text: "")
    }

    private func carryOut(
        _ plan: Kind.Plan, _ store: TaskStore, _ job: JobRecord, _ offer: ComputeOffer, _ signals: Int32,
        _ early: [WorkerProcess], _ report: ReportFile?, _ outputs: OutputFolder?, _ own: InProcessHost?
    ) throws(StoreError) -> WorkEnding {
        let ledger = JobLedger(
            report: report, audience: hostAudience ?? HostedDisplay(ProgressDisplay(flags.progress), own),
            keepsAllProblems: flags.json)
        for record in plan.settled { ledger.add(record) }
        for record in plan.passedOver { report?.add(record) }
        if let note = plan.passedOverNote { ledger.note("bgrun: \(note).") }
        for doubt in work.doubts { ledger.note("bgrun: \(doubt).") }
        let workers = min(flags.workerCount, max(plan.itemCount, 1))
        let search = work.lanePreference(flags) == .measured ? DeviceSearch.start(items: plan.itemCount) : nil
        let supply = plan.itemCount == 0 || work.lanePreference(flags).asksForDevice ? nil : work.weightSupply
        let weights = supply?.offer()
        defer { if let weights { close(weights.descriptor) } }
        let settings = ItemRunSettings(
            limits: JobMachine.Limits(
                workers: workers, claimBytes: flags.memory?.bytes ?? Machine.defaultClaimBytes(workers: workers),
                hang: flags.stallLimit.duration, grace: flags.grace.duration,
                handsOutAhead: !flags.isolate && plan.haveOneInput),
            cores: min(flags.workerCount, Machine.allowedCores),
            decodeLimits: work.decodeLimits,
            lanes: LanePolicy(work.lanePreference(flags), deviceIsUsable: offer.device != nil), device: offer.device,
            search: search, expireAfter: flags.expireAfter?.duration, longestFinish: Kind.longestFinish,
            signals: signals, host: host ?? own, outputs: outputs, work: work.workerTerms,
            sideFiles: work.sideFiles, weights: weights, isolatesItems: flags.isolate)
        if flags.preferGpu, offer.device == nil {
            let reason = offer.absences.first?.sentence ?? "There is no GPU."
            ledger.note("bgrun: --prefer-gpu: the CPU is used. \(reason)")
        }
        if offer.standsForGPU { ledger.note(ComputeOffer.testNotice) }
        let journal = JournalWriter(store: store, job: job)
        let run = ItemRun(plan, settings, journal: journal, ledger: ledger, begin: begin, workers: early)
        var outcome = run.run()
        defer { run.reapWorkers() }
        Leftovers.remove(of: run.fallen, from: plan.outputFolders)
        var unfinished: ExportFailure?
        if case .completed = outcome {
            // Damaged inputs count, and files that turned out to be none do not.
            outcome = .completed(failures: ledger.problemCount)
            unfinished = finish(plan, journal, outputs)
            if let unfinished { outcome = .failed(code: unfinished.code) }
        }
        own?.end(outcome)
        let seconds = begin.duration(to: clock.now).inSeconds
        let summary = WorkSummary(
            Kind.words, outcome: outcome, ledger: ledger, left: plan.inputCount - ledger.total,
            abandoned: run.abandoned,
            continued: job.continues, unknown: plan.unknownFiles, seconds: seconds)
        ledger.ended(outcome, summary, text: flags.json ? nil : summary.text(folder: folder))
        let isOnStandardOutput = flags.json && host == nil
        let summaryTrouble = isOnStandardOutput ? StandardOutput.write(JSONText.encode(summary) + "\n") : 0
        try journal.finish(outcome, work: (ledger.inputBytes, seconds), now: Self.wallTime)
        // For later jobs; whoever stops this one now does not wait for them.
        if case .completed = outcome, let supply, !run.laidOut.isEmpty {
            supply.renew(run.laidOut) { StopSignals.received != nil || host?.take().contains(where: \.isStop) == true }
        }
        var status = conclude(outcome, run, unfinished, ledger)
        let troubles = [("report", report?.trouble ?? 0), ("summary", summaryTrouble)].filter { $0.1 != 0 }
        for (name, trouble) in troubles {
            ledger.note("bgrun: the \(name) could not be written: \(String(cString: strerror(trouble)))")
        }
        if !troubles.isEmpty, [.done, .doneWithFailures].contains(status) { status = .writeFailed }
        var ending = hostAudience?.ending(status) ?? WorkEnding(outcome, status, text: "")
        ending.cause = run.trouble.verdict.map { $0.sentence + "." } ?? run.fault.map { "\($0)" }
        return ending
    }

    /// The exit status, and the line that says how to go on where that is possible.
    private func conclude(
        _ outcome: TaskOutcome, _ run: ItemRun<Kind.Plan>, _ unfinished: ExportFailure?, _ ledger: JobLedger
    ) -> ExitStatus {
        if let unfinished {
            ledger.note("bgrun: \(unfinished.code): \(unfinished.reason); the same command goes on.")
            return unfinished.code == "outputRefused" ? .cannotCreate : .writeFailed
        }
        switch (outcome, run.trouble.verdict, run.fault) {
        case (.completed, _, _):
            return ledger.problemCount == 0 ? .done : .doneWithFailures
        case (_, let verdict?, _):
            ledger.note("bgrun: \(verdict.sentence); the same command goes on.")
            return verdict.status
        case (_, _, let fault?):
            ledger.note("bgrun: \(fault)")
            return (fault as? StoreError).map(ExitStatus.of) ?? .stoppedEarly
        case (.stopped(.deviceLost), _, _):
            ledger.note(
                "bgrun: the same command tries the GPU again; with --prefer-gpu or --cpu it goes on without it.")
            return .stoppedEarly
        case (.stopped, _, _), (.failed, _, _), (.cancelled, _, _):
            if outcome == .stopped(.timeBudget), ledger.counts.good + ledger.counts.damaged == 0, run.abandoned > 0 {
                ledger.note(
                    "Not one \(Kind.words.input) was finished: --expire-after with --grace is shorter than one takes.")
            }
            ledger.note(Kind.words.afterStop)
            return .stoppedEarly
        }
    }

    /// - Returns: Why what was asked for could not be made of the items; nil where it stands.
    private func finish(_ plan: Kind.Plan, _ journal: JournalWriter, _ outputs: OutputFolder?) -> ExportFailure? {
        guard let outputs else { return nil }
        journal.settle()
        do {
            try work.finish(plan, journal, into: outputs)
            return nil
        } catch let error as ExportFailure {
            return error
        } catch {
            return ExportFailure("outputFailed", "\(error)")
        }
    }

    private static var wallTime: Double { Date().timeIntervalSince1970 }

    /// Waits a little where a service asks: a run of the same job that a killed service left behind is about to end.
    ///
    /// - Returns: nil while another run into the same folder goes on.
    private func outputLock() throws(StoreError) -> JobLock? {
        let name = "output.\(Fingerprint.hexadecimal([folder]))"
        let begin = clock.now
        var lock = try JobLock(name, in: stateFolder)
        if lock == nil { hostAudience?.phase("waiting for another run into the same folder to end") }
        while lock == nil, host != nil, begin.duration(to: clock.now) < flags.grace.duration * 2,
            StopSignals.received == nil
        {
            usleep(20_000)
            lock = try JobLock(name, in: stateFolder)
        }
        return lock
    }

    private var alreadyRunning: Rejection {
        Rejection(
            first: .init(
                code: .notPermitted, detail: "alreadyRunning",
                sentence: "Another job is running in \(folder).",
                fix: "Wait until it has ended, or stop it."))
    }

    private func nothingFound(_ plan: Kind.Plan) -> WorkEnding {
        let note = plan.passedOverNote.map { " (\($0))" } ?? ""
        let sentence = "nothing was started: 0 inputs found in \(work.inputs.joined(separator: ", "))\(note)."
        return .refused("nothingFound", .missingInput, "bgrun: \(sentence.onOneLine)\n")
    }
}

extension StopReason {
    /// What a signal to this process means.
    static func asked(by signal: Int32) -> StopReason { signal == SIGINT ? .userStop : .shutdown }
}
