import CProcess
import ChunkedCompute
import Foundation
import Glibc
import ImageCodecs
import ImageExport
import Inference
import JobLink
import SchedulingCore
import SystemText
import TaskModel
import TaskStore

/// What a run of items is to keep to.
struct ItemRunSettings {
    var limits: JobMachine.Limits
    /// Cores of the job. Its last items share them, and have more than there are while those before them come to their end.
    var cores: Int
    /// Bounds of every input; the memory of each is filled in when it is handed out.
    var decodeLimits: DecodeLimits
    var lanes: LanePolicy
    /// A device that was looked for and found before the start.
    var device: ComputeOffer.Device?
    /// Finds a device while the first items run.
    var search: DeviceSearch?
    /// Time after which the job stops.
    var expireAfter: Duration?
    /// As ``Work/longestFinish``.
    var longestFinish: Duration?
    /// What becomes readable when a signal came, or a word of the host.
    var signals: Int32
    /// Whoever decides how the work goes on.
    var host: (any WorkHost)?
    /// Where all outputs lie; nil when no item is left to be done.
    var outputs: OutputFolder?
    var work: WorkerTerms.Work
    /// What workers read beside the inputs.
    var sideFiles: SideFiles
    /// Laid out weights of the model, for all workers.
    var weights: WeightOffer?
    /// No worker gets a second item.
    var isolatesItems = false

    /// How often the display is looked after.
    fileprivate static let displayInterval: Duration = .milliseconds(250)
    /// Time for what is being committed when the host is gone.
    fileprivate static let orphanLimit: Duration = .milliseconds(100)

    /// Whether a worker may be given an item for a device.
    var mayUseDevice: Bool { device != nil || search != nil }
}

/// Carries out what ``JobMachine`` decides for one job of items: starts workers, hands out items, listens, journals, reports.
///
/// Lives on one thread, the command's main thread, which sleeps in `poll` while the workers work.
final class ItemRun<Plan: WorkPlan> {
    private let plan: Plan
    private let settings: ItemRunSettings
    private let journal: JournalWriter
    private let ledger: JobLedger
    private let clock = SuspendingClock()
    private let begin: SuspendingClock.Instant
    private var machine: JobMachine
    private var workers: [WorkerProcess?]
    /// Workers that were killed, and whose end was not waited for: the kernel takes milliseconds to take down a large
    /// process.
    private var dying: [WorkerProcess] = []
    /// Workers that leave by themselves when they have kept the programs that they compiled.
    private var leaving: [WorkerProcess] = []
    private var inFlight: [Int: InFlight] = [:]
    /// What workers begin when the item in flight has ended.
    private var ahead: [Int: InFlight] = [:]
    private var meter: ProgressMeter
    private var planned = 0
    private let inputsAhead = ReadAhead()
    /// From this item on nothing was read ahead.
    private var nextToReadAhead = 0
    private var isStopping = false
    /// How the host wants the work to behave; nil until it has said so.
    private var terms: RunTerms?
    private var pausedSince: Duration?
    /// Time for items in work after a stop by the host.
    private var stopLimit: Duration?
    /// How many results the process of each worker has told.
    private var results: [Int: Int] = [:]
    /// Workers whose process was given an item.
    private var usedWorkers: Set<Int> = []
    /// Workers that were given an item for the device.
    private var deviceWorkers: Set<Int> = []
    private var device: ComputeOffer.Device?
    /// How the device failed last.
    private var deviceTrouble = ""
    private var deviceLossIsTold = false
    private var outcome: TaskOutcome?
    /// Items of workers that ended before they said what came of them: their outputs may stand in place already.
    private var mayStand: Set<Int> = []
    /// Results of items that could not be handed out, by the worker they were meant for.
    private var refused: [(worker: Int, ItemResult)] = []
    /// Workers that ended in the middle of their work and may have left temporary names.
    private(set) var fallen: Set<pid_t> = []
    /// Items in work that were killed when the grace time was over.
    private(set) var abandoned = 0
    /// What workers had to lay out weights for.
    private(set) var laidOut: [LaidOutModel] = []
    private(set) var trouble = OutputTrouble()
    private var sideFiles: SideFiles
    /// Why items could not be handed out at all.
    private var handingOutTrouble: (any Error)?
    /// A failure of the journal or of the system itself.
    private(set) var fault: (any Error)?

