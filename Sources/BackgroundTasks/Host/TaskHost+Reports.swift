import Dispatch
import Foundation
import SchedulingCore
package import TaskModel

/// What the work of tasks tells.
extension TaskHost: TaskReports {
    package func completed(_ job: JobID, success: Bool) {
        perform { state, now in
            // Success after an expiration counts only when the progress is finished, so it has to be up to date.
            state.sample(job, at: now)
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
        perform { state, now in state.sample(job, at: now) }
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

extension ProgramHostState {
    /// Looks at the progress of a task, and tells the scheduler what has changed since the last look. Under the lock, or
    /// of two looks the older could be told last.
    fileprivate mutating func sample(_ job: JobID, at now: Duration) {
        guard let known = own.running[job], let task = known.task as? BGContinuedProcessingTask else { return }
        let (units, fraction) = (task.progress.completedUnitCount, task.taskProgress.sampledFraction)
        guard known.sampledUnits != units || known.sampledFraction != fraction else { return }
        own.running[job]?.sampledUnits = units
        own.running[job]?.sampledFraction = fraction
        add(scheduler.progressed(job, to: fraction, at: now))
        tell(.progressed(fraction: fraction), job: job, identifier: task.identifier)
    }
}

extension TaskHost {
    /// Looks at the progress of everything that runs, and will look again while anything does.
    func sampleProgress() {
        perform { state, now in
            state.own.samplesProgress = false
            for job in state.own.running.keys.sorted() { state.sample(job, at: now) }
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
