import SchedulingCore
import TaskModel

/// What people, programs and the machine do at random.
extension Simulation {
    mutating func begin() throws(Violation) {
        for program in programs { try add(program) }
        try reportDevices()
        try read(conditions)
    }

    mutating func add(_ program: ModelProgram) throws(Violation) {
        log { _ in "add \(program.name)" }
        let actions = core.addProgram(program.manifest, usesHandlers: program.usesHandlers, at: now)
        if program.usesHandlers {
            for pattern in program.manifest.permitted { _ = core.register(pattern, for: nil, program: program.name) }
            _ = core.activate(program: program.name)
        }
        try settle(actions)
    }

    /// The next thing that happens: time, most often.
    mutating func happen() throws(Violation) {
        if let flap = flapping {
            if now >= flap.until { flapping = nil }
            if dice.percent(30) {
                try pass(to: now + dice.milliseconds(200...9_000), within: 40)
                var changed = conditions
                if dice.percent(20) {
                    WorldGenerator.clear(flap.kind, in: &changed)
                } else {
                    WorldGenerator.set(flap.kind, in: &changed, isCalm: dice.percent(60), &dice)
                }
                return try read(changed)
            }
        }
        if leavesFor != nil, dice.percent(15) { return try comeBack() }
        let pending = jobs.count { $0.state != .ended }
        switch dice.below(200) {
        case 0..<70:
            let soon = [core.nextDeadline().map { max($0, now) }, agenda.next?.time].compactMap(\.self).min()
            let last = now + dice.skewed(upTo: .seconds(1_200))
            try pass(to: min(soon ?? last, last), within: 3)
        case 70..<88: try pass(to: now + dice.skewed(upTo: .seconds(7_200)), within: 60)
        case 88..<125: if pending < 45 { try submit() }
        case 125..<143:
            var changed = conditions
            WorldGenerator.change(&changed, &dice)
            try read(changed)
        case 143..<145: flapping = (dice.below(12), now + dice.milliseconds(5_000...200_000))
        case 145..<180: try touchJob()
        case 180..<199: try touchWorld()
        default: if dice.percent(25) { try restart() }
        }
    }

    mutating func read(_ reading: Conditions) throws(Violation) {
        catchUp()
        conditions = reading
        guarded.observe(reading, at: now, wall: wall)
        plain.observe(reading, at: now, wall: wall)
        for index in jobs.indices { jobs[index].isUnread = false }
        log { _ in "conditions \(reading)" }
        try settle(core.conditionsChanged(reading, at: now))
    }

    // MARK: One job

    private mutating func touchJob() throws(Violation) {
        guard !jobs.isEmpty else { return }
        let lively = dice.percent(60) ? jobs.indices.filter { jobs[$0].state == .live } : []
        let index = lively.isEmpty ? dice.below(jobs.count) : dice.pick(lively)
        let job = jobs[index]
        switch dice.below(22) {
        case 0..<3: if job.state == .live || step % 8 == 0 { try pause(index) }
        case 3..<7: try resume(index)
        case 7..<9: try setForeground(true, index)
        case 9..<11: try setForeground(false, index)
        case 11: try stop(index, dice.pick([.userStop, .simulated, .shutdown, .quota]))
        case 12:
            if job.state == .waiting { expectedEnds.append((job.id, .cancelled)) }
            let waits = jobs.first {
                $0.state == .waiting && $0.program == job.program && $0.request.identifier == job.request.identifier
            }
            if let waits, waits.id != job.id { expectedEnds.append((waits.id, .cancelled)) }
            log { _ in "cancel [\(job.id)]" }
            try settle(core.cancel(job.request.identifier, program: programs[job.program].name, at: now))
        case 13, 14:
            if job.state == .live, let device = job.device { try deviceFailed(index, device) }
        case 15: if dice.percent(50) { try simulateLaunch(index) }
        case 16: try retry(index)
        case 17:
            log { _ in "dismiss [\(job.id)]" }
            try settle(core.dismiss(job.id, at: now))
        case 18:
            if dice.percent(30), job.state == .live {
                expectedEnds.append((job.id, .failed(code: "crashed")))
                log { _ in "broke [\(job.id)]" }
                try settle(core.broke(job.id, code: "crashed", at: now))
            } else if job.state == .live, !job.behaviour.isSilent {
                jobs[index].lastSign = now
                let phase = "phase \(dice.below(3))"
                log { _ in "heartbeat [\(job.id)] \(phase)" }
                try settle(core.heartbeat(job.id, phase: phase, at: now))
            }
        case 19, 20: if job.state == .live, dice.percent(60) { try crash(index) }
        default: try comeLate(job)
        }
    }

