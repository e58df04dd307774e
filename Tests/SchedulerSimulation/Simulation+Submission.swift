import SchedulingCore
import TaskModel

/// Submissions and their answers, and the beginning and end of a host.
extension Simulation {
    mutating func submit() throws(Violation) {
        let program = dice.below(programs.count)
        let name = programs[program].name
        var request = WorldGenerator.request(of: programs[program], wall: wall, &dice)
        if dice.percent(8), let old = jobs.first(where: { $0.program == program && $0.request.requestKey != nil }) {
            request = old.original
        }
        let known = request.requestKey.flatMap { key in
            jobs.last { $0.program == program && $0.request.requestKey == key }?.id
        }
        let preview = dice.percent(15) ? core.preview(request, program: name, at: now) : nil
        catchUp()
        let submission = core.submit(request, program: name, at: now)
        if let preview { try check(preview, submission) }
        switch submission.answer {
        case .success(let admission) where admission.isRepeat:
            log { _ in "submit again [\(admission.id)] \(request.identifier)" }
            guard admission.id == known else { throw broken(.answers, admission.id, "the key is of another request") }
            try settle(submission.actions)
        case .success(let admission):
            log { _ in "submit [\(admission.id)] \(request.identifier) \(request.kind.rawValue)" }
            try admit(request, admission, program)
            try settle(submission.actions)
            if request.kind == .continued, request.strategy == .fail {
                guard let index = index(of: admission.id), jobs[index].state == .live else {
                    throw broken(.answers, admission.id, "a request that was not to wait was admitted and waits")
                }
            }
        case .failure(let rejection):
            log { _ in "submit \(request.identifier) \(request.kind.rawValue): \(rejection.first.detail)" }
            guard rejection.failures.allSatisfy({ !$0.sentence.isEmpty && !$0.fix.isEmpty && !$0.detail.isEmpty })
            else { throw broken(.answers, nil, "a rejection has no sentence, no fix or no detail") }
            let mayWait = request.kind != .continued || request.strategy != .fail
            guard rejection.code != .immediateRunIneligible || !mayWait else {
                throw broken(.answers, nil, "\(request.identifier) may wait, and was refused for not starting")
            }
            // Time that was due first may have changed what the answer rests on, so look only where it has not.
            try settle(submission.actions)
            guard rejection.code == .immediateRunIneligible || !isAcceptable(request, program) else {
                throw broken(.answers, nil, "\(request.identifier) was refused: \(rejection.sentence)")
            }
        }
    }

    private func check(_ preview: Scheduler.Preview, _ submission: Scheduler.Submission) throws(Violation) {
        switch (preview.answer, submission.answer) {
        case (.success(let told), .success(let done)):
            guard told == done else { throw broken(.answers, done.id, "\(told) was previewed, and \(done) came") }
        case (.failure(let told), .failure(let done)):
            guard told == done else { throw broken(.answers, nil, "\(told) was previewed, and \(done) came") }
        default:
            throw broken(.answers, nil, "\(preview.answer) was previewed, and \(submission.answer) came")
        }
    }

    private mutating func admit(
        _ request: TaskRequest, _ admission: Scheduler.Admission, _ program: Int
    ) throws(Violation) {
        guard admission.id.rawValue > lastID else { throw broken(.nothingTwice, admission.id, "its number is not new") }
        lastID = admission.id.rawValue
        guard isAcceptable(request, program) else { throw broken(.answers, admission.id, "it must be refused") }
        if let replaced = admission.replaced { expectedEnds.append((replaced, .stopped(.replaced))) }
        let waits = jobs.first {
            $0.state == .waiting && $0.program == program && $0.request.identifier == request.identifier
        }
        if let waits, waits.id != admission.replaced {
            // Then it can only have been started by the time that was due.
            guard submissionStarts(waits) else {
                throw broken(.nothingTwice, waits.id, "\(request.identifier) waits twice")
            }
        }
        var job = ModelJob(
            id: admission.id, program: program, request: request, submitted: now,
            behaviour: WorldGenerator.behaviour(request, &dice))
        job.wasDue = request.earliestBegin.map { $0 <= wall } ?? true
        jobs.append(job)
    }

    private func submissionStarts(_ job: ModelJob) -> Bool {
        core.summary(job.id).map { $0.state != .waiting } ?? true
    }

    /// What rules 2, 3 and 16 to 22 say, the rule on immediate starts left out.
    private func isAcceptable(_ request: TaskRequest, _ index: Int) -> Bool {
        let program = programs[index]
        let name = request.identifier.rawValue
        guard program.isAnnounced, !name.hasSuffix(".unknown"), program.manifest.modes.contains(request.kind),
            isAvailable(index)
        else {
            return false
        }
        var waiting = 0
        for job in jobs where job.program == index {
            // What was due in this moment has been started before the answer.
            if job.state == .waiting, job.request.kind == request.kind, job.request.identifier != request.identifier,
                !submissionStarts(job)
            {
                waiting += 1
            }
            let isSame = job.state == .live && job.request.identifier == request.identifier
            if request.kind == .continued, isSame { return false }
        }
        if name.contains(".cont."), request.kind != .continued { return false }
        let limit =
            switch request.kind {
            case .refresh: 1
            case .processing: 10
            case .continued: 64
            }
        guard waiting < limit, request.claim.memoryBytes <= (16 << 30) - (512 << 20) else { return false }
        guard request.requiredResources == .gpu else { return true }
        let wanted = devices.filter { $0.isWanted(request) }
        let memory = wanted.map(\.device.memoryBytes).max() ?? -1
        guard program.manifest.grants == .gpu, memory >= request.claim.deviceMemoryBytes else { return false }
        let unpaused = wanted.filter { !$0.isPaused }
        return unpaused.isEmpty || unpaused.contains { $0.quarantinedUntil <= now }
    }

