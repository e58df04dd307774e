import SchedulingCore
import TaskModel

/// Who goes before whom, and who gives way to whom, as the rules 36, 65 and 87 have it.
extension Simulation {
    /// A start in the background on the CPU passes each that waits in the foreground over once at most.
    mutating func checkOthers(_ index: Int, device: String?) throws(Violation) {
        guard !jobs[index].isSimulated, !isAdopting else { return }
        guard device == nil, !jobs[index].isForeground else { return }
        var first: Int?
        for other in jobs.indices where isPlainForeground(jobs[other]) {
            guard let known = first else {
                first = other
                continue
            }
            if jobs[other].submitted < jobs[known].submitted { first = other }
        }
        guard let first else { return }
        if let passed = jobs[first].passedAt, passed < now {
            throw broken(.foregroundFirst, jobs[first].id, "it gave way at \(passed), and again to \(jobs[index].id)")
        }
        jobs[first].passedAt = now
    }

    /// It needs a slot and nothing else.
    private func isPlainForeground(_ job: ModelJob) -> Bool {
        job.state == .waiting && job.isForeground && job.request.kind == .continued && job.submitted < now
            && !job.wantsGPU && job.request.preferredResources.isEmpty && job.request.claim.memoryBytes == 0
            && isEligible(job)
    }

    /// Some foreground work must be able to use what a preempted task gives back.
    func checkPreemption(_ index: Int) throws(Violation) {
        guard jobs[index].protectedUntil <= now else {
            throw broken(.inVain, jobs[index].id, "it is to be left alone until \(jobs[index].protectedUntil)")
        }
        for job in jobs where job.isForeground && job.request.kind == .continued {
            guard job.state == .waiting || job.phase == .paused && job.state == .live, isEligible(job) else { continue }
            if helps(jobs[index], job) { return }
        }
        throw broken(.inVain, jobs[index].id, "nothing gets the room that it gives")
    }

    private func helps(_ victim: ModelJob, _ job: ModelJob) -> Bool {
        // What is paused and has kept its memory lacks a slot.
        if job.state == .live, !job.releases { return victim.device == nil }
        if !fitsMemory(job.request) { return victim.request.claim.memoryBytes > 0 && canFreeMemory(for: job) }
        // Only the scheduler knows whether the others may be preempted, and it has found that they may.
        if let device = victim.device { return job.wantsGPU && canMakeRoom(on: device, for: job, isSure: false) }
        return !job.wantsGPU
    }

    private func canFreeMemory(for job: ModelJob) -> Bool {
        guard let available = conditions.availableMemoryBytes else { return true }
        var free = available - 512 * 1_048_576
        for other in jobs where other.state == .live {
            if other.isUnread { free -= other.request.claim.memoryBytes }
            if !other.isForeground || other.phase == .expiring || other.phase == .pausing {
                free += other.request.claim.memoryBytes
            }
        }
        return job.request.claim.memoryBytes <= free
    }

    /// Whether a device would have room if all left it that can be asked to: for sure, or perhaps.
    func canMakeRoom(on id: String, for job: ModelJob, isSure: Bool) -> Bool {
        guard let device = devices.first(where: { $0.device.id == id }), device.isUsable(job.request, at: now) else {
            return false
        }
        var free = device.device.memoryBytes
        var count = 0
        for other in jobs where other.state == .live && other.device == id {
            let leaves =
                switch other.phase {
                case .expiring: true
                case .pausing: other.releases
                case .active:
                    !other.isForeground && !other.isSimulated && other.protectedUntil <= now
                        && !(isSure && other.mayBeProtectedUntil > now)
                case .paused: false
                }
            if leaves { continue }
            free -= other.request.claim.deviceMemoryBytes
            count += 1
        }
        return job.request.claim.deviceMemoryBytes <= free && count < 4
    }
}
