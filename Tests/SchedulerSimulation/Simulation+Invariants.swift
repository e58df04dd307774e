import SchedulingCore
import TaskModel

/// What must hold after every step.
extension Simulation {
    mutating func check(isTime: Bool) throws(Violation) {
        let deadline = core.nextDeadline()
        // Something due at this very moment is not late.
        let isSettled = deadline.map { $0 > now } ?? true
        guard !isTime || isSettled else {
            throw broken(.deadlines, nil, "time has passed to \(now), and \(String(describing: deadline)) is due")
        }
        try checkViews()
        try checkPending()
        for index in jobs.indices where jobs[index].state == .live { try checkLive(index, isSettled: isSettled) }
        for job in jobs where job.state == .waiting || job.phase == .paused || job.phase == .pausing {
            if job.state != .ended { try checkReasons(job) }
        }
        if !jobs.isEmpty { try checkWait(jobs[step % jobs.count]) }
        if isSettled, !isStopping, leavesFor == nil { try checkWork() }
        for index in jobs.indices {
            jobs[index].heldBy = (guarded.closed | plain.closed) & jobs[index].needs.start
            jobs[index].heldStrictlyBy = (guarded.strictlyClosed | plain.strictlyClosed) & jobs[index].needs.known
        }
    }

    // MARK: Views

    private mutating func checkViews() throws(Violation) {
        let summaries = core.jobs()
        // Whose share of the machine it is depends on the priority of all.
        for summary in summaries {
            guard let index = index(of: summary.id), jobs[index].state != .ended else { continue }
            if summary.isForeground != jobs[index].isForeground { jobs[index].setForeground(summary.isForeground) }
        }
        var index = 0
        for summary in summaries {
            guard index < jobs.count, jobs[index].id == summary.id else {
                throw broken(.nothingLost, summary.id, "the views of the scheduler and its host differ")
            }
            try checkView(summary, index)
            index += 1
        }
        guard index == jobs.count else { throw broken(.nothingLost, jobs[index].id, "the scheduler has forgotten it") }
    }

    private mutating func checkView(_ summary: JobSummary, _ index: Int) throws(Violation) {
        let job = jobs[index]
        let expected: JobSummary.State =
            switch (job.state, job.phase) {
            case (.waiting, _): .waiting
            case (.ended, _): .ended
            case (.live, .active): .running
            case (.live, .pausing): .pausing
            case (.live, .paused): .paused
            case (.live, .expiring): .expiring
            }
        guard summary.state == expected else {
            throw broken(.nothingLost, job.id, "it is \(summary.state.rawValue), not \(expected.rawValue)")
        }
        guard job.state != .ended else { return }
        guard summary.attempt == job.attempts else {
            throw broken(.nothingTwice, job.id, "it has \(summary.attempt) attempts, not \(job.attempts)")
        }
        guard job.request.kind == .continued || !summary.isForeground else {
            throw broken(.terms, job.id, "only continued work is in the foreground")
        }
        if summary.isForeground != job.wantsForeground {
            guard job.state == .live, !job.wantsForeground, now <= job.wantedSince + .seconds(5) else {
                throw broken(.terms, job.id, "its change of priority has not come")
            }
        }
        guard job.state == .live else { return }
        guard summary.device == job.device else {
            throw broken(.room, job.id, "it is on \(summary.device ?? "cpu"), not on \(job.device ?? "cpu")")
        }
        try checkTimeLeft(summary, job)
        guard job.phase == .active else { return }
        try checkTerms(summary, job)
    }

    private func checkTerms(_ summary: JobSummary, _ job: ModelJob) throws(Violation) {
        guard let terms = summary.terms, terms == job.terms else {
            throw broken(.terms, job.id, "it has not been told its terms")
        }
        if summary.isForeground {
            let isSaving = guarded.closed & GateModel.mask(.lowPowerMode) != 0
            let isHot = conditions.thermal == .serious || conditions.thermal == .critical
            guard terms.priority == .foreground, terms.dutyCycle == (isSaving || isHot ? 0.5 : 1) else {
                throw broken(.terms, job.id, "these are not the terms of foreground work: \(terms)")
            }
        } else {
            let share = terms.dutyCycle * Double(terms.concurrency) / Double(settings.cores)
            let limit = core.pacer.limit * Double(cores(of: job)) / Double(settings.cores)
            guard terms.priority == .background, abs(share - limit) < 1e-9 else {
                throw broken(.terms, job.id, "it takes \(share) of the machine, not \(limit)")
            }
        }
    }

    /// Those that background work may use: the earlier of those who share them get what cannot be shared evenly.
    private func cores(of job: ModelJob) -> Int {
        guard job.device == nil else { return settings.cores }
        let sharing = jobs.filter { $0.takesSlot && !$0.isForeground }.map(\.id)
        var left = settings.cores
        var cores = 0
        while left > 0 {
            for id in sharing where left > 0 {
                left -= 1
                if id == job.id { cores += 1 }
            }
        }
        return max(cores, 1)
    }

