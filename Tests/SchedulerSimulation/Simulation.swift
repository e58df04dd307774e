import SchedulingCore
import TaskModel

/// Plays random days against the scheduler and compares it, after every step, with a plain model of what it promises.
///
/// A step is one call of the scheduler: something happened, or time passed. Everything follows from the seed.
package struct Simulation: Sendable {
    package struct Report: Sendable {
        package var seed: UInt64
        package var steps: Int
        package var launches: Int
        /// Stays the same for the same seed and steps, on every machine.
        package var digest: UInt64
        package var violation: Violation?
        package var trace: [String]
    }

    let seed: UInt64
    let limit: Int
    var dice: Dice
    var core: Scheduler
    let settings: SchedulerSettings
    var now: Duration = .zero
    var wallOffset: Duration = .seconds(1_800_000_000)
    var step = 0

    var programs: [ModelProgram]
    var globalStatus: BackgroundStatus = .available
    var devices: [ModelDevice]
    var conditions: Conditions
    /// A condition that comes and goes every few seconds, until then.
    var flapping: (kind: Int, until: Duration)?
    /// With the minute between openings, and without.
    var guarded: GateModel
    var plain: GateModel
    /// By number of the request.
    var jobs: [ModelJob] = []
    var agenda = HostAgenda()
    var lastID: UInt64 = 0
    var launches = 0

    /// What the event of this step has to end, and how.
    var expectedEnds: [(id: JobID, outcome: TaskOutcome)] = []
    /// Runs that this step ends, after which their requests wait for another.
    var expectedRequeues: [(id: JobID, notBefore: Duration)] = []
    var killed: [JobID] = []
    var simulated: JobID?
    /// Closed gates when the step began to look at them, for what went on and stopped within one step.
    var closedBefore: (usual: GateModel.Mask, strict: GateModel.Mask) = (0, 0)
    /// Last start and stop that each condition caused.
    var gateStarts: [StepMark?]
    var gateStops: [StepMark?]
    var isAdopting = false
    /// What the machine is about to do.
    var leavesFor: StopReason?
    /// Everything was asked to stop, which is no time to start something.
    var isStopping = false

    var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    let isTraced: Bool
    var trace: [String] = []

    init(seed: UInt64, steps: Int, isTraced: Bool) {
        self.seed = seed
        limit = steps
        self.isTraced = isTraced
        var dice = Dice(seed: seed)
        settings = WorldGenerator.settings(&dice)
        programs = WorldGenerator.programs(&dice)
        devices = WorldGenerator.devices(&dice)
        conditions = WorldGenerator.calm
        guarded = GateModel(isGuarded: true, at: .zero)
        plain = GateModel(isGuarded: false, at: .zero)
        gateStarts = Array(repeating: nil, count: GateModel.kinds.count)
        gateStops = gateStarts
        core = Scheduler(settings: settings, at: .zero, wall: wallOffset)
        self.dice = dice
    }

    /// Plays one seed; one that fails is played again to tell what led to it.
    package static func run(seed: UInt64, steps: Int, isVerbose: Bool = false) -> Report {
        var simulation = Simulation(seed: seed, steps: steps, isTraced: isVerbose)
        var report = simulation.play()
        guard var violation = report.violation else { return report }
        if !isVerbose {
            var again = Simulation(seed: seed, steps: steps, isTraced: true)
            report.trace = again.play().trace
        }
        let name = violation.job.map { "[\($0)]" }
        let lines = report.trace.filter { line in name.map { line.contains($0) } ?? true }
        violation.trace = Array(lines.suffix(30))
        report.violation = violation
        return report
    }

    private mutating func play() -> Report {
        var violation: Violation?
        do {
            try begin()
            while step < limit { try happen() }
            try drain()
        } catch {
            violation = error
        }
        return Report(
            seed: seed, steps: step, launches: launches, digest: digest, violation: violation, trace: trace)
    }

    var wall: Duration { now + wallOffset }

    // MARK: Steps

    /// One call of the scheduler has been made; carries out its actions and checks everything.
    mutating func settle(_ actions: [SchedulerAction], isTime: Bool = false) throws(Violation) {
        for action in actions {
            log { "-> \($0.text(action))" }
            mix(action)
            try apply(action)
        }
        if let missing = expectedEnds.first {
            throw broken(.oneOutcome, missing.id, "it did not end with \(missing.outcome.code)")
        }
        if let missing = expectedRequeues.first {
            throw broken(retryInvariant(of: missing.id), missing.id, "it does not wait for another run")
        }
        killed.removeAll(keepingCapacity: true)
        simulated = nil
        step += 1
        if !isAdopting { try check(isTime: isTime) }
    }

    /// Times and gates before an event after which the scheduler catches up.
    mutating func catchUp() {
        guarded.timePassed(at: now, wall: wall)
        plain.timePassed(at: now, wall: wall)
        noteGates()
    }

    mutating func noteGates() {
        closedBefore = (guarded.closed, guarded.strictlyClosed)
        for index in jobs.indices where jobs[index].state == .waiting && !jobs[index].wasDue {
            jobs[index].wasDue = jobs[index].request.earliestBegin.map { $0 <= wall } ?? true
        }
    }

    mutating func timePassed() throws(Violation) {
        log { _ in "time passed" }
        catchUp()
        try settle(core.timePassed(at: now), isTime: true)
    }

    /// Lets the time come, with everything that is due on the way, and no more steps than are left.
    mutating func pass(to time: Duration, within steps: Int = .max) throws(Violation) {
        let last = steps == .max ? Int.max : step + steps
        while step < last {
            let due = core.nextDeadline().map { max($0, now) }
            let event = agenda.next
            let next = [due, event?.time].compactMap(\.self).min()
            guard let next, next <= time else { break }
            now = max(now, next)
            // At the same moment, either may come first.
            if let event, event.time <= now, (due ?? .zero) > now || due == nil || dice.percent(50) {
                try play(event)
            } else {
                try timePassed()
            }
        }
        guard step < last else { return }
        now = max(now, time)
    }

    // MARK: Jobs

    func index(of id: JobID) -> Int? {
        var low = 0
        var high = jobs.count
        while low < high {
            let middle = (low + high) / 2
            if jobs[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < jobs.count && jobs[low].id == id ? low : nil
    }

    func isAvailable(_ program: Int) -> Bool {
        globalStatus == .available && programs[program].status == .available
    }

    // MARK: Telling

    func broken(_ invariant: Invariant, _ id: JobID?, _ sentence: String) -> Violation {
        Violation(seed: seed, step: step, invariant: invariant, job: id?.rawValue, sentence: sentence)
    }

    mutating func log(_ text: (Simulation) -> String) {
        guard isTraced else { return }
        trace.append("\(step) \(now) \(text(self))")
    }

    private func text(_ action: SchedulerAction) -> String {
        switch action {
        case .launch(let id, let launch):
            let request = launch.request
            return "launch [\(id)] \(request.identifier) \(request.kind.rawValue) attempt \(launch.attempt) on "
                + "\(launch.device ?? "cpu") \(launch.terms.priority.rawValue)\(launch.isSimulated ? " simulated" : "")"
        case .pause(let id, let releasing): return "pause [\(id)] releasing \(releasing)"
        case .resume(let id, let terms): return "resume [\(id)] \(terms.priority.rawValue)"
        case .setTerms(let id, let terms): return "terms [\(id)] \(terms.priority.rawValue) \(terms.dutyCycle)"
        case .moveToCPU(let id): return "move [\(id)] to the CPU"
        case .expire(let id, let reason, let deadline): return "expire [\(id)] \(reason.code) until \(deadline)"
        case .kill(let id): return "kill [\(id)]"
        case .requeue(let id, let notBefore): return "requeue [\(id)] not before \(notBefore)"
        case .end(let id, let outcome): return "end [\(id)] \(outcome.code)"
        case .dismiss(let id): return "dismiss [\(id)]"
        case .note(let id, let note): return "note [\(id)] \(note)"
        }
    }

    private mutating func mix(_ action: SchedulerAction) {
        let (tag, id, extra): (UInt64, JobID, UInt64) =
            switch action {
            case .launch(let id, let launch): (1, id, UInt64(launch.attempt) + UInt64(launch.device?.utf8.last ?? 0))
            case .pause(let id, let releasing): (2, id, releasing ? 1 : 0)
            case .resume(let id, let terms): (3, id, terms.dutyCycle.bitPattern)
            case .setTerms(let id, let terms): (4, id, terms.dutyCycle.bitPattern)
            case .moveToCPU(let id): (5, id, 0)
            case .expire(let id, let reason, _): (6, id, UInt64(reason.code.utf8.count))
            case .kill(let id): (7, id, 0)
            case .requeue(let id, _): (8, id, 0)
            case .end(let id, let outcome): (9, id, UInt64(outcome.code.utf8.count))
            case .dismiss(let id): (10, id, 0)
            case .note(let id, _): (11, id, 0)
            }
        for value in [tag, id.rawValue, extra, UInt64(bitPattern: now.components.seconds)] {
            digest = (digest ^ value) &* 0x0000_0100_0000_01B3
            digest ^= digest >> 29
        }
    }
}