    private struct InFlight {
        var item: Int
        var terms: JobMachine.Terms
        var since: Duration
        var result: ItemResult?
        /// Inputs that could not be opened, by their places in the item.
        var unreadable: [Int: String] = [:]
        /// What came of it where it could not be handed out.
        var refusal: ItemResult?
        /// A model is at work on what its input gave.
        var runsModel = false
    }

    /// How an item is handed out to a worker that has another one.
    private struct Ahead {
        /// What the worker reported last is written down.
        var notes: Bool
    }

    /// Makes a run with processes that were started ahead, of which those that are too many are ended; the others are started
    /// when they are needed.
    init(
        _ plan: Plan, _ settings: ItemRunSettings, journal: JournalWriter, ledger: JobLedger,
        begin: SuspendingClock.Instant, workers: [WorkerProcess]
    ) {
        self.plan = plan
        self.settings = settings
        self.journal = journal
        self.ledger = ledger
        self.begin = begin
        dying = Array(workers.dropFirst(settings.limits.workers))
        for worker in dying { worker.kill() }
        let workers = Array(workers.prefix(settings.limits.workers))
        self.workers = workers + Array(repeating: nil, count: settings.limits.workers - workers.count)
        device = settings.device
        sideFiles = settings.sideFiles
        machine = JobMachine(itemCount: plan.itemCount, limits: settings.limits, lanes: settings.lanes)
        for worker in workers { Self.confine(worker, settings) }
        meter = ProgressMeter(itemsTotal: plan.inputCount, totalWeight: Double(plan.inputBytes))
        for record in plan.settled { meter.skipped(failed: record.isFailure) }
    }

    /// Runs the job to its end, or until it is stopped.
    func run() -> TaskOutcome {
        settings.host?.beginWork()
        // What was said before holds from the first item on.
        hearHost()
        perform(machine.start(at: now))
        while true {
            settleRefused()
            if let outcome {
                showProgress(force: true)
                endWorkers()
                return outcome
            }
            for worker in waitForEvents() { listen(to: worker) }
            checkForStop()
            hearHost()
            perform(machine.timePassed(now: now))
            showProgress(force: false)
            journal.flush(at: now)
        }
    }

    private var now: Duration { begin.duration(to: clock.now) }

    /// - Returns: Workers that have something to say, or are gone.
    private func waitForEvents() -> [Int] {
        // One without a process has the descriptor -1, which poll(2) passes over.
        var descriptors = workers.map { pollfd(fd: $0?.channel.descriptor ?? -1, events: Int16(POLLIN), revents: 0) }
        descriptors.append(pollfd(fd: settings.signals, events: Int16(POLLIN), revents: 0))
        // A paused job has no display.
        var deadlines = machine.isPaused ? [] : [now + ItemRunSettings.displayInterval]
        deadlines += [journal.due, machine.nextDeadline, settings.expireAfter.flatMap { $0 > now ? $0 : nil }]
            .compactMap(\.self)
        let milliseconds = deadlines.min().map { max(0, ($0 - now).inSeconds * 1000) }
        let count = poll(&descriptors, nfds_t(descriptors.count), milliseconds.map { Int32($0.rounded(.up)) } ?? -1)
        return count > 0 ? workers.indices.filter { descriptors[$0].revents != 0 } : []
    }

