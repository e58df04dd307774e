/// How much of the processors background work may take where its weight does not put it behind everybody.
///
/// The kernel compares weights among neighbours only: the lowest weight within a person's systemd manager is still an equal
/// share beside the person's other sessions. What others want cannot be read while they are held back, so it is tried: with
/// no idle time left, the work is cut back, and what it leaves is either taken by others, which means more of that, or lies
/// idle, which means that nobody was held back.
package struct SpareProcessors: Sendable {
    /// Sums of processor time since some moment, and that moment's distance.
    package struct Reading: Sendable {
        package var at: Duration
        /// Of all processors together, in which they had nothing to do.
        package var idle: Duration
        /// Of the work itself.
        package var own: Duration

        package init(at: Duration, idle: Duration, own: Duration) {
            self.at = at
            self.idle = idle
            self.own = own
        }
    }

    private struct Trial {
        var limitBefore: Double?
        var ownBefore: Double
        var othersBefore: Double
    }

    /// Processors that others have to use before the work is cut back: who wants less finds its place by itself.
    private static let least = 0.25
    /// Of all processors: less idle time is none, as finely as it is counted.
    private static let headroom = 0.05
    /// Of all processors, which the work has in any case, so that it ends one day.
    private static let floor = 0.005
    /// What is left to the work by a trial: little, for every trial that others waited for costs them time.
    private static let cut = 0.25
    /// Of what was left to others, which they have to take for having been held back.
    private static let takenShare = 0.3
    /// Others that use so many more processors than at the last trial are other work.
    private static let change = 0.2
    /// Between trials that showed that nobody was held back. In it, nobody can tell others that want more from others that
    /// want as much as they get.
    private static let pause: Duration = .seconds(2)

    private let processors: Double
    private var last: Reading?
    private var trial: Trial?
    /// Until then no trial, unless others change.
    private var pauseEnd: Duration = .zero
    private var othersAtPause = 0.0
    /// Processors that the work may use; nil for all.
    package private(set) var limit: Double?

    package init(processors: Int) { self.processors = Double(max(processors, 1)) }

    /// Takes a look, ten times a second or so.
    ///
    /// - Parameter reading: How far the sums are now. One that fell behind the last begins anew.
    package mutating func look(_ reading: Reading) {
        guard let last, reading.at > last.at, reading.idle >= last.idle, reading.own >= last.own else {
            self.last = reading
            return
        }
        self.last = reading
        let time = reading.at - last.at
        let idle = (reading.idle - last.idle) / time
        let own = (reading.own - last.own) / time
        let others = processors - idle - own
        let headroom = Self.headroom * processors
        if let trial {
            self.trial = nil
            let left = max(trial.ownBefore - own, 0)
            if idle >= headroom, left >= headroom, others - trial.othersBefore < Self.takenShare * left {
                limit = trial.limitBefore
                othersAtPause = others
                return pauseEnd = reading.at + Self.pause
            }
        }
        if idle >= headroom {
            grow(to: own + idle - headroom / 2)
        } else if others < Self.least {
            limit = nil
        } else if own > 2 * Self.floor * processors,
            reading.at >= pauseEnd || others > othersAtPause + Self.change
        {
            trial = Trial(limitBefore: limit, ownBefore: own, othersBefore: others)
            limit = max(min(own, limit ?? processors) * Self.cut, Self.floor * processors)
        }
    }

    private mutating func grow(to wanted: Double) {
        guard let limit else { return }
        self.limit = wanted < processors * (1 - Self.headroom) ? max(wanted, limit) : nil
    }
}