    // MARK: A new host

    /// The host dies with all tasks; a new one takes up what its record has.
    mutating func restart() throws(Violation) {
        log { _ in "the host starts anew" }
        agenda = HostAgenda()
        leavesFor = nil
        jobs.removeAll { $0.state == .ended }
        for index in jobs.indices { jobs[index].interrupt() }
        for index in programs.indices { programs[index].lastRefresh = nil }
        for index in devices.indices { devices[index].isPaused = false }
        let health = core.devices.health
        guarded = GateModel(isGuarded: true, at: now)
        plain = GateModel(isGuarded: false, at: now)
        gateStarts = Array(repeating: nil, count: gateStarts.count)
        gateStops = gateStarts
        core = Scheduler(settings: settings, at: now, wall: wall, firstID: lastID + 1)
        isAdopting = true
        try settle(core.adopt(health, at: now))
        // Some announce themselves after what they left behind has been taken up.
        let late = Set(programs.indices.filter { _ in dice.percent(30) })
        for index in programs.indices {
            programs[index].isAnnounced = false
            guard !late.contains(index) else {
                programs[index].isPresent = false
                continue
            }
            try add(programs[index])
            programs[index].isAnnounced = true
            if !programs[index].isPresent {
                try settle(core.hostRemoved(program: programs[index].name, at: now))
            }
            if programs[index].status != .available { try setStatus(programs[index].status, index) }
        }
        for index in late where programs[index].status != .available { try setStatus(programs[index].status, index) }
        if globalStatus != .available { try setStatus(globalStatus, nil) }
        try reportDevices()
        try read(conditions)
        for id in jobs.map(\.id) { try adopt(id) }
        isAdopting = false
        try block([])
        for index in late.sorted() where dice.percent(70) { try bringBack(index) }
    }

    private mutating func adopt(_ id: JobID) throws(Violation) {
        guard let index = index(of: id) else { return }
        let job = jobs[index]
        // Of two runs of one identifier that were both to come, the later request stands.
        for other in jobs[..<index]
        where other.state == .waiting && other.program == job.program
            && other.request.identifier == job.request.identifier
        {
            expectedEnds.append((other.id, .stopped(.replaced)))
        }
        jobs[index].wasDue = job.request.earliestBegin.map { $0 <= wall } ?? true
        jobs[index].waitsSince = job.attempts == 0 ? job.submitted : now
        log { _ in "adopt [\(id)] \(job.request.identifier), \(job.attempts) attempts" }
        let actions = core.adopt(
            job.request, id: id, program: programs[job.program].name, submitted: job.submitted,
            attempts: job.attempts, losses: job.losses, at: now)
        try settle(actions)
    }

    // MARK: The end

    /// A calm world in which all devices and programs are there and nothing new is asked for: all work must get done.
    mutating func drain() throws(Violation) {
        log { _ in "calm" }
        flapping = nil
        if leavesFor != nil { try comeBack() }
        for index in programs.indices {
            if programs[index].status != .available { try setStatus(.available, index) }
            if !programs[index].isPresent { try bringBack(index) }
        }
        if globalStatus != .available { try setStatus(.available, nil) }
        try block([])
        for index in devices.indices { devices[index].isPresent = true }
        try reportDevices()
        for index in devices.indices {
            devices[index].isPaused = false
            try settle(core.setDevicePaused(false, device: devices[index].device.id, at: now))
        }
        try read(WorldGenerator.calm)
        for id in jobs.map(\.id) {
            guard let index = index(of: id), jobs[index].state != .ended else { continue }
            hurry(index)
            if jobs[index].isPausedByPerson { try resume(index) }
        }
        let end = now + .seconds(3 * 86_400)
        while now < end, let job = jobs.first(where: { $0.state != .ended }) {
            let soon = [core.nextDeadline().map { max($0, now) }, agenda.next?.time].compactMap(\.self).min()
            guard let soon, soon <= end else {
                throw broken(.starvation, job.id, "nothing is to come, and it waits for \(why(job.id))")
            }
            try pass(to: soon, within: 1)
        }
        if let job = jobs.first(where: { $0.state != .ended }) {
            throw broken(.starvation, job.id, "three calm days have passed, and it waits for \(why(job.id))")
        }
    }

    /// From now on the task ends soon, if it is one that ever says anything; continued work must not have to.
    private mutating func hurry(_ index: Int) {
        jobs[index].behaviour.work = .seconds(10 + index % 10)
        jobs[index].behaviour.between = .seconds(3)
        if jobs[index].request.kind != .continued { jobs[index].behaviour.isSilent = false }
        guard jobs[index].state == .live, !jobs[index].behaviour.isSilent else { return }
        agenda.forget(jobs[index].id, kind: .finish)
        jobs[index].finishIsDue = jobs[index].phase == .paused
        if !jobs[index].finishIsDue {
            let time = now + .seconds(10 + index % 10)
            agenda.add(.finish, jobs[index].id, launch: jobs[index].launch, at: time)
        }
    }

    func why(_ id: JobID) -> String {
        core.why(id).map(\.code.text).joined(separator: ", ")
    }
}