    private func listen(to worker: Int) {
        while let process = workers[worker] {
            // A worker that was to begin what could not be handed out is at the next one already.
            settleRefused()
            switch process.channel.receive(WorkerMessage.self, waiting: false) {
            case .nothingYet:
                return
            case .message(let message):
                hear(message, from: worker)
            case .closed:
                process.kill()
                // Of one that was killed here the reason is known.
                let isNews = fallen.insert(process.processID).inserted
                let hadBegunNext = isNews && hasBegunNext(worker, process)
                let death = process.reap()
                workers[worker] = nil
                deviceWorkers.remove(worker)
                if isNews, inFlight[worker]?.terms.lane == .device {
                    deviceTrouble = "the process that used it \(death.event)"
                }
                if let item = inFlight[worker]?.item { mayStand.insert(item) }
                let next = ahead.removeValue(forKey: worker)
                if hadBegunNext { inFlight[worker] = next }
                perform(
                    machine.workerDied(worker: worker, death, hadBegunNext: hadBegunNext, at: now), worker: worker)
            }
        }
    }

    /// Whether a worker that is gone was at the item that it had ahead: it begins that before the one in flight is committed.
    private func hasBegunNext(_ worker: Int, _ process: WorkerProcess) -> Bool {
        guard let next = ahead[worker], next.refusal == nil else { return false }
        return !process.permit.take()
    }

    private func hear(_ message: WorkerMessage, from worker: Int) {
        switch message {
        case .progress(let done, let total):
            machine.progressed(worker: worker, at: now)
            if let item = inFlight[worker]?.item {
                meter.progressed(
                    worker: worker, weight: weight(item), fraction: Double(done) / Double(max(total, 1)), at: now)
            }
        case .silent(let seconds, let encode):
            let encode = encode.map { JobMachine.Encode(expected: .seconds($0.seconds), hearsStop: $0.hearsStop) }
            machine.entersSilentPhase(worker: worker, of: .seconds(seconds), encode: encode, at: now)
        case .runsModel(let runs, behind: let count):
            if count == results[worker, default: 0] {
                inFlight[worker]?.runsModel = runs
            } else {
                ahead[worker]?.runsModel = runs
            }
        case .halted:
            perform(machine.halted(worker: worker, at: now))
        case .laidOut(let model):
            if laidOut.count < LayingOutOrder.mostModels, !laidOut.contains(model) { laidOut.append(model) }
        case .result(let result):
            results[worker, default: 0] += 1
            finished(worker, result)
        }
    }

    private func settleRefused() {
        while let (worker, result) = refused.popLast() {
            // Before the next item is handed out in its place.
            failIfNeedBe()
            finished(worker, result)
        }
    }

    private func finished(_ worker: Int, _ result: ItemResult) {
        guard inFlight[worker] != nil else { return }
        inFlight[worker]?.result = result
        let verdict: JobMachine.Verdict
        if trouble.stopsJob(result) {
            perform(machine.stop(.conditionLost(.outputVolume), at: now))
            verdict = .givenUp
        } else {
            verdict = sideFilesStand() ? JobMachine.Verdict(result) : .givenUp
        }
        if verdict == .deviceFailed {
            ComputeOffer.deviceFailed()
            deviceTrouble = result.failure?.reason ?? ""
        }
        perform(machine.itemFinished(worker: worker, verdict, at: now), worker: worker)
        // Where it gets no other item.
        journal.flush(at: now)
        if inFlight[worker] == nil, machine.hasHandedOutAll { letGo(worker) }
    }

    /// - Returns: Whether a result is of what the job looked at; else the job ends.
    private func sideFilesStand() -> Bool {
        do throws(SideFiles.Changed) {
            try sideFiles.check()
            return true
        } catch {
            fail(error)
            return false
        }
    }

    private func endWorkers() {
        for worker in workers.indices { letGo(worker) }
        journal.settle()
    }

