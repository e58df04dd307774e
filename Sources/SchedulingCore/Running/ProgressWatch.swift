import TaskModel

/// Watches the progress of one running task: alive or stalled, slow or not, and how long it will take
/// (rules 60 to 63 and 67).
///
/// Rates are per unit of effort, which is the share of the machine the task may use, so that pacing by the scheduler
/// never counts as slow. They are measured from the first fraction of the run on: what a resumed task had done before
/// is no progress of this run.
package struct ProgressWatch: Sendable {
    package struct Limits: Hashable, Sendable {
        package var background: Duration = .seconds(60)
        package var foreground: Duration = .seconds(300)
        /// A task may be silent for so many of its recent chunks.
        package var chunkFactor = 8
        package var longest: Duration = .seconds(900)
        /// Below this share of its own earlier rate it is slow.
        package var slowShare = 0.25
        /// A rate is judged over at least this much.
        package var slowWindow: Duration = .seconds(60)

        package init() {}
    }

    package enum Note: Hashable, Sendable {
        /// The fraction fell; it is tolerated, and told once for each fall.
        case fell(from: Double, to: Double)
        /// The recent rate as a share of the earlier one.
        case slow(share: Double)
    }

    private struct Sample: Sendable {
        var effortSeconds: Double
        var time: Duration
        var fraction: Double
    }

    private let limits: Limits
    /// 0 ... 1; nil as long as the total is not known (rule 64).
    package private(set) var fraction: Double?
    package private(set) var lastProgress: Duration
    private var lastSign: Duration
    /// Silence up to ``silentSince``, by effort: a task that may do half as much may be silent for twice as long.
    private var silentWork: Duration = .zero
    private var silentSince: Duration
    private var phases: Set<String> = []
    /// Of the latest sign of progress, by effort.
    private var recentWork: Duration = .zero
    private var effort = 1.0
    private var effortSeconds = 0.0
    private var effortSince: Duration
    private var samples: [Sample] = []
    private var isSlow = false
    private static let maxSamples = 128

    package init(limits: Limits = Limits(), at now: Duration) {
        self.limits = limits
        lastProgress = now
        lastSign = now
        silentSince = now
        effortSince = now
    }

    /// Chunks were committed or a count went up, the total being known (`fraction` 0 ... 1) or not (nil).
    package mutating func progressed(to fraction: Double?, at now: Duration) -> [Note] {
        recentWork = silentWork + (now - silentSince) * pace
        lastProgress = now
        noteSign(at: now)
        guard let fraction else { return [] }
        let clamped = min(max(fraction.isFinite ? fraction : 0, 0), 1)
        let before = self.fraction
        self.fraction = clamped
        advanceEffort(to: now)
        let sample = Sample(effortSeconds: effortSeconds, time: now, fraction: clamped)
        guard let before, clamped >= before else {
            // The first, or the total grew: rates are measured from here.
            samples = [sample]
            return before.map { [.fell(from: $0, to: clamped)] } ?? []
        }
        samples.append(sample)
        if samples.count > Self.maxSamples { thin() }
        return slowNote()
    }

    /// A phase that shows no progress began; it proves life, once for each phase (rule 62).
    ///
    /// - Returns: Whether it counted.
    package mutating func heartbeat(phase: String, at now: Duration) -> Bool {
        guard phases.insert(phase).inserted else { return false }
        noteSign(at: now)
        return true
    }

    /// The share of the machine that the task may use changed: 0 while it is paused.
    package mutating func setEffort(_ effort: Double, at now: Duration) {
        advanceEffort(to: now)
        silentWork += (now - silentSince) * pace
        silentSince = now
        // Time in which it could not work is no silence.
        if self.effort == 0, effort > 0 { noteSign(at: now) }
        self.effort = effort
    }

    private mutating func noteSign(at now: Duration) {
        lastSign = now
        silentWork = .zero
        silentSince = now
    }

    /// Effort as silence is measured by it.
    private var pace: Double { effort == 0 ? 0 : max(effort, 0.05) }

    /// Longest silence allowed now (rule 61). Pacing stretches it.
    package func stallLimit(isForeground: Bool) -> Duration {
        stallTimes(isForeground: isForeground).map { $0.limit - lastSign } ?? limits.longest
    }

    /// When half of the allowed silence is over, and when all of it; nil while the task is paused.
    package func stallTimes(isForeground: Bool) -> (warning: Duration, limit: Duration)? {
        guard effort > 0 else { return nil }
        let work = max(isForeground ? limits.foreground : limits.background, recentWork * limits.chunkFactor)
        func time(of work: Duration, atMost longest: Duration) -> Duration {
            min(silentSince + (work - silentWork) / pace, lastSign + longest)
        }
        return (time(of: work / 2, atMost: limits.longest / 2), time(of: work, atMost: limits.longest))
    }

    package func silence(at now: Duration) -> Duration { now - lastSign }

    /// Seconds left from recent and overall rates at the present effort; nil before there is a rate.
    package func secondsLeft() -> ClosedRange<Double>? {
        guard let last = samples.last, let first = samples.first, effort > 0 else { return nil }
        let recent = samples[max(samples.count - 8, 0)]
        let rates = [first, recent].compactMap { rate(from: $0, to: last) }.filter { $0 > 0 }
        guard let slowest = rates.min(), let fastest = rates.max() else { return nil }
        let left = 1 - last.fraction
        return left / (fastest * effort)...left / (slowest * effort)
    }

    private mutating func advanceEffort(to now: Duration) {
        effortSeconds += (now - effortSince).inSeconds * effort
        effortSince = now
    }

    private func rate(from first: Sample, to last: Sample) -> Double? {
        let seconds = last.effortSeconds - first.effortSeconds
        return seconds > 0 ? (last.fraction - first.fraction) / seconds : nil
    }

    private mutating func slowNote() -> [Note] {
        guard let last = samples.last, last.fraction < 1, let first = samples.first,
            let middle = samples.last(where: { last.time - $0.time >= limits.slowWindow }),
            middle.time - first.time >= limits.slowWindow,
            let earlier = rate(from: first, to: middle), let recent = rate(from: middle, to: last), earlier > 0
        else { return [] }
        let share = recent / earlier
        defer { isSlow = share < limits.slowShare }
        return share < limits.slowShare && !isSlow ? [.slow(share: share)] : []
    }

    /// Keeps every second sample of the older half.
    private mutating func thin() {
        let half = samples.count / 2
        samples = samples[..<half].enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element) + samples[half...]
    }
}
