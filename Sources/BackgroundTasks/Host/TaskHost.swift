package import Dispatch
import Foundation
package import SchedulingCore
import Locking
package import SystemConditions
package import TaskModel

/// Carries out what the scheduler decides, for the one program of this process.
///
/// Every event is decided under the lock; what follows from it is carried out after the lock has been let go, by one
/// thread at a time and in the order of the decisions.
package final class TaskHost: Sendable {
    private struct Alarms {
        var next: (any HostAlarm)?
        var sample: (any HostAlarm)?
        var display: (any HostAlarm)?
        var sleepDelay: (any HostAlarm)?
        var wallWatch: (any Sendable)?
        var nextIsSetTo: Duration?
        var sleepDelayIsSetTo: Duration?
    }

    let clock: any HostClock
    let events = EventHub()
    private let conditions: any ConditionsProvider
    let capabilities: any CapabilitySource
    /// nil where nothing delays sleep.
    let inhibitor: (any SleepInhibiting)?
    /// Logind is asked here: that blocks, and its answers have an order.
    let inhibitorQueue = DispatchQueue(label: "bgrun.inhibitor")
    private let state: Lock<HostState>
    private let alarms = Lock(Alarms())
    private let statusListeners = Lock<[@Sendable () -> Void]>([])
    /// Launches and expirations are called here unless a handler has a queue of its own.
    package let handlerQueue = DispatchQueue(label: "bgrun.handlers", attributes: .concurrent)
    package let handlerCalls: DispatchGroup
    /// Where async handlers run that were registered without an executor; nil for Swift's own threads.
    let handlerExecutor: (any TaskExecutor)?

    /// How often progress is looked at while something runs.
    static let sampling: Duration = .seconds(1)
    /// The wall clock was set when it is off by more than this.
    private static let wallTolerance: Duration = .milliseconds(500)

    package init(
        clock: any HostClock, conditions: any ConditionsProvider, capabilities: any CapabilitySource,
        inhibitor: (any SleepInhibiting)? = nil, settings: SchedulerSettings = SchedulerSettings(),
        isStrict: Bool = false, handlerCalls: DispatchGroup = DispatchGroup(),
        handlerExecutor: (any TaskExecutor)? = nil
    ) {
        self.clock = clock
        self.handlerCalls = handlerCalls
        self.handlerExecutor = handlerExecutor
        self.conditions = conditions
        self.capabilities = capabilities
        self.inhibitor = inhibitor
        let scheduler = Scheduler(settings: settings, at: clock.now, wall: clock.wallNow)
        state = Lock(HostState(scheduler: scheduler, isStrict: isStrict))
        let next = clock.makeAlarm { [weak self] in self?.alarmRang() }
        let sample = clock.makeAlarm { [weak self] in self?.sampleProgress() }
        let display = clock.makeAlarm { [weak self] in self?.tellTitles() }
        let sleepDelay = clock.makeAlarm { [weak self] in self?.sleepDelayRang() }
        let watch = clock.watchWallClock { [weak self] in self?.perform { _, _ in } }
        alarms.withLock {
            $0.next = next
            $0.sample = sample
            $0.display = display
            $0.sleepDelay = sleepDelay
            $0.wallWatch = watch
        }
    }

    deinit {
        if state.withLock(\.watchesConditions) { conditions.stop() }
    }

    // MARK: Deciding

    /// Decides an event, and sees to it that what follows is carried out.
    ///
    /// - Parameter event: Decides at the given moment, and puts what follows into the state's outbox.
    /// - Returns: What the event answered.
    @discardableResult
    package func perform<Answer: ~Copyable>(_ event: (inout sending HostState, Duration) -> sending Answer)
        -> sending Answer
    {
        let now = clock.now
        let wall = clock.wallNow
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

    package func read<Answer>(_ question: (borrowing HostState) -> sending Answer) -> sending Answer {
        state.withLock { question($0) }
    }

    private func alarmRang() {
        alarms.withLock { $0.nextIsSetTo = nil }
        perform { state, now in state.add(state.scheduler.timePassed(at: now)) }
    }

    private func sleepDelayRang() {
        alarms.withLock { $0.sleepDelayIsSetTo = nil }
        perform { _, _ in }
    }

    private func carryOut() {
        let isMine = state.withLock { state in
            guard !state.isCarryingOut else { return false }
            state.isCarryingOut = true
            return true
        }
        // Whoever carries out finds what was added meanwhile.
        guard isMine else { return }
        while let outputs = takeOutputs() {
            for output in outputs {
                switch output {
                case .act(let action): act(action)
                case .sample(let sampling): change(sampling)
                case .delaySleep(let action): act(action)
                case .tell(let kind, let job, let identifier): tell(kind, job: job, identifier: identifier)
                }
            }
        }
    }

    /// What is to be carried out next; nil when there is nothing, and then the alarms are set.
    private func takeOutputs() -> [HostState.Output]? {
        state.withLock { state in
            if !state.outbox.isEmpty {
                let outputs = state.outbox
                state.outbox = []
                return outputs
            }
            let sampling = ConditionSampling(
                isRunning: state.scheduler.runningCount > 0,
                awaited: state.scheduler.gates.closed.intersection(state.scheduler.watchedConditions))
            if sampling != state.sampling {
                state.sampling = sampling
                return [.sample(sampling)]
            }
            let isActive = state.scheduler.activeCount > 0
            if let action = state.sleepDelay.looked(isActive: isActive, at: clock.now) {
                return [.delaySleep(action)]
            }
            state.isCarryingOut = false
            setAlarms(&state)
            return nil
        }
    }

    private func setAlarms(_ state: inout HostState) {
        let next = state.scheduler.nextDeadline()
        let samples = state.running.values.contains { ($0.task as? BGContinuedProcessingTask)?.isPaused == false }
        let display = state.display.nextDeadline
        let sleepDelay = state.sleepDelay.nextDeadline
        let now = clock.now
        alarms.withLock { alarms in
            if alarms.nextIsSetTo != next {
                alarms.nextIsSetTo = next
                alarms.next?.set(at: next)
            }
            alarms.display?.set(at: display)
            if alarms.sleepDelayIsSetTo != sleepDelay {
                alarms.sleepDelayIsSetTo = sleepDelay
                alarms.sleepDelay?.set(at: sleepDelay)
            }
            if samples != state.samplesProgress {
                state.samplesProgress = samples
                alarms.sample?.set(at: samples ? now + Self.sampling : nil)
            }
        }
    }

    func sampleAgain(at time: Duration) {
        alarms.withLock { $0.sample?.set(at: time) }
    }

    func tell(_ kind: BGTaskScheduler.Event.Kind, job: JobID?, identifier: String?) {
        events.send(.init(date: Date(clock.wallNow), job: job?.rawValue, identifier: identifier, kind: kind))
    }

    /// Calls the action with each event, on the thread that tells it and before it tells the next one.
    package func observe(_ action: @escaping @Sendable (BGTaskScheduler.Event) -> Void) {
        events.observe(action)
    }

    // MARK: The person's switch

    func setBackgroundStatus(_ status: BackgroundStatus) {
        perform { state, now in
            state.add(state.scheduler.setBackgroundStatus(status, program: state.program, at: now))
        }
        for listener in statusListeners.withLock(\.self) { listener() }
    }

    /// Calls the action whenever a person has turned the switch, as long as this host lives.
    func whenStatusChanges(_ action: @escaping @Sendable () -> Void) {
        statusListeners.withLock { $0.append(action) }
    }

    // MARK: What the machine is like

    private func change(_ sampling: ConditionSampling) {
        let others = ConditionSampling.unreported.subtracting(sampling.kinds)
        conditions.setSampling(interval: nil, of: others)
        conditions.setSampling(interval: sampling.interval, of: sampling.kinds)
    }

    /// Sees to it that the scheduler knows what it needs for a request. Blocks while drivers and the message bus are
    /// asked for the first time.
    func prepare(for request: TaskRequest) {
        if !request.requiredResources.union(request.preferredResources).isEmpty { learnCapabilities() }
        let isFirst = perform { state, _ in
            defer { state.watchesConditions = true }
            return !state.watchesConditions
        }
        guard isFirst else { return }
        // An unknown value blocks nothing, so nothing may start before the first reading.
        conditionsChanged(conditions.current())
        conditions.start(
            onSleep: { [weak self] in self?.sleepChanged($0) }, onChange: { [weak self] in self?.conditionsChanged($0) }
        )
    }

    func learnCapabilities() {
        guard !read(\.knowsCapabilities) else { return }
        let found = capabilities.capabilities()
        perform { state, now in
            state.knowsCapabilities = true
            state.add(
                state.scheduler.capabilitiesChanged(devices: found.devices, absences: found.absences, at: now))
        }
    }

    package func conditionsChanged(_ conditions: Conditions) {
        perform { state, now in state.add(state.scheduler.conditionsChanged(conditions, at: now)) }
    }
}