    /// Ends a worker, or has it leave at its own pace where it has something to keep; does not wait for its end.
    private func letGo(_ worker: Int) {
        guard let process = workers[worker] else { return }
        workers[worker] = nil
        if deviceWorkers.remove(worker) != nil {
            _ = process.channel.send(HostMessage.leave)
            leaving.append(process)
        } else {
            process.kill()
            dying.append(process)
        }
    }

    /// Waits for the end of those that were killed. What they took counts as taken by this process then.
    func reapWorkers() {
        for process in dying { _ = process.reap() }
        dying = []
    }

    private func showProgress(force: Bool) {
        guard force || ledger.wantsProgress else { return }
        let isOnDevice = inFlight.values.contains { $0.terms.lane == .device }
        let name = isOnDevice || machine.lanes.choice == .device ? device?.shownName : nil
        ledger.progress(meter.snapshot(at: now), device: name ?? "cpu", force: force)
    }

    private func checkForStop() {
        StopSignals.drain(settings.signals)
        if device == nil, let found = settings.search?.found {
            device = found
            machine.deviceFound()
        }
        if machine.lanes.deviceIsLost, !deviceLossIsTold { tellDeviceLoss() }
        if let signal = StopSignals.received {
            stop(.asked(by: signal), "Stopping")
        }
        if let limit = settings.expireAfter, now >= limit {
            stop(.timeBudget, "The time is over")
        }
        failIfNeedBe()
    }

    private func failIfNeedBe() {
        guard fault == nil, let error = handingOutTrouble ?? journal.error else { return }
        fail(error)
    }

    private func tellDeviceLoss() {
        deviceLossIsTold = true
        let name = device?.shownName ?? "The device"
        let consequence =
            settings.lanes.requiresDevice
            ? "The job needs it and stops." : "It is left alone, and the CPU does the work."
        ledger.note("\(name) failed \(LanePolicy.maxDeviceFailures) times in a row: \(deviceTrouble). \(consequence)")
        settings.host?.tell(.deviceFailed(deviceTrouble))
    }

    /// Does what the host said since the last time.
    private func hearHost() {
        for word in settings.host?.take() ?? [] {
            switch word {
            case .command(.terms(let terms)):
                apply(terms)
            case .command(.pause):
                perform(machine.pause(at: now))
            case .command(.resume(let terms)):
                apply(terms)
                if let since = pausedSince { meter.stoodStill(for: now - since) }
                pausedSince = nil
                perform(machine.resume(at: now))
            case .command(.stop(let reason, within: let limit)):
                stop(reason, "Stopping", within: settings.longestFinish.map { min($0, limit) } ?? limit)
            case .command(.leaveDevice):
                for worker in deviceWorkers { tell(worker, .leaveDevice) }
                perform(machine.leaveDevice(at: now))
            case .note(let text):
                ledger.note(text)
            case .gone:
                stop(.hostRemoved, "The host is gone", within: ItemRunSettings.orphanLimit)
            }
        }
    }

    private func apply(_ terms: RunTerms) {
        if let before = self.terms?.priority, before != terms.priority { meter.shareChanged(at: now) }
        self.terms = terms
        for worker in workers.indices { tellTerms(worker) }
        perform(machine.allow(concurrency: max(terms.concurrency, 1), at: now))
    }

    private func tellTerms(_ worker: Int) {
        if let terms { tell(worker, .terms(terms)) }
    }

    /// A worker that died in between is noticed when its socket is read.
    private func tell(_ worker: Int, _ message: HostMessage) {
        _ = workers[worker]?.channel.send(message)
    }

    /// Without a limit items in work may come to their end within the grace time.
    private func stop(_ reason: StopReason, _ sentence: String, within limit: Duration? = nil) {
        guard !isStopping || limit != nil else { return }
        let moment = now
        let actions = machine.stop(reason, within: limit, at: moment)
        if !isStopping, !inFlight.isEmpty {
            let words = StopWords(
                sentence: sentence, inWork: inFlight.count, patience: limit ?? settings.limits.grace,
                givesUp: limit != nil, encode: machine.encodeWait(at: moment),
                longestEncode: inFlight.values.map { plan.longestSilence(of: $0.item) }.max() ?? 0)
            ledger.stopping(reason, words.text)
        }
        isStopping = true
        stopLimit = limit
        perform(actions)
    }

