package import TaskModel

/// Decides what runs when, for all programs of one machine.
///
/// Holds no clock, lock, thread, file or device: each event method moves the state once and returns what its caller
/// must carry out, in order, after letting go of its lock. Times are those of one clock that never goes back and goes
/// on while the machine sleeps; a time before the latest one counts as the latest.
///
/// Submitting, taking the next request and every expiry cost O(log n) in the number of requests.
package struct Scheduler: Sendable {
    package let settings: SchedulerSettings
    let thresholds: ConditionThresholds

    /// The latest time any event brought.
    package internal(set) var now: Duration
    /// Wall-clock time (seconds since 1970) minus `now`.
    var wallOffset: Duration

    var programs: [String: ProgramEntry] = [:]
    var globalSwitch: BackgroundStatus = .available
    var waiting: [JobID: WaitingEntry] = [:]
    var running: [JobID: RunningEntry] = [:]
    var ended: [JobID: EndedEntry] = [:]
    /// Ended entries, oldest first; entries of retried ones are dead.
    var endedOrder: [JobID] = []

    var lines = WaitingLines()
    /// By wall-clock time.
    var floors = Agenda()
    var delays = Agenda()
    var overdue = Agenda()
    var timers = Agenda()
    var dismissals = Agenda()

    package internal(set) var gates: ConditionGates
    package internal(set) var pacer: Pacer
    package internal(set) var devices: DeviceBoard
    var absences: [ResourceAbsence] = []
    /// Memory claimed by what was launched since the last reading of available memory.
    var claimedSinceReading = 0
    /// How many readings there have been.
    var reading = 0
    /// When the next task is stopped for want of memory; nil while there is enough.
    var shedsAt: Duration?

    /// The machine is about to sleep or to shut down; nothing starts meanwhile.
    var leavesFor: StopReason?
    var leftAt: Duration?
    /// How long the machine was away in all.
    var away = Duration.zero
    /// The scheduler's clock without the times at which nothing could start.
    var awakeTime: Duration { now - away }

    var nextID: UInt64
    private var lastStamp: UInt32 = 0

    /// - Parameters:
    ///   - settings: The numbers to decide by.
    ///   - thresholds: Where conditions stop and start work.
    ///   - now: Time on the scheduler's clock.
    ///   - wall: The same moment in seconds since 1970.
    ///   - firstID: Number of the first request, above all that were given out before.
    package init(
        settings: SchedulerSettings = SchedulerSettings(), thresholds: ConditionThresholds = .standard,
        at now: Duration, wall: Duration, firstID: UInt64 = 1
    ) {
        self.settings = settings
        self.thresholds = thresholds
        self.now = now
        wallOffset = wall - now
        gates = ConditionGates(thresholds: thresholds, at: now)
        pacer = Pacer(thresholds: thresholds, at: now)
        devices = DeviceBoard(limits: settings.devices)
        nextID = firstID
    }

    /// Seconds since 1970 at ``now``.
    package var wall: Duration { now + wallOffset }

    mutating func advance(to time: Duration) {
        now = max(now, time)
    }

    mutating func newStamp() -> UInt32 {
        lastStamp &+= 1
        return lastStamp
    }

    // MARK: Programs

    /// A program announced itself. A known one keeps its requests and gets the new manifest.
    ///
    /// - Parameters:
    ///   - manifest: What it may ask for.
    ///   - usesHandlers: False where the host starts the work itself, and the program registers no launch handlers.
    ///   - startsEntryPoints: The host starts the manifest's entry points, which then stand for handlers (rule 1).
    ///   - time: Now.
    /// - Returns: What is to be done.
    package mutating func addProgram(
        _ manifest: ProgramManifest, usesHandlers: Bool, startsEntryPoints: Bool = false, at time: Duration
    ) -> [SchedulerAction] {
        advance(to: time)
        let handlers = usesHandlers ? HandlerTable(manifest, startsEntryPoints: startsEntryPoints) : nil
        if var program = programs[manifest.program] {
            program.manifest = manifest
            program.handlers = handlers
            program.isPresent = true
            program.isAnnounced = true
            programs[manifest.program] = program
            replaceWaiting(of: manifest.program)
            return schedule()
        }
        programs[manifest.program] = ProgramEntry(
            manifest: manifest, handlers: handlers, refresh: RefreshBudget(limits: settings.refresh))
        return []
    }

    /// Keeps a place for a program that has not announced itself, so that what is known of it finds it when it does.
    mutating func awaitProgram(_ name: String) {
        guard programs[name] == nil else { return }
        var program = ProgramEntry(
            manifest: ProgramManifest(program: name, modes: [], permitted: []), handlers: nil,
            refresh: RefreshBudget(limits: settings.refresh))
        program.isAnnounced = false
        program.isPresent = false
        programs[name] = program
    }

    /// - Returns: Why the handler is not registered; nil when it is.
    package mutating func register(
        _ pattern: IdentifierPattern, for kind: TaskKind?, program: String
    ) -> Diagnostic? {
        guard let problem = programs[program]?.handlers?.register(pattern, for: kind) else {
            guard programs[program]?.isAnnounced != true else { return nil }
            return Diagnostic(
                code: "unknownProgram", sentence: "There is no program \"\(program)\".",
                fix: "Configure the program with its manifest first.")
        }
        return problem
    }

    /// - Returns: Permitted identifiers that nothing handles (rule 11).
    package mutating func activate(program: String) -> [Diagnostic] {
        programs[program]?.handlers?.activate() ?? []
    }

    /// The registration that launches of this identifier go to.
    package func handler(for identifier: TaskIdentifier, program: String) -> IdentifierPattern? {
        programs[program]?.handlers?.handler(for: identifier)
    }

    /// The program's process is gone, or its person took it away: what it queued as continued work is dropped, what
    /// runs ends without a handler but can be taken up again; the rest waits for its return (rule 79).
    package mutating func hostRemoved(program name: String, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        guard let program = programs[name] else { return [] }
        programs[name]?.isPresent = false
        var actions: [SchedulerAction] = []
        for id in program.waiting.values.sorted() where waiting[id]?.request.kind == .continued {
            actions += endWaiting(id, .stopped(.hostRemoved))
        }
        for id in program.running.values.sorted() {
            actions += endRunning(id, .stopped(.hostRemoved), isResumable: true)
        }
        replaceWaiting(of: name)
        return actions + schedule()
    }

    package mutating func hostReturned(program name: String, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        guard programs[name]?.isAnnounced == true else { return [] }
        programs[name]?.isPresent = true
        replaceWaiting(of: name)
        return schedule()
    }

    /// A person switched background work on or off, for one program or for all (rules 22 and 98).
    package mutating func setBackgroundStatus(
        _ status: BackgroundStatus, program name: String?, at time: Duration
    ) -> [SchedulerAction] {
        advance(to: time)
        if let name {
            awaitProgram(name)
            programs[name]?.backgroundSwitch = status
        } else {
            globalSwitch = status
        }
        var actions: [SchedulerAction] = []
        for affected in name.map({ [$0] }) ?? programs.keys.sorted() {
            guard let program = programs[affected] else { continue }
            if backgroundStatus(of: affected) != .available {
                for id in program.running.values.sorted() where running[id]?.request.kind != .continued {
                    actions += expire(id, .userStop)
                }
            }
            replaceWaiting(of: affected)
        }
        return actions + schedule()
    }

    package func backgroundStatus(of program: String) -> BackgroundStatus {
        globalSwitch != .available ? globalSwitch : programs[program]?.backgroundSwitch ?? .available
    }

    // MARK: Devices

    /// A probe has answered: these devices are healthy, and these are the reasons for what is missing.
    package mutating func capabilitiesChanged(
        devices found: [ComputeDevice], absences: [ResourceAbsence], at time: Duration
    ) -> [SchedulerAction] {
        advance(to: time)
        self.absences = absences
        devices.replace(with: found)
        // A device may come back before all that ran on it has noticed that it was gone.
        for run in running.values {
            guard let device = run.device else { continue }
            devices.claim(run.request.claim.deviceMemoryBytes, on: device, by: run.id)
        }
        return schedule()
    }

    /// What requests may require on this machine now.
    package var supportedResources: ComputeResources { devices.devices.isEmpty ? [] : .gpu }

    package mutating func setDevicePaused(_ paused: Bool, device: String, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        devices.setPaused(paused, device: device)
        return schedule()
    }

    /// What an earlier scheduler knew of devices holds on.
    package mutating func adopt(_ health: [String: DeviceHealth], at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        devices.adopt(health)
        return schedule()
    }

    package mutating func clearQuarantine(of device: String, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        devices.clearQuarantine(of: device)
        return schedule()
    }

    // MARK: Conditions and time

    package mutating func conditionsChanged(_ conditions: Conditions, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        let caughtUp = catchUp()
        claimedSinceReading = 0
        reading += 1
        _ = gates.observe(conditions, at: now, wall: wall)
        pacer.observe(conditions, at: now)
        return caughtUp + enforceConditions() + updateTerms() + schedule()
    }

    /// Background work may not run in these wall-clock times (seconds since 1970), in order and apart (rule 51).
    package mutating func blockHours(_ hours: [Range<Duration>], at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        _ = gates.blockHours(hours, at: now, wall: wall)
        return enforceConditions() + schedule()
    }

    /// The wall clock was set.
    package mutating func clockChanged(wall: Duration, at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        wallOffset = wall - now
        return catchUp() + shedForMemory() + schedule()
    }

    package mutating func timePassed(at time: Duration) -> [SchedulerAction] {
        advance(to: time)
        return catchUp() + shedForMemory() + schedule()
    }

    /// When ``timePassed(at:)`` has something to do next; nil when only events can change anything.
    package mutating func nextDeadline() -> Duration? {
        let floor = nextFloor().map { now + ($0.key - wall) }
        let hours = gates.nextDeadline(at: now, wall: wall)
        return [
            floor, hours, nextDelay()?.key, nextOverdue()?.key, nextTimer()?.key, nextDismissal()?.key, shedsAt,
            devices.nextDeadline(at: now),
        ].compactMap(\.self).min()
    }

    /// Does everything that was due by now, but for shedding: a new reading may be what comes next.
    mutating func catchUp() -> [SchedulerAction] {
        var actions: [SchedulerAction] = []
        if !gates.timePassed(at: now, wall: wall).isEmpty {
            actions += followConditions() + updateTerms()
        }
        while let entry = nextFloor(), entry.key <= wall {
            floors.removeFirst()
            enqueue(entry.id)
        }
        while let entry = nextDelay(), entry.key <= now {
            delays.removeFirst()
            enqueue(entry.id)
        }
        while let entry = nextOverdue(), entry.key <= now {
            overdue.removeFirst()
            waiting[entry.id]?.wasOverdue = true
            actions.append(.note(entry.id, .overdue(waited: settings.overdueAfter)))
        }
        while let entry = nextTimer(), entry.key <= now {
            timers.removeFirst()
            actions += deadlinePassed(entry.id)
        }
        while let entry = nextDismissal(), entry.key <= now {
            dismissals.removeFirst()
            actions += dismissNow(entry.id)
        }
        return actions
    }

    // MARK: Agendas

    private mutating func nextFloor() -> Agenda.Entry? {
        floors.first { [waiting] in waiting[$0.id]?.stamp == $0.stamp }
    }

    private mutating func nextDelay() -> Agenda.Entry? {
        delays.first { [waiting] in waiting[$0.id]?.stamp == $0.stamp }
    }

    private mutating func nextOverdue() -> Agenda.Entry? {
        overdue.first { [waiting, settings] in
            waiting[$0.id].map { entry in entry.submitted + settings.overdueAfter } == $0.key
        }
    }

    private mutating func nextTimer() -> Agenda.Entry? {
        timers.first { [running] in running[$0.id]?.stamp == $0.stamp }
    }

    private mutating func nextDismissal() -> Agenda.Entry? {
        dismissals.first { [ended] in ended[$0.id]?.dismissAt == $0.key }
    }
}
