import SchedulingCore
import TaskModel

/// The virtual host: obeys the scheduler's actions, and notices those that must not come.
extension Simulation {
    mutating func apply(_ action: SchedulerAction) throws(Violation) {
        switch action {
        case .launch(let id, let launch): try launched(id, launch)
        case .pause(let id, let releasing): try askedToPause(id, releasing: releasing)
        case .resume(let id, let terms): try resumed(id, terms)
        case .setTerms(let id, let terms):
            let index = try live(id, .terms, "told its terms")
            jobs[index].terms = terms
            followPriority(index)
        case .moveToCPU(let id):
            let index = try live(id, .room, "moved to the CPU")
            guard jobs[index].device != nil, !jobs[index].wantsGPU else {
                throw broken(.room, id, "it was moved to the CPU from no device, or needs one")
            }
            jobs[index].device = nil
            jobs[index].request.preferredResources = []
            jobs[index].setForeground(jobs[index].isForeground)
        case .expire(let id, let reason, let deadline): try expired(id, reason, deadline)
        case .kill(let id):
            let index = try live(id, .grace, "killed")
            guard jobs[index].phase == .expiring, jobs[index].deadline <= now else {
                throw broken(.grace, id, "it was killed before its grace was over")
            }
            killed.append(id)
        case .requeue(let id, let notBefore):
            let index = try live(id, .nothingLost, "requeued")
            guard let place = expectedRequeues.firstIndex(where: { $0.id == id }) else {
                throw broken(retryInvariant(of: id), id, "it was requeued, and is not to be tried again")
            }
            guard expectedRequeues[place].notBefore == notBefore else {
                throw broken(.retries, id, "it was requeued to \(notBefore), not \(expectedRequeues[place].notBefore)")
            }
            expectedRequeues.remove(at: place)
            // Its turn was cut short, so nothing passes it over now.
            if jobs[index].goesOnAfterwards { jobs[index].passedAt = now }
            let isPaused = jobs[index].isPausedByPerson
            leaveRun(index)
            jobs[index].isPausedByPerson = isPaused
            jobs[index].state = .waiting
            jobs[index].waitsSince = now
            jobs[index].wasDue = true
            jobs[index].notBefore = notBefore
        case .end(let id, let outcome): try ended(id, outcome)
        case .dismiss(let id):
            guard let index = index(of: id), jobs[index].state == .ended else {
                throw broken(.nothingLost, id, "it was dismissed and has not ended")
            }
            jobs.remove(at: index)
        case .note(let id, let note):
            guard let index = index(of: id) else { throw broken(.deadlines, id, "a note on a job that nobody knows") }
            if case .overdue = note, now - jobs[index].submitted < .seconds(172_800) {
                throw broken(.deadlines, id, "it is told to be overdue too early")
            }
        }
    }

    private func live(_ id: JobID, _ invariant: Invariant, _ what: String) throws(Violation) -> Int {
        guard let index = index(of: id), jobs[index].state == .live else {
            throw broken(invariant, id, "it was \(what) and is not running")
        }
        return index
    }

    private mutating func launched(_ id: JobID, _ launch: SchedulerAction.Launch) throws(Violation) {
        guard let index = index(of: id) else { throw broken(.nothingLost, id, "a job that nobody knows was launched") }
        let job = jobs[index]
        guard job.state == .waiting else { throw broken(.nothingTwice, id, "it was launched and did not wait") }
        guard leavesFor == nil else { throw broken(.leaving, id, "it was launched while the machine leaves") }
        for other in jobs
        where other.state == .live && other.program == job.program && other.request.identifier == job.request.identifier
        {
            throw broken(.nothingTwice, id, "\(job.request.identifier) runs already as \(other.id)")
        }
        guard launch.attempt == job.attempts + 1 else {
            throw broken(.nothingTwice, id, "attempt \(launch.attempt) comes after \(job.attempts)")
        }
        guard launch.request == job.request else { throw broken(.nothingLost, id, "its request has changed") }
        guard programs[job.program].isPresent else { throw broken(.room, id, "its program is not there") }
        guard launch.isSimulated == (simulated == id) else { throw broken(.room, id, "it is wrongly simulated") }
        if !launch.isSimulated {
            guard !job.isPausedByPerson else { throw broken(.room, id, "its person has not resumed it") }
            guard isAvailable(job.program) else { throw broken(.room, id, "its program is switched off") }
            guard job.wasDue || job.request.kind == .continued || (job.request.earliestBegin ?? wall) <= wall else {
                throw broken(.room, id, "it is not due")
            }
            guard job.notBefore ?? now <= now else { throw broken(.room, id, "its backoff is not over") }
            if job.request.kind == .refresh, let last = programs[job.program].lastRefresh, now - last < .seconds(600) {
                throw broken(.room, id, "the last refresh of its program was at \(last)")
            }
            try checkStart(index, device: launch.device, takesMemory: true)
            try checkOthers(index, device: launch.device)
            if !isAdopting { try checkTurn(index) }
        } else if let device = launch.device {
            try checkDevice(index, device)
        }
        jobs[index].state = .live
        jobs[index].attempts += 1
        jobs[index].launch += 1
        jobs[index].device = launch.device
        jobs[index].terms = launch.terms
        jobs[index].isSimulated = launch.isSimulated
        // A launch to try something out is one all the same.
        jobs[index].isPausedByPerson = false
        jobs[index].started = now
        jobs[index].startStep = step
        // After ten minutes it may have had its turn before foreground work, and keeps it for a while.
        if now - job.submitted >= .seconds(600) { jobs[index].mayBeProtectedUntil = now + .seconds(30) }
        jobs[index].lastSign = now
        jobs[index].isUnread = true
        jobs[index].notBefore = nil
        jobs[index].passedAt = nil
        try noteStart(index)
        if job.request.kind == .refresh { programs[job.program].lastRefresh = now }
        launches += 1
        plan(index)
    }

