import SchedulingCore
import TaskModel

/// Room as the rules 38, 39 and 47 have it.
extension Simulation {
    enum Lane: Sendable {
        case cpu, device
    }

    /// Whether a job may start now with what the scheduler gave it.
    func checkStart(_ index: Int, device: String?, takesMemory: Bool) throws(Violation) {
        let job = jobs[index]
        let lost = plain.closed & job.needs.start | plain.strictlyClosed & job.needs.known
        guard lost == 0 || job.isSimulated else {
            throw broken(.conditions, job.id, "it starts without \(names(lost))")
        }
        guard device != nil || !job.wantsGPU || job.isSimulated else {
            throw broken(.room, job.id, "it starts without the GPU that it requires")
        }
        if let device {
            if takesMemory { try checkDevice(index, device) }
        } else {
            guard slotsTaken < settings.cpuSlots || job.isSimulated else {
                throw broken(.room, job.id, "all \(settings.cpuSlots) slots are taken")
            }
        }
        guard !takesMemory || fitsMemory(job.request) || job.isSimulated else {
            throw broken(.room, job.id, "its claim is not free")
        }
    }

    func checkDevice(_ index: Int, _ id: String) throws(Violation) {
        let job = jobs[index]
        guard job.wantsGPU || job.request.preferredResources == .gpu else {
            throw broken(.room, job.id, "it did not ask for \(id)")
        }
        guard let device = devices.first(where: { $0.device.id == id }), device.isUsable(job.request, at: now) else {
            throw broken(.room, job.id, "\(id) may not be used now")
        }
        guard hasRoom(device, job.request) else { throw broken(.room, job.id, "\(id) is full") }
    }

    var slotsTaken: Int {
        var taken = 0
        for job in jobs where job.takesSlot { taken += 1 }
        return taken
    }

    func hasRoom(_ device: ModelDevice, _ request: TaskRequest) -> Bool {
        var free = device.device.memoryBytes
        var count = 0
        for job in jobs where job.state == .live && job.device == device.device.id {
            free -= job.request.claim.deviceMemoryBytes
            count += 1
        }
        return free >= request.claim.deviceMemoryBytes && count < 4
    }

    func fitsMemory(_ request: TaskRequest) -> Bool { fitsMemory(request.claim.memoryBytes) }

    func fitsMemory(_ claim: Int) -> Bool {
        guard claim > 0, let available = conditions.availableMemoryBytes else { return true }
        var claimed = 0
        for job in jobs where job.state == .live && job.isUnread { claimed += job.request.claim.memoryBytes }
        return claim <= available - claimed - 512 * 1_048_576
    }

    /// Where a waiting or paused job could start now.
    func lane(of job: ModelJob) -> Lane? {
        if job.state == .live && !job.releases {
            return job.device != nil ? .device : slotsTaken < settings.cpuSlots ? .cpu : nil
        }
        guard fitsMemory(job.request) else { return nil }
        if job.wantsGPU || job.request.preferredResources == .gpu {
            for device in devices where device.isUsable(job.request, at: now) && hasRoom(device, job.request) {
                return .device
            }
            if job.wantsGPU { return nil }
        }
        return slotsTaken < settings.cpuSlots ? .cpu : nil
    }

    /// Nothing that could start as well has its turn before it.
    func checkTurn(_ index: Int) throws(Violation) {
        let isForeground = jobs[index].isForeground
        // What has waited long for room may go first, in the background as well.
        guard let turn = turn(of: jobs[index]), isForeground || now - jobs[index].submitted < .seconds(600) else {
            return
        }
        var earlier: [ModelJob] = []
        for job in jobs where job.state == .waiting && job.id != jobs[index].id && isEligible(job) {
            // What has no room may keep others like it from starting.
            guard lane(of: job) != nil else { return }
            guard job.isForeground == isForeground else { continue }
            // Work that requires a device is taken up before work that prefers one, and so before what comes after that.
            if jobs[index].wantsGPU, !job.wantsGPU { continue }
            if let other = self.turn(of: job), other < turn { earlier.append(job) }
        }
        for job in jobs where job.state == .waiting && job.wasDue && (job.request.earliestBegin ?? wall) > wall {
            return
        }
        guard let first = earlier.first else { return }
        throw broken(.starvation, jobs[index].id, "it starts before \(first.id), whose turn it is")
    }

    /// When its wait began, with what its class has to wait longer; nil where that rests on the wall clock.
    private func turn(of job: ModelJob) -> Duration? {
        guard job.request.earliestBegin == nil else { return nil }
        switch job.request.kind {
        case .continued: return job.submitted + (job.isForeground ? .zero : .seconds(60))
        case .processing: return job.submitted + .seconds(600)
        case .refresh: return job.submitted + .seconds(1_200)
        }
    }

    /// Whether it is due, allowed, and has its conditions, so that only room can be missing.
    func isEligible(_ job: ModelJob) -> Bool {
        let lost = guarded.closed & job.needs.start | guarded.strictlyClosed & job.needs.known
        // A simulated launch goes on from a pause as it began.
        guard lost == 0 || job.state == .live && job.isSimulated else { return false }
        switch job.state {
        case .ended: return false
        case .live: return job.phase == .paused && !job.isPausedByPerson
        case .waiting:
            guard !job.isPausedByPerson else { return false }
            guard programs[job.program].isPresent, isAvailable(job.program), job.notBefore ?? now <= now else {
                return false
            }
            if job.request.kind != .continued, let begin = job.request.earliestBegin, begin > wall { return false }
            for other in jobs
            where other.state == .live && other.program == job.program
                && other.request.identifier == job.request.identifier
            {
                return false
            }
            if job.request.kind == .refresh, let last = programs[job.program].lastRefresh,
                now - last < .seconds(14_400)
            {
                return !core.why(job.id).contains { $0.code == .refreshInterval }
            }
            return true
        }
    }
}
