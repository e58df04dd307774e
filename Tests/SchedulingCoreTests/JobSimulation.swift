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
        case item(worker: Int, Behaviour, JobMachine.Terms)
        case sign(worker: Int)
        case killed(worker: Int)
        case stop(StopReason)
    }

    private(set) var machine: JobMachine
    private(set) var now: Duration = .zero
    private(set) var runs: [(item: Int, terms: JobMachine.Terms, at: Duration)] = []
    private(set) var settled: [Int: [JobMachine.Settlement]] = [:]
    private(set) var outcomes: [TaskOutcome] = []
    private(set) var mostInFlight = 0
    /// Something ran beside an item that was to be alone, or a worker had two.
    private(set) var broken: [String] = []
    private var inFlight: [Int: (item: Int, terms: JobMachine.Terms)] = [:]
    private var agenda: [(time: Duration, order: Int, event: Event)] = []
    private var order = 0
    private let behaviour: (Int) -> Behaviour
    private let itemTime: (Int) -> Duration

    init(
        items: Int, limits: JobMachine.Limits, lanes: LanePolicy = LanePolicy(.cpu, deviceIsUsable: false),
        behaviour: @escaping (Int) -> Behaviour = { _ in .good },
        itemTime: @escaping (Int) -> Duration = { _ in .milliseconds(100) }
    ) {
        machine = JobMachine(itemCount: items, limits: limits, lanes: lanes)
        self.behaviour = behaviour
        self.itemTime = itemTime
    }

    mutating func stop(_ reason: StopReason, at time: Duration) {
        schedule(.stop(reason), at: time)
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
        case .stop(let reason):
            perform(machine.stop(reason, at: now))
        case .sign(let worker):
            machine.progressed(worker: worker, at: now)
        case .killed(let worker):
            inFlight[worker] = nil
            perform(machine.workerDied(worker: worker, .signaled(9), at: now))
        case .item(let worker, let behaviour, let terms):
            guard let current = inFlight[worker], current.terms == terms else { return }
            inFlight[worker] = nil
            switch behaviour {
            case .good: perform(machine.itemFinished(worker: worker, .made(megapixels: 24), at: now))
            case .bad: perform(machine.itemFinished(worker: worker, .failed, at: now))
            case .hungry:
                let verdict: JobMachine.Verdict = terms.alone ? .made(megapixels: 24) : .needsMemory
                perform(machine.itemFinished(worker: worker, verdict, at: now))
            case .deviceBreaks:
                let verdict: JobMachine.Verdict = terms.lane == .device ? .deviceFailed : .made(megapixels: 24)
                perform(machine.itemFinished(worker: worker, verdict, at: now))
            case .crashes(let signal):
                perform(machine.workerDied(worker: worker, .signaled(signal), at: now))
            case .hangs: break
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
                inFlight[worker] = (item, terms)
                mostInFlight = max(mostInFlight, inFlight.count)
                runs.append((item, terms, now))
                let behaviour = behaviour(item)
                if case .hangs = behaviour { continue }
                schedule(.sign(worker: worker), at: now + itemTime(item) / 2)
                schedule(.item(worker: worker, behaviour, terms), at: now + itemTime(item))
            case .kill(let worker):
                schedule(.killed(worker: worker), at: now + .milliseconds(1))
            case .settle(let item, let settlement):
                settled[item, default: []].append(settlement)
            case .finish(let outcome):
                outcomes.append(outcome)
            }
        }
    }

    private mutating func schedule(_ event: Event, at time: Duration) {
        agenda.append((time, order, event))
        order += 1
    }
}
