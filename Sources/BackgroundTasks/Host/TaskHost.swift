package import Dispatch
import Foundation
package import SchedulingCore
import Locking
package import SystemConditions
package import TaskModel

/// Carries out what the scheduler decides, for the one program of this process.
package final class TaskHost: Sendable {
    private struct Alarms {
        var sample: (any HostAlarm)?
        var display: (any HostAlarm)?
    }

    let clock: any HostClock
    let events = EventHub()
    private let core: SchedulerHost<ProgramState, ProgramState.News>
    private let alarms = Lock(Alarms())
    private let statusListeners = Lock<[@Sendable () -> Void]>([])
    /// Launches and expirations are called here unless a handler has a queue of its own.
    package let handlerQueue = DispatchQueue(label: "bgrun.handlers", attributes: .concurrent)
    package let handlerCalls: DispatchGroup
    /// Where async handlers run that were registered without an executor; nil for Swift's own threads.
    let handlerExecutor: (any TaskExecutor)?

    /// How often progress is looked at while something runs.
    static let sampling: Duration = .seconds(1)

    package init(
        clock: any HostClock, conditions: any ConditionsProvider, capabilities: any CapabilitySource,
        inhibitor: (any SleepInhibiting)? = nil, settings: SchedulerSettings = SchedulerSettings(),
        isStrict: Bool = false, handlerCalls: DispatchGroup = DispatchGroup(),
        handlerExecutor: (any TaskExecutor)? = nil
    ) {
        self.clock = clock
        self.handlerCalls = handlerCalls
        self.handlerExecutor = handlerExecutor
        core = SchedulerHost(
            .init(clock: clock, conditions: conditions, capabilities: capabilities, inhibitor: inhibitor),
            settings: settings, own: ProgramState(isStrict: isStrict), work: handlerCalls)
        let sample = clock.makeAlarm { [weak self] in self?.sampleProgress() }
        let display = clock.makeAlarm { [weak self] in self?.tellTitles() }
        alarms.withLock { $0 = Alarms(sample: sample, display: display) }
        core.begin(
            .init(
                carryOut: { [weak self] in self?.carryOut($0) }, note: { state, problem in state.note(problem) },
                settled: { [weak self] state, now in self?.setAlarms(&state, at: now) }))
    }

    // MARK: Deciding

    /// Decides an event, and sees to it that what follows is carried out.
    ///
    /// - Parameter event: Decides at the given moment, and adds what follows to the state.
    /// - Returns: What the event answered.
    @discardableResult
    package func perform<Answer: Sendable>(_ event: (inout ProgramHostState, Duration) -> Answer) -> Answer {
        core.decide(event)
    }

    package func read<Answer: Sendable>(_ question: (borrowing ProgramHostState) -> Answer) -> Answer {
        core.read(question)
    }

    private func carryOut(_ output: ProgramHostState.Output) {
        switch output {
        case .act(let action): act(action)
        case .tell(let news): tell(news.kind, job: news.job, identifier: news.identifier)
        }
    }

    private func setAlarms(_ state: inout ProgramHostState, at now: Duration) {
        let samples = state.own.running.values.contains {
            ($0.task as? BGContinuedProcessingTask)?.isPaused == false
        }
        let display = state.own.display.nextDeadline
        alarms.withLock { alarms in
            alarms.display?.set(at: display)
            if samples != state.own.samplesProgress {
                state.own.samplesProgress = samples
                alarms.sample?.set(at: samples ? now + Self.sampling : nil)
            }
        }
    }

    func tell(_ kind: BGTaskScheduler.Event.Kind, job: JobID?, identifier: String?) {
        events.send(.init(date: Date(clock.wallNow), job: job?.rawValue, identifier: identifier, kind: kind))
    }

    /// Calls the action with each event, on the thread that tells it and before it tells the next one.
    package func observe(_ action: @escaping @Sendable (BGTaskScheduler.Event) -> Void) {
        events.observe(action)
    }

    /// As ``SchedulerHost/prepare(for:)``.
    func prepare(for request: TaskRequest) { core.prepare(for: request) }

    /// As ``SchedulerHost/learnCapabilities()``.
    func learnCapabilities() { core.learnCapabilities() }

    /// As ``SchedulerHost/simulate(_:job:)``; tasks have identifiers.
    package func simulate(_ simulation: Simulation) -> Diagnostic? {
        core.simulate(simulation) { state in
            simulation.kind == .launch
                ? state.scheduler.waitingJob(TaskIdentifier(simulation.target), program: state.program)
                : state.job(simulation.target)
        }
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
}