    /// How long an item may still take that is to be given up: what a chunk takes, and no longer than a stop may.
    private var lastChunk: Duration {
        let chunk = terms?.chunkTarget ?? .milliseconds(300)
        return stopLimit.map { min($0, chunk) } ?? chunk
    }

    private func fail(_ error: any Error) {
        fault = fault ?? error
        perform(machine.stop(.conditionLost(.outputVolume), at: now))
    }

    /// Carries out actions; `worker` is the one whose event led to them, and a settled item is its.
    private func perform(_ actions: [JobMachine.Action], worker: Int? = nil) {
        var ended = worker.flatMap { inFlight.removeValue(forKey: $0) }
        if let worker, !actions.contains(where: \.isSettlement) { meter.abandoned(worker: worker) }
        // Workers at their next items that do not know yet that the last ones are written down.
        var unnoted: Set<Int> = []
        var takenBack: [Int] = []
        for action in actions {
            switch action {
            case .run(let item, let worker, let terms):
                inputsAhead.begun(item)
                inFlight[worker] = run(item, on: worker, terms)
                refuseIfNeedBe(worker)
            case .runAfter(let item, let worker, let terms):
                let item = run(item, on: worker, terms, ahead: .init(notes: unnoted.contains(worker)))
                if item.refusal == nil { unnoted.remove(worker) }
                ahead[worker] = item
            case .began(let item, let worker):
                inFlight[worker] = ahead.removeValue(forKey: worker)
                inFlight[worker]?.since = now
                inputsAhead.begun(item)
                unnoted.insert(worker)
                refuseIfNeedBe(worker)
            case .withdraw(let worker):
                if takeBack(from: worker) { takenBack.append(worker) }
            case .halt(let worker): tell(worker, .halt)
            case .goOn(let worker): tell(worker, .goOn)
            case .giveUp(let worker): tell(worker, .giveUp(within: lastChunk))
            case .kill(let worker):
                guard let process = workers[worker] else { break }
                if inFlight[worker]?.terms.lane == .device { deviceTrouble = "it gave no sign of life" }
                process.kill()
                fallen.insert(process.processID)
            case .paused:
                pausedSince = now
                journal.settle()
                settings.host?.tell(.paused)
            case .settle(let item, let settlement):
                settle(item, settlement, ended?.item == item ? ended : nil, worker: worker)
                if ended?.item == item { ended = nil }
            case .finish(let outcome): self.outcome = outcome
            }
        }
        if !unnoted.isEmpty { journal.settle(at: now) }
        for worker in unnoted { tell(worker, .noted) }
        for worker in takenBack { perform(machine.withdrawn(worker: worker, at: now)) }
    }

    /// - Returns: Whether the worker had not begun what it had ahead, and does not.
    private func takeBack(from worker: Int) -> Bool {
        if ahead[worker]?.refusal == nil {
            guard let process = workers[worker], process.permit.take() else { return false }
            tell(worker, .withdraw)
        }
        ahead[worker] = nil
        return true
    }

