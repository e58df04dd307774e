import Dispatch
import Foundation
import SchedulingCore
package import TaskModel

/// What the work of tasks tells.
extension TaskHost: TaskReports {
    package func completed(_ job: JobID, success: Bool) {
        let sample = sample(job)
        perform { state, now in
            // Success after an expiration counts only when the progress is finished, so it has to be up to date.
            if let sample { state.take(sample, at: now) }
            state.add(state.scheduler.completed(job, success: success, at: now))
        }
    }

    package func retitled(_ job: JobID, title: String, subtitle: String) {
        perform { state, now in
            guard let identifier = state.own.running[job]?.task.identifier, state.own.display.changed(job, at: now)
            else {
                return
            }
            state.tell(.titleChanged(title: title, subtitle: subtitle), job: job, identifier: identifier)
        }
    }

    package func advanced(_ job: JobID) {
        guard let sample = sample(job) else { return }
        perform { state, now in state.take(sample, at: now) }
    }

    package func beat(_ job: JobID, phase: String) {
        perform { state, now in state.add(state.scheduler.heartbeat(job, phase: phase, at: now)) }
    }

    package func refreshed(_ job: JobID, _ result: BGBackgroundFetchResult) {
        perform { state, _ in state.scheduler.refreshed(job, result.value) }
    }

    package func paused(_ job: JobID) {
        perform { state, now in
            guard let identifier = state.own.running[job]?.task.identifier else { return }
            state.add(state.scheduler.paused(job, at: now))
            guard state.scheduler.summary(job)?.state == .paused else { return }
            state.tell(.paused, job: job, identifier: identifier)
        }
    }

    package func noted(_ diagnostic: Diagnostic, job: JobID) {
        perform { state, _ in
            let identifier = state.scheduler.request(of: job)?.identifier.rawValue
            state.note(diagnostic, job: job, identifier: identifier)
        }
    }

    package func run(_ handler: @escaping @Sendable () -> Void, job: JobID) {
        handlerQueue.async(group: handlerCalls, execute: DispatchWorkItem(block: handler))
    }
}

// MARK: Progress and titles

extension ProgramState {
    /// Progress of a task as it was seen.
    struct Sample: Sendable {
        var job: JobID
        var units: Int64
        var fraction: Double?
    }
}

extension ProgramHostState {
    /// Tells the scheduler what has changed since the last look.
    mutating func take(_ sample: ProgramState.Sample, at now: Duration) {
        guard let known = own.running[sample.job],
            known.sampledUnits != sample.units || known.sampledFraction != sample.fraction
        else { return }
        own.running[sample.job]?.sampledUnits = sample.units
        own.running[sample.job]?.sampledFraction = sample.fraction
        add(scheduler.progressed(sample.job, to: sample.fraction, at: now))
        tell(.progressed(fraction: sample.fraction), job: sample.job, identifier: known.task.identifier)
    }
}

extension TaskHost {
    private func sample(_ job: JobID) -> ProgramState.Sample? {
        guard let task = task(job) as? BGContinuedProcessingTask else { return nil }
        return sample(task)
    }

    private func sample(_ task: BGContinuedProcessingTask) -> ProgramState.Sample {
        .init(job: task.job, units: task.progress.completedUnitCount, fraction: task.taskProgress.sampledFraction)
    }

    /// Looks at the progress of everything that runs, and will look again while anything does.
    func sampleProgress() {
        let tasks = read { $0.own.running.values.compactMap { $0.task as? BGContinuedProcessingTask } }
        let samples = tasks.sorted { $0.job < $1.job }.map(sample)
        perform { state, now in
            state.own.samplesProgress = false
            for sample in samples { state.take(sample, at: now) }
        }
    }

    /// Tells the titles that were held back.
    func tellTitles() {
        perform { state, now in
            for job in state.own.display.due(at: now) {
                guard let task = state.own.running[job]?.task as? BGContinuedProcessingTask else { continue }
                state.tell(
                    .titleChanged(title: task.title, subtitle: task.subtitle), job: job, identifier: task.identifier)
            }
        }
    }
}
