package import BackgroundTasks
package import SchedulingCore
import Synchronization
package import SystemConditions
package import TaskModel

/// Keeps one scheduler on the machine's clock and conditions, and has its decisions carried out.
///
/// Every event is decided under the lock; what follows from it is carried out after the lock has been let go, by one
/// thread at a time and in the order of the decisions.
package final class SchedulerHost: Sendable {
    private struct State {
        var scheduler: Scheduler
        var outbox: [SchedulerAction] = []
        var isCarryingOut = false
        var sampling = ConditionSampling.none
        var watchesConditions = false
        var knowsCapabilities = false
        var nextIsSetTo: Duration?
    }

    private struct Alarms: Sendable {
        var next: (any HostAlarm)?
        var wallWatch: (any Sendable)?
    }

    private let clock: any HostClock
    private let conditions: any ConditionsProvider
    private let capabilities: any CapabilitySource
    private let state: Mutex<State>
    private let alarms = Mutex(Alarms())
    private let act = Mutex<(@Sendable (SchedulerAction) -> Void)?>(nil)

    /// The wall clock was set when it is off by more than this.
    private static let wallTolerance: Duration = .milliseconds(500)

    package init(
        clock: any HostClock, conditions: any ConditionsProvider, capabilities: any CapabilitySource,
        settings: SchedulerSettings, manifest: ProgramManifest, firstID: UInt64
    ) {
        self.clock = clock
        self.conditions = conditions
        self.capabilities = capabilities
        var scheduler = Scheduler(settings: settings, at: clock.now, wall: clock.wallNow, firstID: firstID)
        _ = scheduler.addProgram(manifest, usesHandlers: false, at: clock.now)
        state = Mutex(State(scheduler: scheduler))
        let next = clock.makeAlarm { [weak self] in self?.alarmRang() }
        let watch = clock.watchWallClock { [weak self] in self?.perform { _, _ in [] } }
        alarms.withLock { $0 = Alarms(next: next, wallWatch: watch) }
    }

    deinit {
        if state.withLock(\.watchesConditions) { conditions.stop() }
    }

    /// To be called once, before the first event.
    ///
    /// - Parameter act: Carries one decision out. Is called by one thread at a time, without a lock held.
    package func whenDecided(_ act: @escaping @Sendable (SchedulerAction) -> Void) {
        self.act.withLock { $0 = act }
    }

    /// Decides an event, and carries out what follows.
    package func perform(_ event: (inout Scheduler, Duration) -> [SchedulerAction]) {
        decide { scheduler, now in (event(&scheduler, now), ()) }
    }

    /// Decides an event that has an answer, and carries out what follows.
    @discardableResult
    package func decide<Answer: Sendable>(
        _ event: (inout Scheduler, Duration) -> ([SchedulerAction], Answer)
    ) -> Answer {
        let now = clock.now
        let wall = clock.wallNow
        let answer = state.withLock { state in
            let drift = wall - now - (state.scheduler.wall - state.scheduler.now)
            if max(drift, .zero - drift) > Self.wallTolerance {
                state.outbox += state.scheduler.clockChanged(wall: wall, at: now)
            }
            let (actions, answer) = event(&state.scheduler, now)
            state.outbox += actions
            return answer
        }
        carryOut()
        return answer
    }

    package func read<Answer: Sendable>(_ question: (borrowing Scheduler) -> Answer) -> Answer {
        state.withLock { question($0.scheduler) }
    }

    /// What is to be added to the scheduler's clock to get seconds since 1970.
    package var wallOffset: Duration { read { $0.wall - $0.now } }
    package var wallNow: Duration { clock.wallNow }

    private func alarmRang() {
        state.withLock { $0.nextIsSetTo = nil }
        perform { scheduler, now in scheduler.timePassed(at: now) }
    }

    private func carryOut() {
        let isMine = state.withLock { state in
            defer { state.isCarryingOut = true }
            return !state.isCarryingOut
        }
        // Whoever carries out finds what was added meanwhile.
        guard isMine else { return }
        let act = act.withLock(\.self)
        while let actions = takeActions() { actions.forEach { act?($0) } }
    }

    /// What is to be carried out next; nil when there is nothing, and then the alarm is set.
    private func takeActions() -> [SchedulerAction]? {
        let (actions, sampling) = state.withLock { state -> ([SchedulerAction]?, ConditionSampling?) in
            if !state.outbox.isEmpty {
                defer { state.outbox = [] }
                return (state.outbox, nil)
            }
            let sampling = ConditionSampling(
                isRunning: state.scheduler.runningCount > 0,
                awaited: state.scheduler.gates.closed.intersection(state.scheduler.watchedConditions))
            if sampling != state.sampling {
                state.sampling = sampling
                return ([], sampling)
            }
            state.isCarryingOut = false
            let next = state.scheduler.nextDeadline()
            if next != state.nextIsSetTo {
                state.nextIsSetTo = next
                alarms.withLock { $0.next?.set(at: next) }
            }
            return (nil, nil)
        }
        if let sampling {
            let others = ConditionSampling.unreported.subtracting(sampling.kinds)
            conditions.setSampling(interval: nil, of: others)
            conditions.setSampling(interval: sampling.interval, of: sampling.kinds)
        }
        return actions
    }

    // MARK: What the machine is like

    /// Sees to it that the scheduler knows what it needs for a request. Blocks while drivers and the message bus are
    /// asked for the first time.
    package func prepare(for request: TaskRequest) {
        if !request.requiredResources.union(request.preferredResources).isEmpty { learnCapabilities() }
        let isFirst = state.withLock { state in
            defer { state.watchesConditions = true }
            return !state.watchesConditions
        }
        guard isFirst else { return }
        // An unknown value blocks nothing, so nothing may start before the first reading.
        conditionsChanged(conditions.current())
        conditions.start { [weak self] in self?.conditionsChanged($0) }
    }

    private func learnCapabilities() {
        guard !state.withLock(\.knowsCapabilities) else { return }
        let found = capabilities.capabilities()
        state.withLock { $0.knowsCapabilities = true }
        perform { scheduler, now in
            scheduler.capabilitiesChanged(devices: found.devices, absences: found.absences, at: now)
        }
    }

    private func conditionsChanged(_ conditions: Conditions) {
        perform { scheduler, now in scheduler.conditionsChanged(conditions, at: now) }
    }
}