    mutating func pause(_ index: Int) throws(Violation) {
        let job = jobs[index]
        if job.state == .waiting || job.state == .live && job.phase != .expiring {
            jobs[index].isPausedByPerson = true
        }
        log { _ in "a person pauses [\(job.id)]" }
        try settle(core.pause(job.id, at: now))
    }

    mutating func resume(_ index: Int) throws(Violation) {
        let job = jobs[index]
        jobs[index].isPausedByPerson = false
        log { _ in "a person resumes [\(job.id)]" }
        try settle(core.resume(job.id, at: now))
    }

    private mutating func setForeground(_ foreground: Bool, _ index: Int) throws(Violation) {
        let job = jobs[index]
        if job.state != .ended, job.request.kind == .continued {
            jobs[index].wantsForeground = foreground
            jobs[index].wantedSince = now
            if foreground || job.state == .waiting { jobs[index].setForeground(foreground) }
        }
        log { _ in "\(foreground ? "promote" : "demote") [\(job.id)]" }
        try settle(foreground ? core.promote(job.id, at: now) : core.demote(job.id, at: now))
    }

    private mutating func stop(_ index: Int, _ reason: StopReason) throws(Violation) {
        let job = jobs[index]
        if job.state == .waiting { expectedEnds.append((job.id, .stopped(reason))) }
        jobs[index].goesOnAfterwards = false
        // A person's stop counts for more than the leaving of the machine.
        if reason == .userStop, job.stopReason == .sleep || job.stopReason == .shutdown {
            jobs[index].stopReason = reason
        }
        log { _ in "stop [\(job.id)] \(reason.code)" }
        let actions = core.stop(job.id, reason, at: now)
        if job.state == .live, job.phase != .expiring,
            !actions.contains(.expire(job.id, reason, deadline: now + .seconds(5)))
        {
            throw broken(.grace, job.id, "it was stopped and not told")
        }
        try settle(actions)
    }

    private mutating func simulateLaunch(_ index: Int) throws(Violation) {
        let job = jobs[index]
        if job.state == .waiting, leavesFor == nil { simulated = job.id }
        log { _ in "simulate a launch of [\(job.id)]" }
        try settle(core.simulateLaunch(job.id, at: now))
    }

    private mutating func retry(_ index: Int) throws(Violation) {
        let job = jobs[index]
        let isTaken = jobs.contains { other in
            other.state != .ended && other.program == job.program && other.request.identifier == job.request.identifier
        }
        if job.state == .ended, !isTaken {
            let behaviour = WorldGenerator.behaviour(job.request, &dice)
            var again = ModelJob(
                id: job.id, program: job.program, request: job.request, submitted: now, behaviour: behaviour)
            again.original = job.original
            again.launch = job.launch + 1
            again.wasDue = job.request.earliestBegin.map { $0 <= wall } ?? true
            jobs[index] = again
        }
        log { _ in "retry [\(job.id)]" }
        try settle(core.retry(job.id, at: now))
    }

    /// Messages that come when nothing of the kind is expected any more.
    private mutating func comeLate(_ job: ModelJob) throws(Violation) {
        log { _ in "late messages for [\(job.id)]" }
        guard job.state != .live else {
            if job.phase == .active { try settle(core.paused(job.id, at: now)) }
            return try settle(core.answerSlow(job.id, goOn: dice.percent(60), at: now))
        }
        try settle(core.completed(job.id, success: true, at: now))
        try settle(core.paused(job.id, at: now))
        try settle(core.progressed(job.id, to: 0.5, at: now))
        try settle(core.deviceFailed(job.id, at: now))
        try settle(core.crashed(job.id, code: "late", at: now))
    }

    // MARK: The world

