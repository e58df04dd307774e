import BackgroundTasks
import ScheduleSimulation
import SchedulingCore
import Locking
import TaskModel

/// Takes down what a simulated machine's scheduler does.
///
/// Starts, stops and ends are told by events; states and reasons are looked at between two moments, while time stands.
final class MachineRecorder: Sendable {
    fileprivate struct State {
        var recorder: TimelineRecorder
        var refusals: [ScheduleTimeline.Refusal] = []
        /// Not over.
        var live: Set<JobID> = []
        /// Something happened since the last look.
        var isStale = false
        var closed: ConditionSet?
        var deadline: Duration?
    }

    private let clock: ManualClock
    private let origin: Duration
    // The machine keeps the host; the host keeps this by its observer.
    private weak let host: TaskHost?
    private let state: Lock<State>

    init(_ host: TaskHost, _ clock: ManualClock) {
        self.host = host
        self.clock = clock
        origin = clock.now
        state = Lock(State(recorder: TimelineRecorder(title: "", start: WallTime(sinceEpoch: clock.wallNow))))
    }

    func begin() {
        host?.observe { [self] in happened($0) }
    }

    var timeline: ScheduleTimeline {
        look()
        let (timeline, refusals) = state.withLock { ($0.recorder.finished(at: clock.now - origin), $0.refusals) }
        return ScheduleTimeline(timeline, refusals: refusals)
    }

    private func happened(_ event: BGTaskScheduler.Event) {
        let at = clock.now - origin
        if case .rejected(let error) = event.kind {
            let identifier = event.identifier ?? ""
            return state.withLock { $0.refusals.append(.init(at: at, identifier: identifier, error: error)) }
        }
        guard let number = event.job else {
            if case .diagnostic(let diagnostic) = event.kind {
                let identifier = event.identifier.map { TaskIdentifier($0) }
                state.withLock {
                    $0.recorder.note(diagnostic.code, diagnostic.sentence, about: identifier, at: at)
                }
            }
            return
        }
        let job = JobID(number)
        var submitted: VirtualRequest?
        if case .submitted = event.kind {
            submitted = host?.perform { state, _ in
                state.scheduler.request(of: job).map { VirtualRequest(program: state.program, request: $0) }
            }
        }
        state.withLock { state in
            if let submitted { state.recorder.submitted(job, submitted, at: at) }
            state.take(event.kind, job, at: at)
        }
    }

    /// Takes down the states of all that is not over, if anything can have changed them.
    func look() {
        guard let host else { return }
        let at = clock.now - origin
        let wasStale = state.withLock { state in
            defer { state.isStale = false }
            return state.isStale
        }
        let (live, closed, deadline) = state.withLock { ($0.live, $0.closed, $0.deadline) }
        let isDue = deadline.map { $0 <= clock.now } ?? false
        guard wasStale || isDue || host.read({ $0.scheduler.gates.closed != closed }) else { return }
        let seen = host.perform { host, _ in
            Seen(
                gates: host.scheduler.gates, deadline: host.scheduler.nextDeadline(),
                jobs: live.sorted().compactMap { job in
                    host.scheduler.summary(job).map { Seen.Job($0, why: host.scheduler.why(job)) }
                })
        }
        state.withLock { state in
            state.closed = seen.gates.closed
            state.deadline = seen.deadline
            state.recorder.conditions(seen.gates, .standard, at: at)
            for job in seen.jobs { state.take(job, origin: origin, at: at) }
        }
    }

    fileprivate struct Seen: Sendable {
        struct Job: Sendable {
            var summary: JobSummary
            var why: [WaitReason]

            init(_ summary: JobSummary, why: [WaitReason]) {
                self.summary = summary
                self.why = why
            }
        }

        var gates: ConditionGates
        var deadline: Duration?
        var jobs: [Job]
    }
}

extension MachineRecorder.State {
    fileprivate mutating func take(_ kind: BGTaskScheduler.Event.Kind, _ job: JobID, at now: Duration) {
        switch kind {
        case .submitted: live.insert(job)
        case .started:
            live.insert(job)
            recorder.launched(job, at: now)
        case .expired(let reason): recorder.askedToEnd(job, reason.value, at: now)
        case .ended(let outcome):
            live.remove(job)
            recorder.ended(job, outcome.value, chunks: 0, at: now)
        case .diagnostic(let diagnostic): recorder.note(diagnostic.code, diagnostic.sentence, job, at: now)
        case .overdue: recorder.note("overdue", "It was not started for two days.", job, at: now)
        case .stallWarning(let silence, let limit):
            recorder.note(
                "stallWarning", "Silent for \(TimeText.text(silence)) of at most \(TimeText.text(limit)).", job, at: now
            )
        case .pauseIgnored:
            recorder.note("pauseIgnored", "Asked to pause, it has not done so within the grace.", job, at: now)
        case .progressed, .titleChanged: return
        case .rejected, .termsChanged, .pausing, .paused, .resumed, .movedToCPU, .stalled, .slow, .progressFell,
            .graceExceeded, .waitsAgain, .dismissed:
            break
        }
        isStale = true
    }

    fileprivate mutating func take(_ seen: MachineRecorder.Seen.Job, origin: Duration, at now: Duration) {
        let summary = seen.summary
        let state: Timeline.State
        switch summary.state {
        case .waiting: state = .waiting
        case .running: state = summary.isForeground ? .foreground : .background
        case .pausing: state = .pausing
        case .paused: state = .paused
        case .expiring: state = .expiring
        case .ended: return
        }
        let reasons = state == .waiting || state == .paused || state == .pausing ? seen.why : []
        let told = reasons.map { reason in
            var reason = reason
            reason.earliest = reason.earliest.map { $0 - origin }
            return reason
        }
        recorder.state(summary.id, state, reasons: told, device: summary.device, at: now)
    }
}

extension BGTaskScheduler.Outcome {
    fileprivate var value: TaskOutcome {
        switch self {
        case .completed(let failures): .completed(failures: failures)
        case .stopped(let reason): .stopped(reason.value)
        case .failed(let code): .failed(code: code)
        case .cancelled: .cancelled
        }
    }
}