    private func checkPending() throws(Violation) {
        let program = step % programs.count
        var expected: [TaskIdentifier] = []
        for job in jobs where job.program == program && job.state != .ended {
            expected.append(job.request.identifier)
        }
        let pending = core.pendingRequests(program: programs[program].name).map(\.identifier)
        guard pending == expected else {
            throw broken(.nothingLost, nil, "pending of \(programs[program].name): \(pending), not \(expected)")
        }
    }

    // MARK: Running

    private func checkLive(_ index: Int, isSettled: Bool) throws(Violation) {
        let job = jobs[index]
        if job.phase == .expiring {
            guard now < job.deadline || !isSettled && now == job.deadline else {
                throw broken(.grace, job.id, "its grace was over at \(job.deadline)")
            }
            return
        }
        if job.phase == .active, !job.isSimulated {
            let lost = guarded.closed & job.needs.run | guarded.strictlyClosed & job.needs.known
            guard lost == 0 else { throw broken(.conditions, job.id, "it goes on without \(names(lost))") }
        }
        guard leavesFor == nil || job.phase != .active else {
            throw broken(.leaving, job.id, "it works while the machine leaves")
        }
        guard isSettled else { return }
        if job.phase == .pausing, leavesFor == nil, !job.isPausedByPerson, !job.wasPreempted, !job.isSimulated,
            guarded.closed & job.needs.start | guarded.strictlyClosed & job.needs.known == 0
        {
            throw broken(.workConserving, job.id, "nothing keeps it, and it has not been told to go on")
        }
        if job.request.kind == .refresh, now - job.started > .seconds(30) {
            throw broken(.silence, job.id, "a refresh takes longer than its time")
        }
        if job.request.kind == .processing, let time = settings.processingTime, now - job.started > time {
            throw broken(.silence, job.id, "it takes longer than its time")
        }
        if job.request.kind == .continued, job.phase != .paused, now - job.lastSign > .seconds(900) {
            throw broken(.silence, job.id, "it has been silent since \(job.lastSign)")
        }
    }

    private func checkTimeLeft(_ summary: JobSummary, _ job: ModelJob) throws(Violation) {
        guard let left = summary.secondsLeft else { return }
        guard left.lowerBound >= 0, left.upperBound.isFinite, summary.fraction != nil, job.phase != .paused else {
            throw broken(.timeLeft, job.id, "\(left) s are left")
        }
        guard summary.fraction != 1 || left == 0...0 else {
            throw broken(.timeLeft, job.id, "all is done, and \(left) s are left")
        }
    }

    /// Conditions may hold a job at the same time; all other reasons exclude each other.
    private func checkWait(_ job: ModelJob) throws(Violation) {
        let times = core.timePerReason(job.id)
        guard job.state == .waiting else {
            guard times.isEmpty else { throw broken(.waitTimes, job.id, "it does not wait") }
            return
        }
        let wait = now - job.waitsSince
        var sum: Duration = .zero
        var alone: Duration = .zero
        var longest: Duration = .zero
        for (code, time) in times {
            sum += time
            if case .condition = code { longest = max(longest, time) } else { alone += time }
            guard time > .zero else { throw broken(.waitTimes, job.id, "\(code.text) has held it for \(time)") }
        }
        guard sum >= wait, alone + longest <= wait, Set(times.map(\.code)).count == times.count else {
            throw broken(
                .waitTimes, job.id, "it has waited for \(wait): \(times.map { "\($0.code.text) \($0.time)" })")
        }
    }

    // MARK: Reasons

    private func checkReasons(_ job: ModelJob) throws(Violation) {
        let reasons = core.why(job.id)
        guard !reasons.isEmpty else { throw broken(.reasons, job.id, "it waits for nothing") }
        var listed: GateModel.Mask = 0
        for reason in reasons {
            guard !reason.sentence.isEmpty, !reason.fix.isEmpty else {
                throw broken(.reasons, job.id, "\(reason.code.text) has no sentence or no fix")
            }
            switch reason.code {
            case .condition(let kind): listed |= GateModel.mask(kind)
            case .pausedByPerson:
                guard job.isPausedByPerson else { throw broken(.reasons, job.id, "no person has paused it") }
            case .hostAbsent:
                guard !programs[job.program].isPresent else { throw broken(.reasons, job.id, "its program is there") }
            case .backgroundSwitchedOff:
                guard !isAvailable(job.program) else { throw broken(.reasons, job.id, "its program may run") }
            case .earliestBeginDate:
                guard let begin = job.request.earliestBegin, begin > wall || begin == wall else {
                    throw broken(.reasons, job.id, "its date has come")
                }
            case .backoff, .refreshInterval:
                guard let earliest = reason.earliest, earliest >= now else {
                    throw broken(.reasons, job.id, "\(reason.code.text) is over")
                }
            case .machineLeaves: guard leavesFor != nil else { throw broken(.reasons, job.id, "the machine stays") }
            case .noRoom, .memoryClaim, .behindOthers, .deviceQuarantined, .devicePaused, .preempted: break
            }
        }
        let closed = guarded.closed & job.needs.start | guarded.strictlyClosed & job.needs.known
        guard listed & ~closed == 0 else {
            throw broken(.reasons, job.id, "it does not wait for \(names(listed & ~closed))")
        }
        let expected =
            job.state == .waiting
            ? closed : guarded.closed & job.needs.run | guarded.strictlyClosed & job.needs.known
        guard expected & ~listed == 0 || job.state == .live && job.isSimulated else {
            throw broken(.reasons, job.id, "it also waits for \(names(expected & ~listed))")
        }
        if leavesFor != nil, !reasons.contains(where: { $0.code == .machineLeaves }) {
            throw broken(.reasons, job.id, "the machine leaves, which is not told")
        }
        if job.isPausedByPerson, !reasons.contains(where: { $0.code == .pausedByPerson }) {
            throw broken(.reasons, job.id, "a person has paused it, which is not told")
        }
        if job.state == .waiting, !isAvailable(job.program),
            !reasons.contains(where: { $0.code == .backgroundSwitchedOff })
        {
            throw broken(.reasons, job.id, "its program is switched off, which is not told")
        }
    }