    private mutating func touchWorld() throws(Violation) {
        let program = dice.below(programs.count)
        switch dice.below(41) {
        case 0, 1: try remove(program)
        case 2..<9:
            if let absent = programs.firstIndex(where: { !$0.isPresent }) { try bringBack(absent) }
        case 9..<12: try setStatus(dice.percent(60) ? .available : dice.pick([.denied, .restricted]), program)
        case 12..<14: try setStatus(dice.percent(75) ? .available : .denied, nil)
        case 14, 15: if globalStatus != .available { try setStatus(.available, nil) }
        case 16..<20: try changeDevices()
        case 20..<24:
            guard !devices.isEmpty else { return }
            let index = dice.below(devices.count)
            let device = devices[index].device.id
            if dice.percent(70) {
                let isPaused = dice.percent(35)
                if devices[index].isPresent { devices[index].isPaused = isPaused }
                log { _ in "pause \(device): \(isPaused)" }
                try settle(core.setDevicePaused(isPaused, device: device, at: now))
            } else {
                devices[index].failures = 0
                devices[index].quarantines = 0
                devices[index].quarantinedUntil = .zero
                log { _ in "clear \(device)" }
                try settle(core.clearQuarantine(of: device, at: now))
            }
        case 24..<30: try setClock(wall + (dice.percent(50) ? .seconds(1) : .seconds(-1)) * dice.below(7_200))
        case 30..<34: try block(dice.percent(40) ? [] : hours())
        case 34: if dice.percent(30) { try stopAll() }
        case 35:
            for job in jobs where job.state == .waiting && job.program == program {
                expectedEnds.append((job.id, .cancelled))
            }
            log { _ in "cancel all of \(program)" }
            try settle(core.cancelAll(program: programs[program].name, at: now))
        case 36..<39: if leavesFor == nil || dice.percent(30) { try leaveAtARandomMoment() }
        default: try submit()
        }
    }

    private mutating func remove(_ program: Int) throws(Violation) {
        programs[program].isPresent = false
        for job in jobs where job.program == program {
            guard job.state == .live || job.state == .waiting && job.request.kind == .continued else { continue }
            expectedEnds.append((job.id, .stopped(.hostRemoved)))
        }
        log { _ in "program \(program) is gone" }
        try settle(core.hostRemoved(program: programs[program].name, at: now))
    }

    mutating func bringBack(_ program: Int) throws(Violation) {
        programs[program].isPresent = true
        if dice.percent(30) || !programs[program].isAnnounced {
            programs[program].isAnnounced = true
            return try add(programs[program])
        }
        log { _ in "program \(program) is back" }
        try settle(core.hostReturned(program: programs[program].name, at: now))
    }

    mutating func setStatus(_ status: BackgroundStatus, _ program: Int?) throws(Violation) {
        if let program { programs[program].status = status } else { globalStatus = status }
        log { _ in "background work of \(program.map(String.init) ?? "all"): \(status)" }
        try settle(core.setBackgroundStatus(status, program: program.map { programs[$0].name }, at: now))
    }

    private mutating func changeDevices() throws(Violation) {
        guard !devices.isEmpty else { return }
        let index = dice.below(devices.count)
        devices[index].isPresent.toggle()
        devices[index].isPaused = false
        if !devices[index].isPresent {
            let device = devices[index].device.id
            for job in jobs where job.state == .live && job.device == device {
                agenda.add(.deviceGone, job.id, launch: job.launch, at: now + dice.milliseconds(0...3_000))
            }
        }
        try reportDevices()
    }

    mutating func reportDevices() throws(Violation) {
        let present = devices.filter(\.isPresent).map(\.device)
        log { _ in "devices \(present.map(\.id))" }
        try settle(core.capabilitiesChanged(devices: present, absences: [], at: now))
    }

    mutating func setClock(_ time: Duration) throws(Violation) {
        wallOffset = time - now
        catchUp()
        log { _ in "the clock is set to \(time)" }
        try settle(core.clockChanged(wall: time, at: now))
    }

    private mutating func hours() -> [Range<Duration>] {
        var start = wall + .seconds(dice.number(-3_600...3_600))
        return (0..<3).map { _ in
            let end = start + .seconds(dice.number(60...5_400))
            defer { start = end + .seconds(dice.number(60...5_400)) }
            return start..<end
        }
    }

    mutating func block(_ hours: [Range<Duration>]) throws(Violation) {
        guarded.blockHours(hours, at: now, wall: wall)
        plain.blockHours(hours, at: now, wall: wall)
        noteGates()
        log { _ in "blocked hours \(hours)" }
        try settle(core.blockHours(hours, at: now))
    }

    private mutating func stopAll() throws(Violation) {
        log { _ in "stop all" }
        let actions = core.stopAll(.sleep, at: now)
        let told = actions.count { if case .expire(_, .sleep, now + .seconds(5)) = $0 { true } else { false } }
        let meant = jobs.count { $0.state == .live && $0.phase != .expiring }
        guard told == meant else { throw broken(.grace, nil, "\(told) of \(meant) were told to stop") }
        isStopping = true
        defer { isStopping = false }
        try settle(actions)
    }
}