    private mutating func plan(_ index: Int) {
        let job = jobs[index]
        guard !job.behaviour.isSilent else { return }
        agenda.add(.progress, job.id, launch: job.launch, at: now + job.behaviour.between)
        agenda.add(.finish, job.id, launch: job.launch, at: now + job.behaviour.work)
    }

    private mutating func askedToPause(_ id: JobID, releasing: Bool) throws(Violation) {
        let index = try live(id, .terms, "asked to pause")
        guard jobs[index].phase == .active else { throw broken(.terms, id, "it was asked to pause and does not work") }
        followPriority(index)
        let lost = guarded.closed & jobs[index].needs.start | guarded.strictlyClosed & jobs[index].needs.known
        guard jobs[index].request.kind == .continued || jobs[index].isPausedByPerson else {
            throw broken(.conditions, id, "only continued work pauses by itself")
        }
        jobs[index].phase = .pausing
        jobs[index].askedToPause = now
        jobs[index].releases = releasing
        jobs[index].wasPreempted = lost == 0 && !jobs[index].isPausedByPerson
        guard !jobs[index].wasPreempted || jobs[index].startStep != step else {
            throw broken(.foregroundFirst, id, "it was started only to give way at once")
        }
        if jobs[index].wasPreempted { try checkPreemption(index) }
        if !jobs[index].isPausedByPerson { noteStop(index) }
        let behaviour = jobs[index].behaviour
        if !behaviour.ignoresPause {
            agenda.add(.pauseReached, id, launch: jobs[index].launch, at: now + behaviour.pauseDelay)
        }
    }

    /// A change of priority may be what the action is for.
    private mutating func followPriority(_ index: Int) {
        guard let summary = core.summary(jobs[index].id), summary.isForeground != jobs[index].isForeground else {
            return
        }
        jobs[index].setForeground(summary.isForeground)
    }

    private mutating func resumed(_ id: JobID, _ terms: RunTerms) throws(Violation) {
        let index = try live(id, .terms, "resumed")
        followPriority(index)
        guard !jobs[index].isPausedByPerson else { throw broken(.conditions, id, "its person has not resumed it") }
        guard leavesFor == nil else { throw broken(.leaving, id, "it goes on while the machine leaves") }
        switch jobs[index].phase {
        case .active, .expiring:
            throw broken(.terms, id, "it was resumed and was not paused")
        case .pausing:
            agenda.forget(id, kind: .pauseReached)
            let lost =
                guarded.closed & closedBefore.usual & jobs[index].needs.run
                | guarded.strictlyClosed & closedBefore.strict & jobs[index].needs.known
            guard lost == 0 || jobs[index].isSimulated else {
                throw broken(.conditions, id, "it goes on without \(names(lost))")
            }
        case .paused:
            let hadReleased = jobs[index].releases
            let device = core.summary(id)?.device
            try checkStart(index, device: device, takesMemory: hadReleased)
            try checkOthers(index, device: device)
            if hadReleased { jobs[index].isUnread = true }
            jobs[index].device = device
            let keptItsRoom = !hadReleased && (device != nil || jobs[index].request.claim.memoryBytes > 0)
            if jobs[index].wasPreempted || keptItsRoom { jobs[index].protectedUntil = now + .seconds(30) }
            if now - jobs[index].askedToPause >= .seconds(600) {
                jobs[index].mayBeProtectedUntil = now + .seconds(30)
            }
            try noteStart(index)
            if jobs[index].finishIsDue {
                jobs[index].finishIsDue = false
                let time = now + dice.milliseconds(100...20_000)
                agenda.add(.finish, id, launch: jobs[index].launch, at: time)
            }
        }
        if jobs[index].phase == .paused {
            jobs[index].lastSign = now
            jobs[index].startStep = step
        }
        jobs[index].phase = .active
        jobs[index].wasPreempted = false
        jobs[index].releases = false
        jobs[index].terms = terms
    }

