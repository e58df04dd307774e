package import SchedulingCore
package import TaskModel

/// Plays a described day against the real scheduler, with tasks that only pretend to work.
///
/// Time goes from one event to the next; no clock is looked at, and the same day always gives the same timeline.
package struct VirtualDay: Sendable {
    private struct Work: Sendable {
        var virtual: VirtualRequest
        var left: Double
        var chunks = 0.0
    }

    /// All that decides what waiting requests wait for, except the passing of time.
    private struct Situation: Equatable {
        var closed: ConditionSet
        var strictlyClosed: ConditionSet
        var memory: Int?
    }

    private let trace: DayTrace
    private let thresholds: ConditionThresholds
    package private(set) var scheduler: Scheduler
    /// Since the start.
    package private(set) var now: Duration = .zero
    private var nextEntry = 0
    private var works: [JobID: Work] = [:]
    private var tasks: [JobID: VirtualTask] = [:]
    private var waiting: Set<JobID> = []
    private var claims = 0
    private var recorder: TimelineRecorder
    private var situation: Situation?
    private var isStale = true
    private var lastDeadline: Duration?

    package init(_ trace: DayTrace, thresholds: ConditionThresholds = .standard) {
        self.trace = trace
        self.thresholds = thresholds
        scheduler = Scheduler(
            settings: trace.settings, thresholds: thresholds, at: .zero, wall: trace.start.sinceEpoch)
        recorder = TimelineRecorder(title: trace.title, start: trace.start)
        for program in trace.programs { _ = scheduler.addProgram(program, usesHandlers: false, at: .zero) }
        let absences =
            trace.devices.isEmpty
            ? [
                ResourceAbsence(
                    resource: .gpu, code: "noDevice", sentence: "The described machine has no GPU.",
                    fix: "Describe one under \"devices\", or prefer the GPU instead of requiring it.")
            ] : []
        _ = scheduler.capabilitiesChanged(devices: trace.devices, absences: absences, at: .zero)
        if !trace.blockedHours.isEmpty { _ = scheduler.blockHours(trace.blockedHours, at: .zero) }
    }

    /// Plays a whole day.
    package static func timeline(of trace: DayTrace) -> Timeline {
        var day = VirtualDay(trace)
        day.play(until: trace.length)
        return day.timeline
    }

    /// What has come of it up to now.
    package var timeline: Timeline {
        var copy = recorder
        for (id, task) in tasks { copy.chunks(id, Int(task.chunks.rounded(.up))) }
        return copy.finished(at: now)
    }

    /// The latest submission of an identifier, over or not.
    package func job(_ identifier: TaskIdentifier) -> JobID? {
        recorder.timeline.jobs.last { $0.identifier == identifier }?.id
    }

    /// Plays on to a moment of the day, that moment included.
    package mutating func play(until end: Duration) {
        while true {
            let moments = [nextEntryTime, nextTaskTime, nextDeadline].compactMap(\.self)
            guard let next = moments.min(), next <= end else { break }
            advance(to: max(next, now))
            step()
        }
        advance(to: max(end, now))
        // What the scheduler is asked from here on is asked at this moment.
        carryOut(scheduler.timePassed(at: now))
        setRates()
        record()
    }

    // MARK: Time

    private var nextEntryTime: Duration? {
        nextEntry < trace.entries.count ? trace.entries[nextEntry].at : nil
    }

    private var nextTaskTime: Duration? {
        tasks.values.compactMap { $0.nextMoment(after: now) }.min()
    }

    /// A deadline that is not over after it was looked at is looked at again later, not for ever.
    private var nextDeadline: Duration? {
        mutating get {
            guard let deadline = scheduler.nextDeadline() else { return nil }
            return lastDeadline == now ? max(deadline, now + .milliseconds(1)) : max(deadline, now)
        }
    }

    private mutating func advance(to time: Duration) {
        let passed = time - now
        guard passed > .zero else { return }
        for id in tasks.keys { tasks[id]?.advance(by: passed) }
        now = time
    }

    private mutating func step() {
        recorder.count(\.steps)
        // What is due comes first: who answers in the moment of a deadline is too late.
        if let time = nextDeadline, time <= now {
            recorder.count(\.deadlines)
            lastDeadline = now
            isStale = true
            carryOut(scheduler.timePassed(at: now))
        } else if let time = nextTaskTime, time <= now {
            for id in tasks.keys.sorted() { report(id) }
        } else if let time = nextEntryTime, time <= now {
            let entry = trace.entries[nextEntry]
            nextEntry += 1
            happen(entry.happening)
        }
        setRates()
        record()
    }

    /// Tasks on the CPU lane share the machine when together they want more than there is.
    private mutating func setRates() {
        let cores = trace.settings.cores
        let wanted = tasks.values.filter { $0.device == nil && $0.isAtWork }.map { $0.effort(cores: cores) }.sorted()
            .reduce(0, +)
        for (id, task) in tasks {
            let share = task.device == nil ? max(wanted, 1) : 1
            tasks[id]?.setRate(task.effort(cores: cores) / share)
        }
    }

    // MARK: What tasks tell

    private mutating func report(_ id: JobID) {
        while let report = tasks[id]?.due(at: now) {
            switch report {
            case .progress(let fraction):
                recorder.count(\.progressReports)
                carryOut(scheduler.progressed(id, to: fraction, at: now))
            case .paused:
                carryOut(scheduler.paused(id, at: now))
            case .completed(let success):
                if success { carryOut(scheduler.progressed(id, to: 1, at: now)) }
                carryOut(scheduler.completed(id, success: success, at: now))
            case .lostDevice:
                note("deviceLost", "Its device failed.", id)
                carryOut(scheduler.deviceFailed(id, at: now))
            case .broke:
                carryOut(scheduler.broke(id, code: "crashed", at: now))
            }
            if case .progress = report { continue }
            isStale = true
        }
    }

    // MARK: What happens

    private mutating func happen(_ happening: DayTrace.Happening) {
        switch happening {
        case .conditions(let conditions):
            recorder.count(\.conditionChanges)
            carryOut(scheduler.conditionsChanged(conditions, at: now))
        case .request(let virtual):
            recorder.count(\.requests)
            isStale = true
            submit(virtual, left: virtual.work.inSeconds)
        case .event(let event):
            recorder.count(\.events)
            isStale = true
            happen(event)
        }
    }

    private mutating func submit(_ virtual: VirtualRequest, left: Double) {
        let submission = scheduler.submit(virtual.request, program: virtual.program, at: now)
        switch submission.answer {
        case .failure(let rejection):
            recorder.rejected(virtual, rejection, at: now)
        case .success(let admission):
            if works[admission.id] == nil {
                works[admission.id] = Work(virtual: virtual, left: left)
                recorder.submitted(admission.id, virtual, at: now)
                waiting.insert(admission.id)
                if virtual.request.claim.memoryBytes > 0 { claims += 1 }
            }
            for warning in admission.warnings where warning.code == "earliestBeginDateIgnored" {
                note(warning.code, warning.sentence, admission.id)
            }
        }
        carryOut(submission.actions)
    }

    private mutating func happen(_ event: DayEvent) {
        switch event {
        case .promote(let name): with(name, "promote") { day, id in day.scheduler.promote(id, at: day.now) }
        case .demote(let name): with(name, "demote") { day, id in day.scheduler.demote(id, at: day.now) }
        case .pause(let name): with(name, "pause") { day, id in day.scheduler.pause(id, at: day.now) }
        case .resume(let name): with(name, "resume") { day, id in day.scheduler.resume(id, at: day.now) }
        case .stop(let name): with(name, "stop") { day, id in day.scheduler.stop(id, .userStop, at: day.now) }
        case .cancel(let name):
            with(name, "cancel") { day, id in
                day.scheduler.cancel(name, program: day.works[id]?.virtual.program ?? "", at: day.now)
            }
        case .simulateLaunch(let name):
            with(name, "simulateLaunch") { day, id in day.scheduler.simulateLaunch(id, at: day.now) }
        case .simulateExpiration(let name, let reason):
            with(name, "simulateExpiration") { day, id in day.scheduler.stop(id, reason, at: day.now) }
        case .hostRemoved(let program):
            remark("hostRemoved", "\(program) is gone.")
            carryOut(scheduler.hostRemoved(program: program, at: now))
        case .hostReturned(let program):
            remark("hostReturned", "\(program) is back.")
            carryOut(scheduler.hostReturned(program: program, at: now))
        case .switchOff(let program):
            remark("switchedOff", "Background work is switched off for \(program ?? "all programs").")
            carryOut(scheduler.setBackgroundStatus(.denied, program: program, at: now))
        case .switchOn(let program):
            remark("switchedOn", "Background work is switched on for \(program ?? "all programs").")
            carryOut(scheduler.setBackgroundStatus(.available, program: program, at: now))
        case .clockJump(let jump):
            remark("clockJump", "The wall clock is set by \(TimeText.text(jump)).")
            carryOut(scheduler.clockChanged(wall: scheduler.wall + (now - scheduler.now) + jump, at: now))
        case .blockHours(let hours):
            carryOut(scheduler.blockHours(hours, at: now))
        case .pauseDevice(let device):
            carryOut(scheduler.setDevicePaused(true, device: device, at: now))
        case .resumeDevice(let device):
            carryOut(scheduler.setDevicePaused(false, device: device, at: now))
        case .failDevice(let device):
            remark("deviceFailed", "\(device) failed.")
            for id in tasks.keys.sorted() where tasks[id]?.device == device {
                carryOut(scheduler.deviceFailed(id, at: now))
            }
        }
    }

    private mutating func with(
        _ identifier: TaskIdentifier, _ event: String, _ body: (inout VirtualDay, JobID) -> [SchedulerAction]
    ) {
        guard let id = live(identifier) else {
            recorder.note(
                "nothingThere", "Nothing of this name waits or runs when it is to \(event).", about: identifier,
                at: now)
            return
        }
        let actions = body(&self, id)
        carryOut(actions)
    }

    /// The running submission of an identifier, else the waiting one.
    private func live(_ identifier: TaskIdentifier) -> JobID? {
        let all = works.filter { $0.value.virtual.request.identifier == identifier }.keys.sorted()
        return all.first { tasks[$0] != nil } ?? all.first
    }

    // MARK: What the scheduler asks for

    private mutating func carryOut(_ actions: [SchedulerAction]) {
        for action in actions { carryOut(action) }
    }

    private mutating func carryOut(_ action: SchedulerAction) {
        switch action {
        case .setTerms, .dismiss, .note: break
        default: isStale = true
        }
        switch action {
        case .launch(let id, let launch):
            guard let work = works[id] else { return }
            waiting.remove(id)
            tasks[id] = VirtualTask(work.virtual, left: work.left, launch, chunks: work.chunks, at: now)
            recorder.launched(id, at: now)
        case .pause(let id, _): tasks[id]?.pause(at: now)
        case .resume(let id, let terms): tasks[id]?.resume(terms, at: now)
        case .setTerms(let id, let terms): tasks[id]?.terms = terms
        case .moveToCPU(let id): tasks[id]?.device = nil
        case .expire(let id, let reason, _):
            tasks[id]?.expire(at: now)
            recorder.askedToEnd(id, reason, at: now)
            note("expired", "It was asked to end: \(reason.code).", id)
        case .kill(let id): note("killed", "It did not end within the grace.", id)
        case .requeue(let id, _):
            keepWork(of: id)
            waiting.insert(id)
        case .end(let id, let outcome): end(id, outcome)
        case .dismiss: break
        case .note(let id, let note): self.note(note, id)
        }
    }

    private mutating func keepWork(of id: JobID) {
        guard let task = tasks.removeValue(forKey: id) else { return }
        works[id]?.left = task.left
        works[id]?.chunks = task.chunks
    }

    private mutating func end(_ id: JobID, _ outcome: TaskOutcome) {
        keepWork(of: id)
        waiting.remove(id)
        guard let work = works.removeValue(forKey: id) else { return }
        recorder.ended(id, outcome, chunks: Int(work.chunks.rounded(.up)), at: now)
        if work.virtual.resubmits, case .stopped(let reason) = outcome, reason.isOfTheMachine {
            submit(work.virtual, left: work.left)
        }
    }

    // MARK: Taking down

    private mutating func record() {
        recorder.conditions(scheduler.gates, thresholds, at: now)
        for id in tasks.keys {
            guard let summary = scheduler.summary(id), let task = tasks[id] else { continue }
            let state: Timeline.State =
                switch summary.state {
                case .running, .waiting, .ended: summary.isForeground ? .foreground : .background
                case .pausing: .pausing
                case .paused: .paused
                case .expiring: .expiring
                }
            let reasons = state == .paused || state == .pausing ? scheduler.why(id) : []
            recorder.state(id, state, reasons: reasons, device: task.device, at: now)
        }
        let current = Situation(
            closed: scheduler.gates.closed, strictlyClosed: scheduler.gates.strictlyClosed,
            memory: claims > 0 ? scheduler.gates.conditions.availableMemoryBytes : nil)
        guard isStale || current != situation else { return }
        situation = current
        isStale = false
        for id in waiting {
            recorder.state(id, .waiting, reasons: scheduler.why(id), device: nil, at: now)
        }
    }

    private mutating func note(_ code: String, _ sentence: String, _ id: JobID) {
        recorder.note(code, sentence, id, at: now)
    }

    /// About the whole day.
    private mutating func remark(_ code: String, _ sentence: String) {
        recorder.note(code, sentence, nil, at: now)
    }

    private mutating func note(_ note: SchedulerAction.Note, _ id: JobID) {
        switch note {
        case .stallWarning(let silence, let limit):
            self.note("stallWarning", "Silent for \(TimeText.text(silence)) of at most \(TimeText.text(limit)).", id)
        case .stalled(let silence, let limit):
            self.note("stalled", "Silent for \(TimeText.text(silence)), longer than \(TimeText.text(limit)).", id)
        case .slow(let share):
            self.note("slow", "It runs at \(Int((share * 100).rounded())) % of its own earlier rate.", id)
        case .progressFell(let from, let to):
            self.note(
                "progressFell", "Its progress fell from \(Int(from * 100)) % to \(Int(to * 100)) %.", id)
        case .pauseIgnored: self.note("pauseIgnored", "Asked to pause, it has not done so within the grace.", id)
        case .overdue(let waited):
            let reasons = scheduler.timePerReason(id).map { "\($0.code.text) \(TimeText.text($0.time))" }
            self.note(
                "overdue", "Not started for \(TimeText.text(waited)): \(reasons.joined(separator: ", ")).", id)
        }
    }
}

extension StopReason {
    /// The machine's state or the scheduler ended it, not a person, its program or itself.
    fileprivate var isOfTheMachine: Bool {
        switch self {
        case .conditionLost, .preempted, .memoryPressure, .timeBudget, .sleep, .quota: true
        case .userStop, .stalled, .slowDeclined, .deviceLost, .shutdown, .hostRemoved, .replaced, .simulated: false
        }
    }
}
