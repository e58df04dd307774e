import SchedulingCore
import TaskModel

/// Plays a job against simulated workers and simulated time, and takes down everything that was decided.
struct JobSimulation {
    /// What an item does to its worker.
    enum Behaviour {
        case good, bad, hungry, deviceBreaks
        case crashes(Int32)
        /// Silent for ever.
        case hangs
    }

    private enum Event {
        case item(worker: Int, Behaviour, JobMachine.Terms, version: Int)
        case sign(worker: Int)
        case killed(worker: Int)
        case stop(StopReason, within: Duration?)
        case allow(Int)
        case pause
        case resume
        case leaveDevice
        case halted(worker: Int)
        case withdraw(worker: Int)
    }

    /// What a person or a scheduler does with the job.
    enum Order {
        case stop(StopReason, within: Duration)
        case allow(Int)
        case pause
        case resume
        case leaveDevice
    }

    private struct InFlight {
        var item: Int
        var terms: JobMachine.Terms
        /// When its end comes while it goes on; the time left while it stands still.
        var end: Duration
        var left: Duration?
        /// Tells an end that was put off from the one that counts.
        var version = 0
        var halts = false
        var givesUp = false
    }

    /// Until a worker hears that it is to leave an item.
    static let latency: Duration = .milliseconds(20)

    private(set) var machine: JobMachine
    private(set) var now: Duration = .zero
    private(set) var runs: [(item: Int, terms: JobMachine.Terms, at: Duration)] = []
    private(set) var settled: [Int: [JobMachine.Settlement]] = [:]
    private(set) var outcomes: [TaskOutcome] = []
    private(set) var mostInFlight = 0
    /// Something ran beside an item that was to be alone, or a worker had two.
    private(set) var broken: [String] = []
    /// When the job said that everything stands still.
    private(set) var pauses: [Duration] = []
    /// Items that their workers began by themselves.
    private(set) var begunAhead = 0
    /// Items that were taken back.
    private(set) var takenBack = 0
    private var inFlight: [Int: InFlight] = [:]
    /// Items that workers have ahead.
    private var ahead: [Int: (item: Int, terms: JobMachine.Terms)] = [:]
    /// Items that workers have begun, until the job knows.
    private var begun: [Int: Int] = [:]
    private var allowed: Int
    private var mayRun = true
    private var isStopping = false
    private var agenda: [(time: Duration, order: Int, event: Event)] = []
    private var order = 0
    /// Where the versions of the next item begin.
    private var versions = 0
    private let behaviour: (Int) -> Behaviour
    private let itemTime: (Int) -> Duration

    init(
        items: Int, limits: JobMachine.Limits, lanes: LanePolicy = LanePolicy(.cpu, deviceIsUsable: false),
        behaviour: @escaping (Int) -> Behaviour = { _ in .good },
        itemTime: @escaping (Int) -> Duration = { _ in .milliseconds(100) }
    ) {
        machine = JobMachine(itemCount: items, limits: limits, lanes: lanes)
        allowed = limits.workers
        self.behaviour = behaviour
        self.itemTime = itemTime
    }

    mutating func stop(_ reason: StopReason, at time: Duration) {
        schedule(.stop(reason, within: nil), at: time)
    }

    mutating func order(_ order: Order, at time: Duration) {
        switch order {
        case .stop(let reason, let limit): schedule(.stop(reason, within: limit), at: time)
        case .allow(let count): schedule(.allow(count), at: time)
        case .pause: schedule(.pause, at: time)
        case .resume: schedule(.resume, at: time)
        case .leaveDevice: schedule(.leaveDevice, at: time)
        }
    }

