package import Dispatch
import Locking
package import SchedulingCore
package import SystemConditions
package import TaskModel

/// Keeps one scheduler on the machine's clock and conditions, and has its decisions carried out by its owner.
///
/// Every event is decided under the lock; what follows from it is carried out after the lock has been let go, by one
/// thread at a time and in the order of the decisions.
package final class SchedulerHost<Own: Sendable, Message: Sendable>: Sendable {
    package typealias State = HostState<Own, Message>

    /// The machine as a host uses it.
    package struct Machine: Sendable {
        package var clock: any HostClock
        package var conditions: any ConditionsProvider
        package var capabilities: any CapabilitySource
        /// nil where nothing delays sleep.
        package var inhibitor: (any SleepInhibiting)?

        package init(
            clock: any HostClock, conditions: any ConditionsProvider, capabilities: any CapabilitySource,
            inhibitor: (any SleepInhibiting)? = nil
        ) {
            self.clock = clock
            self.conditions = conditions
            self.capabilities = capabilities
            self.inhibitor = inhibitor
        }
    }

    /// What the owner does with what is decided.
    package struct Conduct: Sendable {
        let carryOut: @Sendable (State.Output) -> Void
        let note: @Sendable (inout State, Diagnostic) -> Void
        let settled: @Sendable (inout State, Duration) -> Void

        /// - Parameters:
        ///   - carryOut: Carries out one thing. Is called by one thread at a time, without a lock held.
        ///   - note: Notes that something is amiss with the machine. Is called under the lock.
        ///   - settled: Everything is carried out. Is called under the lock.
        package init(
            carryOut: @escaping @Sendable (State.Output) -> Void,
            note: @escaping @Sendable (inout State, Diagnostic) -> Void = { _, _ in },
            settled: @escaping @Sendable (inout State, Duration) -> Void = { _, _ in }
        ) {
            self.carryOut = carryOut
            self.note = note
            self.settled = settled
        }
    }

    /// What follows next from what was decided.
    private enum Step: Sendable {
        case carryOut([State.Output])
        case watchConditions(Bool)
        case sample(ConditionSampling)
        case delaySleep(SleepDelay.Action)
    }

    private struct Setup: Sendable {
        var conduct: Conduct
        var next: any HostAlarm
        var sleepDelay: any HostAlarm
        var rest: any HostAlarm
        var hours: any HostAlarm
        var wallWatch: any Sendable
    }

    private let machine: Machine
    private let state: Lock<State>
    private let setup = Lock<Setup?>(nil)
    /// Logind is asked here: that blocks, and its answers have an order.
    private let inhibitorQueue = DispatchQueue(label: "bgrun.inhibitor")
    /// What is done beside the threads that call.
    private let work: DispatchGroup

    /// - Parameters:
    ///   - machine: That it is on.
    ///   - settings: Of the scheduler.
    ///   - own: What the owner decides together with it.
    ///   - firstID: Number of the first job.
    ///   - work: Is entered for as long as the machine is asked something.
    package init(
        _ machine: Machine, settings: SchedulerSettings, own: Own, firstID: UInt64 = 1,
        work: DispatchGroup = DispatchGroup()
    ) {
        self.machine = machine
        self.work = work
        let clock = machine.clock
        let scheduler = Scheduler(settings: settings, at: clock.now, wall: clock.wallNow, firstID: firstID)
        state = Lock(State(scheduler: scheduler, own: own))
    }

    deinit {
        if state.withLock(\.watchesConditions) { machine.conditions.stop() }
    }

    /// To be called once, before the first event.
    package func begin(_ conduct: Conduct) {
        let clock = machine.clock
        let next = clock.makeAlarm { [weak self] in
            self?.decide { state, now in
                state.nextIsSetTo = nil
                state.add(state.scheduler.timePassed(at: now))
            }
        }
        let sleepDelay = clock.makeAlarm { [weak self] in self?.decide { state, _ in state.sleepDelayIsSetTo = nil } }
        let rest = clock.makeAlarm { [weak self] in self?.decide { state, _ in state.restIsSetTo = nil } }
        let hours = clock.makeAlarm { [weak self] in self?.lookAtHours() }
        setup.withLock {
            $0 = Setup(
                conduct: conduct, next: next, sleepDelay: sleepDelay, rest: rest, hours: hours, wallWatch: ())
        }
        let watch = clock.watchWallClock { [weak self] in self?.decide { _, _ in } }
        setup.withLock { $0?.wallWatch = watch }
    }

    // MARK: Deciding

    /// Decides an event, and sees to it that what follows is carried out.
    ///
    /// - Parameter event: Decides at the given moment, and adds what follows to the state.
    /// - Returns: What the event answered.
    @discardableResult
    package func decide<Answer: Sendable>(_ event: (inout State, Duration) -> Answer) -> Answer {
        let now = machine.clock.now
        let wall = machine.clock.wallNow
        let answer = state.withLock { state in
            let drift = wall - now - state.wallOffset
            if max(drift, .zero - drift) > Self.wallTolerance {
                state.add(state.scheduler.clockChanged(wall: wall, at: now))
            }
            return event(&state, now)
        }
        carryOut()
        return answer
    }

    /// The wall clock was set when it is off by more than this.
    private static var wallTolerance: Duration { .milliseconds(500) }

    /// Has the scheduler decide an event, and sees to it that what follows is carried out.
    package func perform(_ event: (inout Scheduler, Duration) -> [SchedulerAction]) {
        decide { state, now in state.add(event(&state.scheduler, now)) }
    }

    package func read<Answer: Sendable>(_ question: (borrowing State) -> Answer) -> Answer {
        state.withLock { question($0) }
    }

    /// Seconds since 1970.
    package var wallNow: Duration { machine.clock.wallNow }

    private func carryOut() {
        let isMine = state.withLock { state in
            defer { state.isCarryingOut = true }
            return !state.isCarryingOut
        }
        // Whoever carries out finds what was added meanwhile.
        guard isMine else { return }
        guard let setup = setup.withLock(\.self) else { preconditionFailure("a host begins before its first event") }
        while let step = nextStep(setup) {
            switch step {
            case .carryOut(let outputs): outputs.forEach(setup.conduct.carryOut)
            case .watchConditions(let isOn): watchConditions(isOn)
            case .sample(let sampling): change(sampling)
            case .delaySleep(let action): act(action)
            }
        }
    }

    /// nil when there is nothing left to do, and then the alarms are set.
    private func nextStep(_ setup: Setup) -> Step? {
        state.withLock { state in
            if !state.outbox.isEmpty {
                defer { state.outbox = [] }
                return .carryOut(state.outbox)
            }
            let now = machine.clock.now
            let rest = state.looksForRest(at: now)
            if state.needsConditions != state.watchesConditions {
                state.watchesConditions = state.needsConditions
                return .watchConditions(state.needsConditions)
            }
            let sampling = ConditionSampling(
                isRunning: state.scheduler.runningCount > 0,
                awaited: state.scheduler.gates.closed.intersection(state.scheduler.watchedConditions),
                eventDriven: machine.conditions.eventDriven)
            if sampling != state.sampling {
                state.sampling = sampling
                return .sample(sampling)
            }
            if let action = state.sleepDelay.looked(isActive: state.scheduler.activeCount > 0, at: now) {
                return .delaySleep(action)
            }
            state.isCarryingOut = false
            let next = state.scheduler.nextDeadline()
            if state.nextIsSetTo != next {
                state.nextIsSetTo = next
                setup.next.set(at: next)
            }
            let sleepDelay = state.sleepDelay.nextDeadline
            if state.sleepDelayIsSetTo != sleepDelay {
                state.sleepDelayIsSetTo = sleepDelay
                setup.sleepDelay.set(at: sleepDelay)
            }
            if state.restIsSetTo != rest {
                state.restIsSetTo = rest
                setup.rest.set(at: rest)
            }
            let hasHours = state.needsConditions && !state.blockedHours.isEmpty
            let hours = hasHours ? state.hoursIsSetTo ?? now + Self.hoursPeriod : nil
            if state.hoursIsSetTo != hours {
                state.hoursIsSetTo = hours
                setup.hours.set(at: hours)
            }
            setup.conduct.settled(&state, now)
            return nil
        }
    }

    // MARK: What the machine is like

    private func change(_ sampling: ConditionSampling) {
        machine.conditions.setSampling(interval: nil, of: .all.subtracting(sampling.kinds))
        machine.conditions.setSampling(interval: sampling.interval, of: sampling.kinds)
    }

    /// Sees to it that the scheduler knows what it needs for a request. Blocks while drivers and the message bus are
    /// asked for the first time.
    package func prepare(for request: TaskRequest) {
        if !request.requiredResources.union(request.preferredResources).isEmpty { learnCapabilities() }
        let now = machine.clock.now
        let isFirst = state.withLock { state in
            state.emptySince = now
            defer { state.needsConditions = true }
            return !state.needsConditions
        }
        guard isFirst else { return lookAtHours() }
        // An unknown value blocks nothing, so nothing may start before the first reading.
        conditionsChanged(machine.conditions.current())
    }

    private func watchConditions(_ isOn: Bool) {
        guard isOn else { return machine.conditions.stop() }
        machine.conditions.start(
            onSleep: { [weak self] in self?.sleepChanged($0) }, onChange: { [weak self] in self?.conditionsChanged($0) }
        )
    }

    /// Asks what the machine offers, once. Blocks meanwhile.
    package func learnCapabilities() {
        guard !read(\.knowsCapabilities) else { return }
        let found = machine.capabilities.capabilities()
        decide { state, now in
            state.knowsCapabilities = true
            state.add(
                state.scheduler.capabilitiesChanged(devices: found.devices, absences: found.absences, at: now))
        }
    }

    private func conditionsChanged(_ conditions: Conditions) {
        lookAtHours()
        decide { state, now in
            state.measured = conditions
            state.add(state.scheduler.conditionsChanged(state.conditions, at: now))
        }
    }

    /// The person's hours are looked at with each request and each change of the conditions, some days ahead. Where
    /// there are any, that is done this often too: without, nothing is to wake (rule 54).
    private static var hoursPeriod: Duration { .seconds(86_400) }
    private static var hoursAhead: Int { 8 }

    /// Takes the person's hours as they are now (rule 51). Those that cannot be read are noted, and change nothing.
    private func lookAtHours() {
        let found: Result<AllowedHours, AllowedHoursError>
        do {
            found = .success(try machine.conditions.allowedHours())
        } catch {
            found = .failure(error)
        }
        let blocked = found.map { $0.blocked(from: machine.clock.wallNow, days: Self.hoursAhead) }
        let conduct = setup.withLock { $0?.conduct }
        decide { state, now in
            state.hoursIsSetTo = nil
            switch blocked {
            case .success(let hours):
                state.hoursProblem = nil
                guard hours != state.blockedHours else { return }
                state.blockedHours = hours
                state.blockHours(at: now)
            case .failure(let error):
                guard error.diagnostic != state.hoursProblem else { return }
                state.hoursProblem = error.diagnostic
                conduct?.note(&state, error.diagnostic)
            }
        }
    }

    // MARK: Sleep and shutdown (rule 78)

    private func sleepChanged(_ event: SleepEvent) {
        switch event {
        case .willSleep: machineLeaves(.sleep)
        case .willShutDown: machineLeaves(.shutdown)
        case .didWake, .shutdownCancelled:
            let isNews = decide { state, _ in state.sleepDelay.machineIsBack() }
            if isNews { comeBack() }
        }
    }

    private func machineLeaves(_ reason: StopReason) {
        decide { state, now in
            state.sleepDelay.machineLeaves(at: now)
            state.add(state.scheduler.machineLeaves(reason, at: now))
        }
    }

    private func act(_ action: SleepDelay.Action) {
        switch action {
        case .hold, .release:
            // Of many changes in a row only what is wished for at last takes a question to the bus.
            inhibitorQueue.async(group: work) {
                if self.read(\.sleepDelay.isHeld) { self.holdInhibitor() } else { self.machine.inhibitor?.release() }
            }
        case .comeBack: comeBack()
        }
    }

    /// Blocks while the message bus is asked.
    private func holdInhibitor() {
        do {
            try machine.inhibitor?.hold(why: "Background work keeps a checkpoint.")
        } catch {
            let problem = Diagnostic(
                code: "noInhibitor", sentence: "Sleep and shutdown cannot be delayed: \(error.reason).",
                fix: "Run systemd-logind where polkit lets you delay sleep, or keep checkpoints often.")
            let conduct = setup.withLock { $0?.conduct }
            decide { state, _ in
                guard !state.lacksInhibitor else { return }
                state.lacksInhibitor = true
                conduct?.note(&state, problem)
            }
        }
    }

    /// Work goes on once the devices have been looked at again (rule 34): a sleep may have cost them.
    private func comeBack() {
        let (departure, knowsDevices) = read { ($0.sleepDelay.departures, $0.knowsCapabilities) }
        guard knowsDevices else { return machineReturned(from: departure, with: nil) }
        DispatchQueue(label: "bgrun.return").async(group: work) {
            self.machineReturned(from: departure, with: self.machine.capabilities.capabilities())
        }
    }

    private func machineReturned(from departure: Int, with found: Capabilities?) {
        decide { state, now in
            if let found {
                state.add(
                    state.scheduler.capabilitiesChanged(devices: found.devices, absences: found.absences, at: now))
            }
            guard state.sleepDelay.machineReturned(from: departure) else { return }
            state.add(state.scheduler.machineReturned(at: now))
        }
    }
}
