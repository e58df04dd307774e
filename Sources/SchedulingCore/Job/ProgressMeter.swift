package import TaskModel

/// Estimates speed and time left from what was done lately, parts of items included: an item may take longer than any span
/// over which a rate is taken, and several may end within a moment after a long while.
///
/// An item weighs what is known of it before it is opened (the bytes of its file). Items that had not to be done
/// count as done, each as much as one of the others on average, but say nothing about speed.
package struct ProgressMeter: Sendable {
    private struct Sample: Sendable {
        var time: Duration
        var weight: Double
        var megapixels: Double
    }

    /// Spans in seconds over which rates are taken; the slowest and the fastest give the range.
    private static let spans: [Double] = [5, 20, 60]
    /// Samples lie about this far apart, so that a minute has some hundreds of them however short the items are.
    private static let grain: Duration = .milliseconds(250)
    /// Before an item is finished, a rate takes so many seconds.
    private static let firstSeconds = 2.0

    private let itemsTotal: Int
    private let totalWeight: Double
    private var itemsDone = 0
    private var itemsSkipped = 0
    private var failures = 0
    private var doneWeight = 0.0
    private var doneMegapixels = 0.0
    /// Running totals, parts of items included, oldest first; the first stands for the start, the last for the latest news.
    private var history: [Sample] = [Sample(time: .zero, weight: 0, megapixels: 0)]
    private var inFlight: [Int: Double] = [:]
    private var highestFraction = 0.0

    /// `totalWeight` is that of the items which need work.
    package init(itemsTotal: Int, totalWeight: Double) {
        self.itemsTotal = itemsTotal
        self.totalWeight = totalWeight
    }

    /// Counts an item that needed no work.
    package mutating func skipped(failed: Bool) {
        itemsDone += 1
        itemsSkipped += 1
        failures += failed ? 1 : 0
    }

    /// So much of a worker's item is done, 0 ... 1.
    package mutating func progressed(worker: Int, weight: Double, fraction: Double, at now: Duration) {
        inFlight[worker] = weight * min(max(fraction, 0), 1)
        note(at: now)
    }

    /// A worker's item ended; `failures` tells of each of its inputs whether it failed.
    package mutating func finished(
        worker: Int, weight: Double, megapixels: Double, failures failed: [Bool], at now: Duration
    ) {
        inFlight[worker] = nil
        itemsDone += failed.count
        failures += failed.count { $0 }
        doneWeight += weight
        doneMegapixels += megapixels
        note(at: now)
    }

    /// What is done of all items, and of those in work.
    private var progress: Double { doneWeight + inFlight.values.reduce(0, +) }

    private mutating func note(at now: Duration) {
        let sample = Sample(time: now, weight: progress, megapixels: doneMegapixels)
        if history.count > 1, now - history[history.count - 2].time < Self.grain {
            history[history.count - 1] = sample
        } else {
            history.append(sample)
            forgetOldest(at: now)
        }
    }

    /// Samples that are kept, which do not grow in number with the items.
    package var sampleCount: Int { history.count }

    /// Keeps one sample from before the longest span, and those in it.
    private mutating func forgetOldest(at now: Duration) {
        let horizon = now - .seconds(Self.spans[Self.spans.count - 1])
        // All at once from time to time: each removal moves what is left.
        let newer = history.firstIndex { $0.time > horizon } ?? history.count
        if newer > 64 { history.removeFirst(newer - 1) }
    }

    /// The worker's item will be done again or never.
    package mutating func abandoned(worker: Int) {
        inFlight[worker] = nil
    }

    /// Nothing was done for so long: that time says nothing about speed.
    package mutating func stoodStill(for time: Duration) {
        for index in history.indices { history[index].time += time }
    }

    /// From now on the work has another share of the machine: what was before says nothing about the time left
    /// (rule 67).
    package mutating func shareChanged(at now: Duration) {
        history = [Sample(time: now, weight: progress, megapixels: doneMegapixels)]
    }

    package mutating func snapshot(at now: Duration) -> ProgressSnapshot {
        let progress = progress
        let worked = totalWeight > 0 ? progress / totalWeight : 0
        let skipped = itemsTotal > 0 ? Double(itemsSkipped) / Double(itemsTotal) : 0
        let fraction = itemsDone == itemsTotal ? 1 : min(skipped + (1 - skipped) * worked, 0.999)
        // An item that is done again must not make the bar go back.
        highestFraction = max(highestFraction, fraction)
        let rates = Self.spans.compactMap { rate(over: $0, at: now) }
        let left = max(totalWeight - progress, 0)
        let speeds = rates.map(\.weight).filter { $0 > 0 }
        var secondsLeft: ClosedRange<Double>?
        if let slowest = speeds.min(), let fastest = speeds.max() {
            secondsLeft = left / fastest...left / slowest
        }
        return ProgressSnapshot(
            itemsDone: itemsDone, itemsTotal: itemsTotal, failures: failures, fraction: highestFraction,
            megapixelsPerSecond: rates.first?.megapixels ?? 0, secondsLeft: secondsLeft)
    }

    /// Weight and megapixels per second from the last sample before the span up to now.
    private func rate(over seconds: Double, at now: Duration) -> (weight: Double, megapixels: Double)? {
        guard history.count > 1 else { return nil }
        let begin = now - .seconds(seconds)
        let first = history.last { $0.time <= begin } ?? history[0]
        let span = (now - first.time).inSeconds
        // The first moments of the first items go into what is done once.
        guard span > 0, doneWeight > 0 || span >= Self.firstSeconds else { return nil }
        return ((progress - first.weight) / span, (doneMegapixels - first.megapixels) / span)
    }
}
