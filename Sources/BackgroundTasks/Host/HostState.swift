import Foundation
package import SchedulingCore
import TaskModel

/// What a host knows and what it still has to do, all behind one lock.
package struct HostState {
    /// What is to be done after the lock has been let go, in order.
    enum Output: Sendable {
        case act(SchedulerAction)
        case sample(ConditionSampling)
        case delaySleep(SleepDelay.Action)
        case tell(BGTaskScheduler.Event.Kind, job: JobID?, identifier: String?)
    }

    /// A launched task.
    struct Running {
        var task: BGTask
        /// Of async handlers.
        var work: Task<Void, Never>?
        /// Progress as it was last told to the scheduler.
        var sampledUnits: Int64 = 0
        var sampledFraction: Double?
    }

    /// Diagnostics that are kept for whoever asks later.
    static let maxDiagnostics = 200

    package var scheduler: Scheduler
    var manifest: Manifest?
    /// Why there is no manifest.
    var manifestProblem: Diagnostic?
    var isStrict: Bool
    var handlers: [IdentifierPattern: LaunchHandler] = [:]
    var running: [JobID: Running] = [:]
    /// Of research requests.
    var protection: [JobID: FileProtectionType] = [:]
    var display = DisplayUpdates()
    var diagnostics: [BGDiagnostic] = []
    var knowsCapabilities = false
    var watchesConditions = false
    var sampling = ConditionSampling.none
    var sleepDelay = SleepDelay()
    /// Sleep cannot be delayed here, and that was noted.
    var lacksInhibitor = false
    var outbox: [Output] = []
    /// Someone carries out what is in the outbox; nobody else may, or things would overtake each other.
    var isCarryingOut = false
    /// The sampling alarm is set.
    var samplesProgress = false

    init(scheduler: Scheduler, isStrict: Bool) {
        self.scheduler = scheduler
        self.isStrict = isStrict
    }

    /// The program's name; empty before there is a manifest.
    package var program: String { manifest?.program.program ?? "" }

    /// What is to be added to the scheduler's clock to get seconds since 1970.
    var wallOffset: Duration { scheduler.wall - scheduler.now }

    package mutating func add(_ actions: [SchedulerAction]) {
        outbox += actions.map(Output.act)
    }

    mutating func tell(_ kind: BGTaskScheduler.Event.Kind, job: JobID? = nil, identifier: String? = nil) {
        outbox.append(.tell(kind, job: job, identifier: identifier))
    }

    mutating func note(_ diagnostic: Diagnostic, job: JobID? = nil, identifier: String? = nil) {
        let diagnostic = BGDiagnostic(diagnostic, identifier: identifier)
        if diagnostics.count >= Self.maxDiagnostics { diagnostics.removeFirst() }
        diagnostics.append(diagnostic)
        tell(.diagnostic(diagnostic), job: job, identifier: identifier)
    }

    /// The job of that identifier that has not ended, the running one first.
    func job(_ identifier: String) -> JobID? {
        scheduler.job(TaskIdentifier(identifier), program: program)
    }

    func summary(_ job: JobID) -> BGTaskScheduler.Job? {
        scheduler.summary(job).map { summary in
            let task = running[job]?.task as? BGContinuedProcessingTask
            return BGTaskScheduler.Job(
                summary, title: task?.title ?? summary.request.title,
                subtitle: task?.subtitle ?? summary.request.subtitle, wallOffset: wallOffset)
        }
    }

    func reasons(_ job: JobID) -> [BGWaitReason] {
        scheduler.why(job).map { BGWaitReason($0, wallOffset: wallOffset) }
    }
}