    // MARK: Room

    private func checkWork() throws(Violation) {
        var roomless: [ModelJob] = []
        var overdue: [ModelJob] = []
        var startable: [ModelJob] = []
        for job in jobs where job.state != .ended && (job.state == .waiting || job.phase == .paused) {
            guard isEligible(job) else {
                // It may have been due before the clock was set back, and have its turn before others.
                if job.state == .waiting, job.wasDue, (job.request.earliestBegin ?? wall) > wall { overdue.append(job) }
                continue
            }
            if lane(of: job) == nil { roomless.append(job) } else { startable.append(job) }
        }
        for job in startable
        where !(roomless + overdue).contains(where: { other in
            other.wantsGPU == job.wantsGPU || other.request.claim.memoryBytes > 0
                || other.wantsGPU && job.request.preferredResources == .gpu
        }) {
            throw broken(.workConserving, job.id, "it could start, and waits for \(why(job.id))")
        }
        for job in roomless where job.isForeground && job.request.kind == .continued && fitsMemory(job.request) {
            let claim = job.request.claim.memoryBytes
            let isBehind = roomless.contains { other in
                let needed = other.request.claim.memoryBytes
                // Claims that differ by less than a factor of two stand in one line, whose first may lack the memory.
                if other.isForeground, needed < 2 * claim, !fitsMemory(other.request) { return true }
                // After ten minutes memory may be kept for the other.
                return other.id != job.id && claim > 0 && needed > 0 && !fitsMemory(claim + needed)
                    && now - other.submitted >= .seconds(600)
            }
            if !isBehind { try checkForeground(job) }
        }
        for job in roomless where job.isForeground && job.request.kind == .continued && !fitsMemory(job.request) {
            // What is paused and has kept its memory lacks a slot.
            guard job.state == .waiting || job.releases else { continue }
            // Memory may be kept for another that lacks room.
            let isAlone = roomless.allSatisfy { $0.id == job.id || $0.request.claim.memoryBytes == 0 }
            if isAlone { try checkForegroundMemory(job) }
        }
    }

    /// Foreground work without a slot or a place on a device: something is leaving, or nothing can be asked to.
    private func checkForeground(_ job: ModelJob) throws(Violation) {
        let usable = devices.filter { $0.isUsable(job.request, at: now) }.map(\.device.id)
        // What a simulated launch put on the CPU goes on there.
        let wantsDevice = job.wantsGPU && (job.state == .waiting || job.releases)
        if wantsDevice, usable.isEmpty { return }
        var victim: JobID?
        for other in jobs where other.state == .live && other.phase != .paused {
            guard wantsDevice == (other.device != nil), other.device.map(usable.contains) ?? true else { continue }
            if wantsDevice, let device = other.device, !canMakeRoom(on: device, for: job, isSure: true) { continue }
            switch other.phase {
            case .expiring: return
            case .pausing where now < other.askedToPause + .seconds(5): return
            case .active where isPreemptible(other): victim = other.id
            default: break
            }
        }
        if let victim {
            throw broken(.foregroundFirst, job.id, "it waits for room, and \(victim) in the background holds it")
        }
    }

    /// Foreground work without its memory: something is leaving, or all that can be asked to would not free enough.
    private func checkForegroundMemory(_ job: ModelJob) throws(Violation) {
        var free = (conditions.availableMemoryBytes ?? 0) - 512 * 1_048_576
        var victim: JobID?
        for other in jobs where other.state == .live && other.request.claim.memoryBytes > 0 {
            if other.isUnread { free -= other.request.claim.memoryBytes }
            switch other.phase {
            case .expiring: return
            case .pausing where now < other.askedToPause + .seconds(5): return
            case .active where isPreemptible(other):
                free += other.request.claim.memoryBytes
                victim = other.id
            default: break
            }
        }
        if let victim, job.request.claim.memoryBytes <= free {
            throw broken(.foregroundFirst, job.id, "it waits for memory, and \(victim) in the background holds it")
        }
    }

    private func isPreemptible(_ job: ModelJob) -> Bool {
        !job.isForeground && !job.isSimulated && max(job.protectedUntil, job.mayBeProtectedUntil) <= now
    }
}
