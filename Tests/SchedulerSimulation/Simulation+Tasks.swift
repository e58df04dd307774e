import SchedulingCore
import TaskModel

/// What virtual tasks do by themselves.
extension Simulation {
    mutating func play(_ entry: HostAgenda.Entry) throws(Violation) {
        agenda.remove(entry)
        guard let index = index(of: entry.id), jobs[index].launch == entry.launch, jobs[index].state == .live else {
            return
        }
        let job = jobs[index]
        switch entry.kind {
        case .progress:
            agenda.add(.progress, job.id, launch: job.launch, at: now + job.behaviour.between)
            guard job.phase == .active || job.phase == .pausing else { return }
            try progress(index)
        case .finish:
            switch job.phase {
            case .active, .pausing: try complete(index, success: job.behaviour.succeeds)
            case .paused: jobs[index].finishIsDue = true
            case .expiring: break
            }
        case .pauseReached:
            guard job.phase == .pausing else { return }
            jobs[index].phase = .paused
            if job.releases { jobs[index].device = nil }
            if job.releases { jobs[index].isUnread = false }
            log { _ in "paused [\(job.id)]" }
            try settle(core.paused(job.id, at: now))
        case .expiryAnswered:
            guard job.phase == .expiring else { return }
            try complete(index, success: job.behaviour.succeeds)
        case .deviceGone:
            guard let device = job.device else { return }
            try deviceFailed(index, device)
        }
    }

    private mutating func progress(_ index: Int) throws(Violation) {
        let job = jobs[index]
        var fraction: Double?
        if job.behaviour.knowsTotal {
            let grown = job.fraction + Double(dice.below(100)) / 1_000
            fraction = min(dice.percent(5) ? grown / 2 : grown, 1)
        }
        jobs[index].fraction = fraction ?? job.fraction
        jobs[index].lastSign = now
        log { _ in "progress [\(job.id)] \(String(describing: fraction))" }
        try settle(core.progressed(job.id, to: fraction, at: now))
    }

    mutating func complete(_ index: Int, success: Bool) throws(Violation) {
        let job = jobs[index]
        if job.phase == .expiring, !(success && job.fraction >= 1) {
            expectStop(index)
        } else {
            expectedEnds.append((job.id, success ? .completed(failures: 0) : .failed(code: "unsuccessful")))
        }
        if success, let device = devices.firstIndex(where: { $0.device.id == job.device }) {
            devices[device].failures = 0
        }
        if job.request.kind == .refresh { core.refreshed(job.id, dice.pick([.newData, .noData, .failed])) }
        log { _ in "completed [\(job.id)] \(success)" }
        try settle(core.completed(job.id, success: success, at: now))
    }

    mutating func deviceFailed(_ index: Int, _ device: String) throws(Violation) {
        let job = jobs[index]
        if let place = devices.firstIndex(where: { $0.device.id == device && $0.isPresent }) {
            devices[place].failed(at: now)
        }
        if job.wantsGPU { expectLoss(index, code: "deviceLost") }
        log { _ in "device \(device) failed [\(job.id)]" }
        try settle(core.deviceFailed(job.id, at: now))
    }

    mutating func crash(_ index: Int) throws(Violation) {
        let job = jobs[index]
        let code = "signal \(dice.below(12))"
        if job.state == .live { expectLoss(index, code: code) }
        log { _ in "crashed [\(job.id)] \(code)" }
        try settle(core.crashed(job.id, code: code, at: now))
    }

    /// Its run is lost: it stops where it was to, or is tried again later, four runs in all.
    private mutating func expectLoss(_ index: Int, code: String) {
        let job = jobs[index]
        guard job.phase != .expiring else { return expectStop(index) }
        if job.losses + 1 >= 4 {
            expectedEnds.append((job.id, .failed(code: code)))
        } else {
            expectRequeue(index, notBefore: now + min(.seconds(10) * (1 << job.losses), .seconds(600)))
            jobs[index].losses += 1
        }
    }

    /// It stops as it was told to, and waits for another run where only the machine's leaving was the reason.
    private mutating func expectStop(_ index: Int) {
        if jobs[index].goesOnAfterwards {
            expectRequeue(index, notBefore: now)
        } else if let reason = jobs[index].stopReason {
            expectedEnds.append((jobs[index].id, .stopped(reason)))
        }
    }

    private mutating func expectRequeue(_ index: Int, notBefore: Duration) {
        let job = jobs[index]
        let isAskedAnew = jobs.contains { other in
            other.state == .waiting && other.program == job.program
                && other.request.identifier == job.request.identifier
        }
        if isAskedAnew {
            expectedEnds.append((job.id, .stopped(.replaced)))
        } else {
            expectedRequeues.append((job.id, notBefore))
        }
    }
}