    private mutating func expired(_ id: JobID, _ reason: StopReason, _ deadline: Duration) throws(Violation) {
        let index = try live(id, .grace, "expired")
        guard jobs[index].phase != .expiring else { throw broken(.grace, id, "it was expired twice") }
        guard deadline == now + .seconds(5) else { throw broken(.grace, id, "its grace ends at \(deadline)") }
        if case .conditionLost(let kind) = reason {
            let mask = GateModel.mask(kind)
            guard
                guarded.closed & jobs[index].needs.run & mask != 0
                    || guarded.strictlyClosed & jobs[index].needs.known & mask != 0
            else { throw broken(.conditions, id, "it was expired for \(kind.rawValue), which holds") }
            noteStop(index)
        }
        guard reason != .preempted || jobs[index].startStep != step else {
            throw broken(.foregroundFirst, id, "it was started only to give way at once")
        }
        if reason == .preempted { try checkPreemption(index) }
        jobs[index].phase = .expiring
        jobs[index].deadline = deadline
        jobs[index].stopReason = reason
        agenda.forget(id, kind: .pauseReached)
        let behaviour = jobs[index].behaviour
        if !behaviour.ignoresExpiry {
            agenda.add(.expiryAnswered, id, launch: jobs[index].launch, at: now + behaviour.expiryDelay)
        }
    }

    private mutating func ended(_ id: JobID, _ outcome: TaskOutcome) throws(Violation) {
        guard let index = index(of: id) else { throw broken(.nothingLost, id, "a job that nobody knows has ended") }
        guard jobs[index].state != .ended else { throw broken(.oneOutcome, id, "it ended twice") }
        if let place = expectedEnds.firstIndex(where: { $0.id == id }) {
            guard expectedEnds[place].outcome == outcome else {
                throw broken(.oneOutcome, id, "it ended \(outcome.code), not \(expectedEnds[place].outcome.code)")
            }
            expectedEnds.remove(at: place)
        } else {
            guard !expectedRequeues.contains(where: { $0.id == id }) else {
                throw broken(retryInvariant(of: id), id, "it ended \(outcome.code), and is to be tried again")
            }
            guard let reason = jobs[index].stopReason, killed.contains(id), outcome == .stopped(reason) else {
                throw broken(.oneOutcome, id, "it ended \(outcome.code), and nothing ended it")
            }
        }
        leaveRun(index)
        jobs[index].state = .ended
    }

    /// By what a run is followed by another one, or is not.
    func retryInvariant(of id: JobID) -> Invariant {
        let reason = index(of: id).flatMap { jobs[$0].stopReason }
        return reason == .sleep || reason == .shutdown ? .leaving : .retries
    }

    mutating func leaveRun(_ index: Int) {
        agenda.forget(jobs[index].id)
        jobs[index].launch += 1
        jobs[index].forgetRun()
    }

    // MARK: Starts and stops by conditions

    private mutating func noteStop(_ index: Int) {
        let strict = guarded.strictlyClosed & jobs[index].needs.known
        let usual = guarded.closed & jobs[index].needs.start
        for (place, kind) in GateModel.kinds.enumerated() {
            let bit = GateModel.Mask(1) << GateModel.Mask(place)
            guard (usual | strict) & bit != 0 else { continue }
            jobs[index].stops[kind] = mark
            gateStops[place] = mark
        }
    }

    /// Of a job that conditions held up to now.
    private mutating func noteStart(_ index: Int) throws(Violation) {
        var job = jobs[index]
        // What it does not need any more, since a person promoted it, has not started it.
        job.heldBy &= job.needs.start
        job.heldStrictlyBy &= job.needs.known
        guard !job.isSimulated, job.heldBy | job.heldStrictlyBy != 0 else { return }
        for (place, kind) in GateModel.kinds.enumerated() {
            let bit = GateModel.Mask(1) << GateModel.Mask(place)
            guard (job.heldBy | job.heldStrictlyBy) & bit != 0 else { continue }
            if let last = job.starts[kind], let stop = job.stops[kind], stop.step > last.step,
                now - last.time < .seconds(60)
            {
                throw broken(
                    .flapping, job.id, "\(kind.rawValue) started it at \(last.time), stopped it at \(stop.time)")
            }
            jobs[index].starts[kind] = mark
            if let last = gateStarts[place], let stop = gateStops[place], stop.step > last.step,
                now - last.time < .seconds(60)
            {
                throw broken(
                    .flapping, job.id, "\(kind.rawValue) started work at \(last.time), stopped it at \(stop.time)")
            }
            gateStarts[place] = mark
        }
    }

    private var mark: StepMark { StepMark(time: now, step: step) }

    func names(_ mask: GateModel.Mask) -> String {
        GateModel.kinds(in: mask).map(\.rawValue).joined(separator: ", ")
    }
}
