import Foundation
import SchedulingCore
import TaskModel

/// What the host of a program decides together with the scheduler.
package struct ProgramState: Sendable {
    /// Something to be told to those who listen.
    package struct News: Sendable {
        var kind: BGTaskScheduler.Event.Kind
        var job: JobID?
        var identifier: String?
    }

    /// A launched task.
    struct Running: Sendable {
        var task: BGTask
        /// Of async handlers.
        var work: Task<Void, Never>?
        /// Progress as it was last told to the scheduler.
        var sampledUnits: Int64 = 0
        var sampledFraction: Double?
    }

    /// Diagnostics that are kept for whoever asks later.
    static let maxDiagnostics = 200

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
    /// The sampling alarm is set.
    var samplesProgress = false

    init(isStrict: Bool) {
        self.isStrict = isStrict
    }
}

package typealias ProgramHostState = HostState<ProgramState, ProgramState.News>

extension HostState<ProgramState, ProgramState.News> {
    /// The program's name; empty before there is a manifest.
    package var program: String { own.manifest?.program.program ?? "" }

    mutating func tell(_ kind: BGTaskScheduler.Event.Kind, job: JobID? = nil, identifier: String? = nil) {
        tell(ProgramState.News(kind: kind, job: job, identifier: identifier))
    }

    mutating func note(_ diagnostic: Diagnostic, job: JobID? = nil, identifier: String? = nil) {
        let diagnostic = BGDiagnostic(diagnostic, identifier: identifier)
        if own.diagnostics.count >= ProgramState.maxDiagnostics { own.diagnostics.removeFirst() }
        own.diagnostics.append(diagnostic)
        tell(.diagnostic(diagnostic), job: job, identifier: identifier)
    }

    /// The job of that identifier that has not ended, the running one first.
    func job(_ identifier: String) -> JobID? {
        scheduler.job(TaskIdentifier(identifier), program: program)
    }

    func summary(_ job: JobID) -> BGTaskScheduler.Job? {
        scheduler.summary(job).map { summary in
            let task = own.running[job]?.task as? BGContinuedProcessingTask
            return BGTaskScheduler.Job(
                summary, title: task?.title ?? summary.request.title,
                subtitle: task?.subtitle ?? summary.request.subtitle, wallOffset: wallOffset)
        }
    }

    func reasons(_ job: JobID) -> [BGWaitReason] {
        scheduler.why(job).map { BGWaitReason($0, wallOffset: wallOffset) }
    }
}
