import BackgroundTasks
package import ServiceAPI
import SchedulingCore
import TaskModel
import TaskStore

extension JobKeeper {
    /// The work of a job gave its device up; work that needs one ends by itself.
    func deviceFailed(_ job: JobID, _ reason: String) {
        let device = host.read { state in
            state.scheduler.summary(job)?.device.flatMap { id in
                state.scheduler.devices.devices.first { $0.id == id }
            }
        }
        // One that it found by itself is none that the scheduler hands out.
        guard let device else { return }
        devices.failed(device, reason, in: job, at: host.wallNow.inSeconds)
        guard book.entry(job)?.submission.requiresGPU == false else { return }
        host.perform { scheduler, now in scheduler.deviceFailed(job, at: now) }
        keepDevices()
    }

    /// Work that needs a device ended for want of it (rule 37).
    func deviceLost(_ job: JobID) {
        host.perform { scheduler, now in
            scheduler.summary(job)?.device == nil
                ? scheduler.crashed(job, code: "deviceLost", at: now) : scheduler.deviceFailed(job, at: now)
        }
        keepDevices()
    }

    func keepDevices() {
        let (health, offset) = host.read { ($0.scheduler.devices.health, $0.wallOffset) }
        devices.keep(health, wallOffset: offset)
    }

    /// A person says that all devices are well again.
    ///
    /// - Throws: ``Refusal`` when the store cannot be written.
    package func clearDevices() throws(Refusal) {
        host.perform { scheduler, now in
            scheduler.devices.health.keys.sorted().flatMap { scheduler.clearQuarantine(of: $0, at: now) }
        }
        devices.forgetAll()
        do throws(StoreError) {
            try book.flush()
        } catch {
            throw Refusal(code: error.code.rawValue, sentence: error.sentence, fix: error.fix)
        }
    }
}
