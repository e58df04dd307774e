package import BackgroundTasks
import Foundation
import Glibc
import JobLink
package import SchedulingCore
package import ServiceAPI
import Locking
package import SystemConditions
import SystemText
import TaskModel
package import TaskStore

/// Takes jobs, has the scheduler decide when they run, and runs each in a process of its own.
package final class JobKeeper: Sendable {
    /// What the service stands on.
    package struct Machine: Sendable {
        package var clock: any HostClock
        package var conditions: any ConditionsProvider
        package var capabilities: any CapabilitySource
        /// nil where nothing delays sleep.
        package var inhibitor: (any SleepInhibiting)?
        /// Of bgrun itself.
        package var executable: String
        /// Of jobs that say nothing of it.
        package var umask = FileMask.usual
        package var settings: SchedulerSettings
        /// A test may say what happens (rule 99).
        package var allowsSimulation: Bool
        package var energy = EnergyMeter()
        /// Of a busy processor where the machine does not count what it takes.
        package var processorWatts = EnergyShares.estimatedWatts

        package init(
            clock: any HostClock, conditions: any ConditionsProvider, capabilities: any CapabilitySource,
            inhibitor: (any SleepInhibiting)? = nil, executable: String,
            settings: SchedulerSettings = SchedulerSettings(), allowsSimulation: Bool = false
        ) {
            self.clock = clock
            self.conditions = conditions
            self.capabilities = capabilities
            self.inhibitor = inhibitor
            self.executable = executable
            self.settings = settings
            self.allowsSimulation = allowsSimulation
            // Every command of the person is of one program here.
            self.settings.maxPending = [.refresh: 1_000, .processing: 10_000, .continued: 10_000]
        }
    }

    typealias Host = SchedulerHost<[IdentifierPattern], Never>

    static let program = "bgrun"

    let place: ServicePlace
    let machine: Machine
    /// With it, what jobs may be called.
    let host: Host
    let book: JobBook
    let store: TaskStore
    let processes = Lock<[JobID: JobProcess]>([:])
    /// What gives the processes of each job their share of the processor.
    let priorities = Lock<[JobID: JobPriority]>([:])
    let processorLimits = ProcessorLimits()
    let energy: EnergyKeeper
    let devices: FailedDevices
    /// Launches that wait for the end of the process before theirs.
    let relaunches = Lock<[JobID: SchedulerAction.Launch]>([:])
    /// Commands that stand still while the machine sleeps.
    let asleep = Lock<Set<JobID>>([])
    private let draining = Lock(false)
    private let idleListener = Lock<(@Sendable () -> Void)?>(nil)

    /// - Throws: ``StoreError`` where the store cannot be used.
    package init(_ machine: Machine, store: TaskStore, place: ServicePlace) throws(StoreError) {
        self.machine = machine
        self.place = place
        self.store = store
        let book = JobBook(store: store)
        self.book = book
        energy = EnergyKeeper(machine.energy, watts: machine.processorWatts) { [clock = machine.clock] parts in
            book.keep(parts, at: clock.wallNow.inSeconds)
        }
        devices = try FailedDevices(store, book)
        host = SchedulerHost(
            .init(
                clock: machine.clock, conditions: machine.conditions, capabilities: machine.capabilities,
                inhibitor: machine.inhibitor),
            settings: machine.settings, own: [], firstID: try store.lastJob() + 1)
        host.begin(
            .init(
                carryOut: { [weak self] output in
                    if case .act(let action) = output { self?.act(action) }
                },
                note: { _, problem in
                    // The service's log.
                    FileHandle.standardError.write(
                        Data("\(problem.code): \(problem.sentence) \(problem.fix)\n".utf8))
                }))
        host.decide { [devices] state, now in
            Self.permit("\(Self.program).*", &state, at: now)
            state.add(state.scheduler.adopt(devices.health(wallOffset: state.wallOffset), at: now))
        }
        try adopt()
    }

    // MARK: Taking jobs

    /// Takes a job, or says why not. Blocks while drivers are asked for the first time.
    ///
    /// - Throws: ``Refusal``; nothing was kept then.
    package func submit(_ submission: JobSubmission) throws(Refusal) -> JobDocument {
        guard !draining.withLock(\.self) else {
            throw Refusal(
                code: "draining", sentence: "The service takes no new jobs.", fix: "Wait until it has ended.")
        }
        try check(submission)
        let request = submission.request(program: Self.program)
        host.prepare(for: request)
        let answer = host.decide { state, now in
            Self.permit(request, &state, at: now)
            let decided = state.scheduler.submit(request, program: Self.program, at: now)
            state.add(decided.actions)
            if case .success(let admission) = decided.answer, !admission.isRepeat {
                let stored = StoredJob(
                    id: admission.id.rawValue, identifier: request.identifier.rawValue,
                    submission: JSONDocument.encode(submission), state: .waiting,
                    submitted: state.scheduler.wall.inSeconds)
                // It goes on with what they have left.
                if submission.work == .bgrun { book.takeOver(stored.identifier) }
                book.add(JobEntry(stored: stored, submission: submission), admission.id)
                let isForeground = state.scheduler.summary(admission.id)?.isForeground ?? false
                if submission.foreground, !isForeground {
                    state.add(state.scheduler.promote(admission.id, at: now))
                }
                if !submission.foreground, isForeground { state.add(state.scheduler.demote(admission.id, at: now)) }
            }
            return decided.answer
        }
        switch answer {
        case .failure(let rejection): throw Refusal(rejection)
        case .success(let admission):
            do throws(StoreError) {
                try book.flush(admission.id)
            } catch {
                host.perform { scheduler, now in scheduler.stop(admission.id, .userStop, at: now) }
                throw Refusal(code: error.code.rawValue, sentence: error.sentence, fix: error.fix)
            }
            guard let document = document(admission.id) else {
                throw Refusal(code: "lost", sentence: "The job ended at once.", fix: "Look at bgrun jobs --all.")
            }
            return document
        }
    }

    private func check(_ submission: JobSubmission) throws(Refusal) {
        guard !submission.arguments.isEmpty, submission.arguments.first != "" else {
            throw Refusal(code: "noCommand", sentence: "There is no command to run.", fix: "Name one in arguments.")
        }
        var status = stat()
        guard submission.folder.hasPrefix("/"), stat(submission.folder.systemBytes, &status) == 0,
            status.st_mode & S_IFMT == S_IFDIR
        else {
            throw Refusal(
                code: "noFolder", sentence: "\"\(submission.folder)\" is not the absolute path of a folder.",
                fix: "Name the folder that the command is to run in.")
        }
        let texts = submission.arguments + submission.environment.flatMap { [$0.key, $0.value] }
        guard !texts.contains(where: { $0.utf8.contains(0) }) else {
            throw Refusal(code: "nulByte", sentence: "An argument or variable has a NUL byte.", fix: "Take it out.")
        }
        // Times that the scheduler can reckon with, as long as the commands take them; it looks at the memory itself.
        let numbers: [(name: String, value: Double?, range: ClosedRange<Double>)] = [
            ("umask", submission.umask.map(Double.init), 0...0o777),
            ("earliestBegin", submission.earliestBegin, 0...1e12),
            ("interval", submission.interval, 1...1e9),
            ("grace", submission.grace, 0...1e9),
        ]
        for (name, value, range) in numbers {
            guard let value, !range.contains(value) else { continue }
            throw Refusal(
                code: "badNumber", sentence: "\"\(name)\" cannot be \(value).",
                fix: "Give a number from \(Int(range.lowerBound)) to \(Int(range.upperBound)).")
        }
    }

    /// Only continued work may have a wildcard (rule 3): what else a person asks for is permitted by its name, unless the
    /// scheduler will refuse that for its shape.
    private static func permit(_ request: TaskRequest, _ state: inout Host.State, at now: Duration) {
        guard request.kind != .continued, request.identifier.shapeProblem(program: program) == nil else { return }
        permit(request.identifier.rawValue, &state, at: now)
    }

    private static func permit(_ identifier: String, _ state: inout Host.State, at now: Duration) {
        let pattern = IdentifierPattern(identifier)
        guard !state.own.contains(pattern) else { return }
        // Names of jobs that have ended: who takes one up again has it permitted again.
        state.own = state.own.filter {
            $0.isWildcard || state.scheduler.job(TaskIdentifier($0.rawValue), program: program) != nil
        }
        state.own.append(pattern)
        let manifest = ProgramManifest(
            program: program, modes: Set(TaskKind.allCases), permitted: state.own, grants: .gpu)
        state.add(state.scheduler.addProgram(manifest, usesHandlers: false, at: now))
    }

    // MARK: Taking them up again

    /// Takes up what an earlier service left: nothing stays running without one (rule 85).
    private func adopt() throws(StoreError) {
        let left = try store.unfinishedJobs()
        guard !left.isEmpty else { return }
        let orphans = left.compactMap(\.process).map {
            ProcessIdentity(processID: $0.id, start: $0.start, boot: $0.boot)
        }.filter(\.isAlive)
        // They notice by themselves that their service is gone; two of one job must never run.
        OrphanProcesses.end(orphans)
        for job in left {
            guard let submission = JSONDocument.decode(JobSubmission.self, job.submission) else { continue }
            guard submission.work == .bgrun || job.state == .waiting else {
                // Nobody knows whether any command may be run twice: its person decides.
                lost(job, submission)
                continue
            }
            let request = submission.request(program: Self.program)
            var stored = job
            stored.state = .waiting
            stored.process = nil
            let id = JobID(job.id)
            book.add(JobEntry(stored: stored, submission: submission), id)
            host.prepare(for: request)
            host.decide { state, now in
                Self.permit(request, &state, at: now)
                let submitted = Duration.seconds(job.submitted) - state.wallOffset
                state.add(
                    state.scheduler.adopt(
                        request, id: id, program: Self.program, submitted: submitted, attempts: 0,
                        losses: stored.losses, at: now))
                state.add(state.scheduler.demote(id, at: now))
                if job.isPaused { state.add(state.scheduler.pause(id, at: now)) }
            }
        }
    }

    private func lost(_ job: StoredJob, _ submission: JobSubmission) {
        var stored = job
        stored.state = .ended
        stored.process = nil
        stored.ended = machine.clock.wallNow.inSeconds
        stored.outcome = TaskOutcome.stopped(.hostRemoved).code
        stored.isResumable = true
        stored.text = "The service was lost while the command ran.\n"
        book.add(JobEntry(stored: stored, submission: submission), JobID(job.id))
    }

    // MARK: What people ask of jobs

    /// - Throws: ``Refusal`` when there is no such job, or it cannot do that any more.
    package func ask(_ id: UInt64, _ verb: JobVerb) throws(Refusal) -> JobDocument {
        let job = JobID(id)
        guard let before = document(job) else { throw Self.unknown(id) }
        switch verb {
        case .foreground: host.perform { scheduler, now in scheduler.promote(job, at: now) }
        case .background: host.perform { scheduler, now in scheduler.demote(job, at: now) }
        case .pause:
            guard before.state.isActive else { throw Self.over(before) }
            book.update(job) { $0.stored.isPaused = true }
            host.perform { scheduler, now in scheduler.pause(job, at: now) }
        case .resume:
            book.update(job) { $0.stored.isPaused = false }
            if before.state.isActive {
                host.perform { scheduler, now in scheduler.resume(job, at: now) }
            } else {
                try takeUpAgain(job, before)
            }
        case .stop: host.perform { scheduler, now in scheduler.stop(job, .userStop, at: now) }
        case .cancel:
            book.update(job) { $0.stored.isResumable = false }
            unwanted.withLock { _ = $0.insert(job) }
            host.perform { scheduler, now in scheduler.stop(job, .userStop, at: now) }
        case .kill:
            process(job)?.kill()
            host.perform { scheduler, now in scheduler.stop(job, .userStop, at: now) }
        case .dismiss: host.perform { scheduler, now in scheduler.dismiss(job, at: now) }
        }
        guard let after = document(job) else { throw Self.unknown(id) }
        return after
    }

    /// Jobs whose result is not wanted any more: they end as cancelled.
    private let unwanted = Lock<Set<JobID>>([])

    func isUnwanted(_ job: JobID) -> Bool { unwanted.withLock { $0.contains(job) } }

    func forgetUnwanted(_ job: JobID) { unwanted.withLock { _ = $0.remove(job) } }

    private func takeUpAgain(_ job: JobID, _ before: JobDocument) throws(Refusal) {
        guard before.isResumable, let entry = loaded(job) else {
            throw Refusal(
                code: "notResumable", sentence: "Job \(job) has ended and has nothing left to do.",
                fix: "Give its command again.")
        }
        let request = entry.submission.request(program: Self.program)
        book.update(job) {
            $0.forgetEvents()
            $0.stored.state = .waiting
            $0.stored.ended = nil
            $0.stored.outcome = nil
            $0.stored.status = nil
            $0.stored.losses = 0
        }
        host.prepare(for: request)
        host.decide { state, now in
            Self.permit(request, &state, at: now)
            state.add(state.scheduler.dismiss(job, at: now))
            state.add(
                state.scheduler.adopt(request, id: job, program: Self.program, submitted: now, attempts: 0, at: now))
            if entry.attachedClients == 0 { state.add(state.scheduler.demote(job, at: now)) }
        }
        publish(job)
    }

    /// The entry of a job, brought back from the store where it has left memory.
    func loaded(_ job: JobID) -> JobEntry? {
        if let entry = book.entry(job) { return entry }
        guard let stored = try? store.job(job.rawValue),
            let submission = JSONDocument.decode(JobSubmission.self, stored.submission)
        else { return nil }
        let entry = JobEntry(stored: stored, submission: submission)
        book.add(entry, job)
        return entry
    }

    // MARK: Clients

    /// What happens to a job from an event on. While a waiting client listens, the job is in the foreground.
    ///
    /// - Parameters:
    ///   - id: Number of the job.
    ///   - last: Number of the last event that the client knows.
    ///   - isWaiting: The client shows the job to a person.
    ///   - isQuiet: The client wants no events of progress.
    /// - Returns: The events, and what is to be called when the client has left, as often as one likes.
    /// - Throws: ``Refusal`` when there is no such job.
    package func events(
        of id: UInt64, after last: UInt64, isWaiting: Bool, isQuiet: Bool
    ) throws(Refusal) -> (stream: AsyncStream<JobEvent>, leave: @Sendable () -> Void) {
        let job = JobID(id)
        guard loaded(job) != nil else { throw Self.unknown(id) }
        let (stream, continuation) = AsyncStream.makeStream(of: JobEvent.self, bufferingPolicy: .bufferingNewest(1_024))
        var listener: UInt64?
        let now = document(job)
        book.touch(job) { entry in
            // One that comes late is told at least how the job stands.
            if entry.events.isEmpty {
                continuation.yield(JobEvent(kind: entry.stored.state == .ended ? .ended : .job, job: now))
            }
            listener = entry.listen(after: last, .init(stream: continuation, isQuiet: isQuiet))
            if isWaiting { entry.attachedClients += 1 }
        }
        if isWaiting { host.perform { scheduler, now in scheduler.promote(job, at: now) } }
        let leaves = listener
        let hasLeft = Lock(false)
        return (
            stream,
            { [weak self] in
                // The connection's end and the answer's are both told.
                let isFirst = hasLeft.withLock { left in
                    defer { left = true }
                    return !left
                }
                guard isFirst else { return }
                var isLast = false
                self?.book.touch(job) { entry in
                    if let leaves { entry.stopListening(leaves) }
                    if isWaiting {
                        entry.attachedClients -= 1
                        isLast = entry.attachedClients == 0
                    }
                }
                if isLast { self?.host.perform { scheduler, now in scheduler.demote(job, at: now) } }
            }
        )
    }

    // MARK: The service's own life

    /// Takes no new jobs from now on.
    package func drain() { draining.withLock { $0 = true } }
    package var isDraining: Bool { draining.withLock(\.self) }

    /// Stops everything that runs, with one grace for all, and returns when nothing runs any more.
    package func shutDown() {
        drain()
        host.perform { scheduler, now in scheduler.stopAll(.shutdown, at: now) }
        let deadline = ContinuousClock.now + machine.settings.grace + .seconds(1)
        while !processes.withLock(\.isEmpty), ContinuousClock.now < deadline { usleep(5_000) }
        for process in processes.withLock({ Array($0.values) }) { process.kill() }
        book.stopListeners()
        do throws(StoreError) {
            try book.flush()
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
        }
    }

    /// Jobs that have not come to their end.
    package var activeCount: Int { host.read { $0.scheduler.waitingCount + $0.scheduler.runningCount } }
    package var runningCount: Int { host.read(\.scheduler.runningCount) }

    package func whenIdle(_ action: @escaping @Sendable () -> Void) { idleListener.withLock { $0 = action } }

    func checkForIdleness() {
        if activeCount == 0 { idleListener.withLock(\.self)?() }
    }

    func process(_ job: JobID) -> JobProcess? { processes.withLock { $0[job] } }

    static func unknown(_ id: UInt64) -> Refusal {
        Refusal(code: "noSuchJob", sentence: "There is no job \(id).", fix: "bgrun jobs --all lists them.")
    }

    private static func over(_ job: JobDocument) -> Refusal {
        Refusal(
            code: "jobEnded", sentence: "Job \(job.id) has ended.",
            fix: job.isResumable ? "bgrun resume \(job.id) takes it up again." : "bgrun jobs lists those that have not."
        )
    }
}
