import SchedulingCore
import TaskModel

/// A task that only pretends to work: its work goes on with the share of the machine that its terms allow.
struct VirtualTask: Sendable {
    enum State: Sendable, Equatable {
        case working
        /// Works until it has reached its next commit point.
        case pausing(at: Duration)
        case paused
        /// nil for a task that does not listen.
        case expiring(endsAt: Duration?)
    }

    /// What it has to tell the scheduler.
    enum Report: Sendable, Equatable {
        case progress(Double)
        case paused
        case completed(success: Bool)
        case lostDevice
        case broke
    }

    /// A task says how far it is this often; half of the allowed silence would bring a warning.
    static let reportInterval: Duration = .seconds(20)
    /// Work below this, in seconds of the whole machine, is done.
    private static let least = 1e-6

    let work: VirtualRequest
    /// Seconds of the whole machine.
    private(set) var left: Double
    private let leftAtLaunch: Double
    private(set) var state: State = .working
    var terms: RunTerms
    var device: String?
    private(set) var chunks: Double
    /// Work done in a second of time.
    private(set) var rate = 0.0
    private var nextReport: Duration
    private var hasBehaved: Bool
    private var isSilent = false
    private var speed = 1.0

    /// - Parameters:
    ///   - work: What it pretends to do.
    ///   - left: What earlier attempts have left of it.
    ///   - launch: How it was launched.
    ///   - chunks: Those of earlier attempts.
    ///   - now: When it was launched.
    init(_ work: VirtualRequest, left: Double, _ launch: SchedulerAction.Launch, chunks: Double, at now: Duration) {
        self.work = work
        self.left = left
        leftAtLaunch = left
        self.chunks = chunks
        terms = launch.terms
        device = launch.device
        nextReport = now + Self.reportInterval
        // A device fails a task once; a crash would come again.
        if case .losesDevice = work.behaviour { hasBehaved = launch.attempt > 1 } else { hasBehaved = false }
    }

    /// Of what this attempt has to do.
    var fraction: Double { leftAtLaunch > 0 ? 1 - left / leftAtLaunch : 1 }

    var isAtWork: Bool {
        switch state {
        case .working, .pausing: !isSilent
        case .expiring(let endsAt): endsAt == nil && !isSilent
        case .paused: false
        }
    }

    /// Share of the machine that its terms allow.
    func effort(cores: Int) -> Double { terms.dutyCycle * Double(terms.concurrency) / Double(cores) }

    mutating func setRate(_ rate: Double) { self.rate = isAtWork ? rate * speed : 0 }

    mutating func advance(by time: Duration) {
        guard rate > 0 else { return }
        left = max(left - rate * time.inSeconds, 0)
        chunks += time / terms.chunkTarget * terms.dutyCycle * Double(terms.concurrency)
    }

    // MARK: Orders

    mutating func pause(at now: Duration) {
        if state == .working { state = .pausing(at: now + terms.chunkTarget) }
    }

    mutating func resume(_ terms: RunTerms, at now: Duration) {
        switch state {
        case .paused, .pausing:
            state = .working
            self.terms = terms
            nextReport = now + Self.reportInterval
        case .working, .expiring: break
        }
    }

    mutating func expire(at now: Duration) {
        state = .expiring(endsAt: work.behaviour == .ignoresExpiration ? nil : now + work.ends)
    }

    // MARK: Reports

    /// When it has something to tell, if nothing changes before.
    func nextMoment(after now: Duration) -> Duration? {
        var times: [Duration] = []
        switch state {
        case .pausing(let at): times.append(at)
        case .expiring(let endsAt): if let endsAt { times.append(endsAt) }
        case .working: if !isSilent { times.append(nextReport) }
        case .paused: break
        }
        if rate > 0 {
            let goal = hasBehaved ? 0 : point ?? 0
            times.append(now + Self.roundedUp(max(left - goal, 0) / rate))
            if !hasBehaved, let point, left <= point { times.append(now) }
        }
        return times.min()
    }

    /// What it has to tell now, one thing at a time; nil when nothing is due.
    mutating func due(at now: Duration) -> Report? {
        if case .expiring(let endsAt?) = state, endsAt <= now { return .completed(success: left <= Self.least) }
        if isAtWork, !hasBehaved, let point, left <= point + Self.least {
            hasBehaved = true
            switch work.behaviour {
            case .fails: return .completed(success: false)
            case .stalls: isSilent = true
            case .slows: speed = 0.1
            case .losesDevice: if device != nil { return .lostDevice }
            case .breaks: return .broke
            case .completes, .ignoresExpiration: break
            }
        }
        if isAtWork, left <= Self.least {
            left = 0
            return .completed(success: true)
        }
        if case .pausing(let at) = state, at <= now {
            state = .paused
            return .paused
        }
        if state == .working, !isSilent, nextReport <= now {
            nextReport = now + Self.reportInterval
            return .progress(fraction)
        }
        return nil
    }

    /// Work that is left when it behaves as it is described to.
    private var point: Double? {
        let total = work.work.inSeconds
        return switch work.behaviour {
        case .fails(let share), .stalls(let share), .slows(let share), .losesDevice(let share), .breaks(let share):
            total * (1 - share)
        case .completes, .ignoresExpiration: nil
        }
    }

    /// Microseconds, so that a task is not a moment short of its end.
    private static func roundedUp(_ seconds: Double) -> Duration {
        .microseconds(Int64((min(seconds, 1e9) * 1e6).rounded(.up)))
    }
}