    /// Hands an item to a worker, which begins nothing beyond it before what it has finished is known to be: a kill costs
    /// what is in work.
    private func run(_ index: Int, on worker: Int, _ terms: JobMachine.Terms, ahead: Ahead? = nil) -> InFlight {
        var item = InFlight(item: index, terms: terms, since: now)
        journal.settle(at: now)
        do {
            try journal.plan(plan, from: index, planned: &planned)
            if settings.isolatesItems, usedWorkers.contains(worker) {
                letGo(worker)
                dying += leaving
                leaving = []
                reapWorkers()
            }
            let process: WorkerProcess
            if let known = workers[worker] {
                process = known
            } else {
                process = try startWorker()
                workers[worker] = process
                results[worker] = nil
                tellTerms(worker)
            }
            usedWorkers.insert(worker)
            var inputs: [Int32] = []
            defer { for input in inputs { close(input) } }
            let files = plan.inputs(of: index)
            for file in files {
                let input = open(file.path.systemBytes, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                if input < 0 {
                    let reason = String(cString: strerror(errno))
                    guard files.count > 1 else {
                        item.refusal = ItemResult(failure: .init(code: "unreadable", reason: reason))
                        return item
                    }
                    // The others go on; this one's worker finds no file, and the reason is known here.
                    item.unreadable[inputs.count] = reason
                }
                inputs.append(input >= 0 ? input : open("/dev/null", O_RDONLY | O_CLOEXEC))
            }
            var limits = settings.decodeLimits
            limits.maxWorkingBytes = terms.claimBytes
            let lane = device.flatMap { terms.lane == .device ? LaneChoice.openCL(device: $0.identity) : nil } ?? .cpu
            if terms.lane == .device, deviceWorkers.insert(worker).inserted {
                ledger.phase("compiling kernels for \(device?.shownName ?? "the device")")
            }
            var order = plan.order(of: index, lane: lane, limits: limits)
            if mayStand.contains(index) { order.replaceOutputs() }
            if terms.alone || settings.limits.workers == 1 { order.giveAllMemory() }
            let cores = min(settings.cores, self.terms?.concurrency ?? settings.cores)
            order.give(cores: Machine.share(of: cores, itemsLeft: plan.itemCount - index))
            let message: HostMessage
            if let ahead {
                message = .runAhead(order, notes: ahead.notes)
            } else {
                message = .run(order, environment: terms.lane == .device ? device?.environment ?? [:] : [:])
            }
            // A worker that died in between is noticed when its socket is read.
            if case .refused(let status) = process.channel.send(message, descriptors: inputs) {
                let reason = "it could not be handed to a worker: \(String(cString: strerror(status)))"
                item.refusal = ItemResult(failure: .init(code: "notHandedOut", reason: reason))
            } else if ahead != nil {
                process.permit.give()
            }
            readAhead(of: index)
        } catch {
            handingOutTrouble = error
            item.refusal = ItemResult(status: .stopped)
        }
        return item
    }

    private func refuseIfNeedBe(_ worker: Int) {
        guard let refusal = inFlight[worker]?.refusal else { return }
        refused.append((worker, refusal))
    }

    private func startWorker() throws(SpawnFailure) -> WorkerProcess {
        let process = try WorkerProcess()
        Self.confine(process, settings)
        return process
    }

    /// A worker that is gone already, or does not get this, gets no item either: its end is noticed at its socket.
    private static func confine(_ process: WorkerProcess, _ settings: ItemRunSettings) {
        guard let outputs = settings.outputs else { return }
        let terms = WorkerTerms(
            outputFolder: outputs.path, mayUseDevice: settings.mayUseDevice,
            weights: settings.weights?.key.hexadecimal, work: settings.work)
        _ = process.channel.send(
            HostMessage.confine(terms),
            descriptors: [outputs.descriptor, process.permit.descriptor]
                + [settings.weights?.descriptor].compactMap(\.self))
    }

    /// Has the inputs of one more item read while the workers are busy.
    private func readAhead(of index: Int) {
        let next = max(nextToReadAhead, index + 1)
        guard next < min(index + 1 + 2 * workers.count, plan.itemCount) else { return }
        nextToReadAhead = next + 1
        // Parts of a file that is being read come along by themselves.
        guard !inputsAhead.findsAllAtHand || next % ReadAhead.lookInterval == 0 else { return }
        var known = Set(plan.inputs(of: index).map(\.path))
        for file in plan.inputs(of: next) where known.insert(file.path).inserted {
            inputsAhead.read(file.path, bytes: file.identity.size, for: next)
        }
    }

    private func weight(_ item: Int) -> Double { Double(plan.inputBytes(of: item)) }

    private func settle(_ index: Int, _ settlement: JobMachine.Settlement, _ ended: InFlight?, worker: Int?) {
        if let worker, ended != nil { meter.abandoned(worker: worker) }
        var result: ItemResult
        switch settlement {
        case .unfinished:
            if let ended, ended.result == nil { abandoned += 1 }
            return
        case .reported:
            guard let reported = ended?.result else { return }
            result = reported
        case .crashed(let death):
            let isModel = ended?.runsModel ?? false
            result = ItemResult(
                failure: .init(
                    code: isModel ? "modelCrashed" : "decoderCrashed",
                    reason: death.sentence(of: isModel ? "the model" : "the decoder")))
        case .hung(let silence):
            let isModel = ended?.runsModel ?? false
            let reason = "no progress for \(Int(silence.inSeconds.rounded())) s; it was ended"
            result = ItemResult(
                failure: .init(
                    code: isModel ? "modelHung" : "decoderHung", reason: isModel ? "the model made \(reason)" : reason))
        }
        for place in result.problems.indices {
            guard let reason = ended?.unreadable[result.problems[place].input] else { continue }
            result.problems[place].failure = .init(code: "unreadable", reason: reason)
        }
        if result.failure?.code == "outputExists" {
            let made = Set(result.outputs.map(\.path))
            journal.disown(plan.intents(of: index).filter { !made.contains($0.path) })
        }
        let onDevice = ended?.terms.lane == .device
        let records = plan.records(
            of: index, result, device: onDevice ? device?.shownName ?? "cpu" : "cpu",
            seconds: (now - (ended?.since ?? now)).inSeconds)
        meter.finished(
            worker: worker ?? 0, weight: weight(index), megapixels: Double(result.inputPixels) / 1e6,
            failures: records.map(\.isFailure), at: now)
        for (number, record) in records.enumerated() {
            var noted = ItemRecord(record, made: number == 0 ? result.outputs : [])
            // What several inputs were made into together is noted with the first, and with what befell any.
            if number == 0, records.count > 1, records.contains(where: \.isFailure) {
                noted.status = InputRecord.Status.damaged.rawValue
            }
            journal.add(noted, after: now - (ended?.since ?? .zero), at: now)
            ledger.add(record)
        }
    }
}

extension ItemResult {
    fileprivate init(failure: Failure) {
        self.init(status: .failed)
        self.failure = failure
    }
}

extension JobMachine.Action {
    fileprivate var isSettlement: Bool {
        if case .settle = self { true } else { false }
    }
}

extension JobMachine.Verdict {
    init(_ result: ItemResult) {
        switch (result.status, result.failure?.code) {
        case (.good, _), (.damaged, _): self = .made(megapixels: Double(result.inputPixels) / 1e6)
        case (.stopped, _): self = .givenUp
        case (.failed, "memoryShare"), (.failed, "outOfMemory"): self = .needsMemory
        case (.failed, "device"): self = .deviceFailed
        case (.failed, _): self = .failed
        }
    }
}

extension ItemRecord {
    fileprivate init(_ record: InputRecord, made: [ItemResult.Output]) {
        self.init(
            input: record.input, inputChecksum: record.inputChecksum ?? "", status: record.status.rawValue,
            code: record.code ?? "", reason: record.reason ?? "",
            outputs: made.compactMap { output in
                // Looked at now, so that a later change of the file shows.
                guard let file = ExistingFile(output.path) else { return nil }
                return MadeOutput(
                    path: output.path, identity: file.identity, width: output.width, height: output.height,
                    checksum: output.checksum)
            })
    }
}