    mutating func run() {
        perform(machine.start(at: now))
        while outcomes.isEmpty {
            let next = agenda.indices.min { (agenda[$0].time, agenda[$0].order) < (agenda[$1].time, agenda[$1].order) }
            if let deadline = machine.nextDeadline, next.map({ deadline <= agenda[$0].time }) ?? true {
                now = max(now, deadline)
                perform(machine.timePassed(now: now))
                continue
            }
            guard let next else {
                broken.append("nothing is left to happen and the job has not ended")
                return
            }
            let (time, _, event) = agenda.remove(at: next)
            now = max(now, time)
            handle(event)
        }
        // Whatever comes late must be ignored.
        for entry in agenda { handle(entry.event) }
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .stop(let reason, let limit):
            isStopping = true
            perform(machine.stop(reason, within: limit, at: now))
        case .allow(let count):
            allowed = count
            perform(machine.allow(concurrency: count, at: now))
        case .pause:
            mayRun = false
            perform(machine.pause(at: now))
        case .resume:
            mayRun = true
            perform(machine.resume(at: now))
        case .leaveDevice:
            perform(machine.leaveDevice(at: now))
        case .halted(let worker):
            guard inFlight[worker]?.halts == true else { return }
            perform(machine.halted(worker: worker, at: now))
        case .withdraw(let worker):
            guard ahead.removeValue(forKey: worker) != nil else { return }
            takenBack += 1
            perform(machine.withdrawn(worker: worker, at: now))
        case .sign(let worker):
            machine.progressed(worker: worker, at: now)
        case .killed(let worker):
            (inFlight[worker], ahead[worker]) = (nil, nil)
            perform(machine.workerDied(worker: worker, .signaled(9), at: now))
        case .item(let worker, let behaviour, let terms, let version):
            guard let current = inFlight[worker], current.terms == terms, current.version == version else { return }
            inFlight[worker] = nil
            if case .crashes(let signal) = behaviour, !current.givesUp {
                ahead[worker] = nil
                return perform(machine.workerDied(worker: worker, .signaled(signal), at: now))
            }
            if let next = ahead.removeValue(forKey: worker) {
                begunAhead += 1
                begun[worker] = next.item
                begin(next.item, next.terms, on: worker)
                // What was said to it last holds.
                if current.givesUp { giveUp(worker) }
            }
            if current.givesUp { return perform(machine.itemFinished(worker: worker, .givenUp, at: now)) }
            switch behaviour {
            case .good: perform(machine.itemFinished(worker: worker, .made(megapixels: 24), at: now))
            case .bad: perform(machine.itemFinished(worker: worker, .failed, at: now))
            case .hungry:
                let verdict: JobMachine.Verdict = terms.alone ? .made(megapixels: 24) : .needsMemory
                perform(machine.itemFinished(worker: worker, verdict, at: now))
            case .deviceBreaks:
                let verdict: JobMachine.Verdict = terms.lane == .device ? .deviceFailed : .made(megapixels: 24)
                perform(machine.itemFinished(worker: worker, verdict, at: now))
            case .crashes, .hangs: break
            }
        }
    }

    private mutating func perform(_ actions: [JobMachine.Action]) {
        for action in actions {
            switch action {
            case .run(let item, let worker, let terms):
                if inFlight[worker] != nil { broken.append("worker \(worker) was given \(item) beside another") }
                if terms.alone && !inFlight.isEmpty { broken.append("\(item) was to run alone") }
                if inFlight.values.contains(where: \.terms.alone) {
                    broken.append("\(item) joined one that runs alone")
                }
                let going = inFlight.values.count { !$0.halts }
                if !mayRun { broken.append("\(item) was handed out in a pause") }
                if going >= allowed { broken.append("\(item) was handed out beside \(going), allowed are \(allowed)") }
                if going < inFlight.count { broken.append("\(item) was handed out before halted ones went on") }
                begin(item, terms, on: worker)
            case .runAfter(let item, let worker, let terms):
                if inFlight[worker] == nil { broken.append("\(item) was to follow nothing on worker \(worker)") }
                if ahead[worker] != nil { broken.append("worker \(worker) was given \(item) beside two others") }
                if terms.alone || terms.lane == .device { broken.append("\(item) was handed out ahead") }
                if !mayRun || isStopping { broken.append("\(item) was handed out in a pause or after a stop") }
                ahead[worker] = (item, terms)
            case .began(let item, let worker):
                if begun.removeValue(forKey: worker) != item { broken.append("\(item) did not begin") }
            case .withdraw(let worker):
                schedule(.withdraw(worker: worker), at: now + Self.latency)
            case .halt(let worker):
                guard var current = inFlight[worker] else { continue }
                current.halts = true
                current.version += 1
                current.left = max(current.end - now, .milliseconds(1))
                inFlight[worker] = current
                if !hangs(current.item) { schedule(.halted(worker: worker), at: now + .milliseconds(2)) }
            case .goOn(let worker):
                goOn(worker, in: inFlight[worker]?.left)
            case .giveUp(let worker):
                giveUp(worker)
            case .paused:
                if mayRun { broken.append("a pause was told that nobody wanted any more") }
                pauses.append(now)
            case .kill(let worker):
                schedule(.killed(worker: worker), at: now + .milliseconds(1))
            case .settle(let item, let settlement):
                settled[item, default: []].append(settlement)
            case .finish(let outcome):
                outcomes.append(outcome)
            }
        }
    }

    private mutating func begin(_ item: Int, _ terms: JobMachine.Terms, on worker: Int) {
        inFlight[worker] = InFlight(item: item, terms: terms, end: now + itemTime(item), version: versions)
        versions += 10
        mostInFlight = max(mostInFlight, inFlight.count)
        runs.append((item, terms, now))
        let behaviour = behaviour(item)
        if case .hangs = behaviour { return }
        schedule(.sign(worker: worker), at: now + itemTime(item) / 2)
        schedule(.item(worker: worker, behaviour, terms, version: versions - 10), at: now + itemTime(item))
    }

    private mutating func giveUp(_ worker: Int) {
        inFlight[worker]?.givesUp = true
        goOn(worker, in: .milliseconds(3))
    }

    private func hangs(_ item: Int) -> Bool {
        if case .hangs = behaviour(item) { true } else { false }
    }

    private mutating func goOn(_ worker: Int, in time: Duration?) {
        guard var current = inFlight[worker] else { return }
        current.halts = false
        current.left = nil
        current.version += 1
        current.end = now + (time ?? .zero)
        inFlight[worker] = current
        if hangs(current.item) { return }
        schedule(
            .item(worker: worker, behaviour(current.item), current.terms, version: current.version), at: current.end)
    }

    private mutating func schedule(_ event: Event, at time: Duration) {
        agenda.append((time, order, event))
        order += 1
    }
}
