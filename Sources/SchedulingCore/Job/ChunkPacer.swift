/// Divides the time of one worker into chunks and rests, between the bands of its items (rules 88, 89 and 94).
///
/// A chunk is what is done within ``RunTerms/chunkTarget`` of wall time. Times are those of any clock that never goes
/// back; the caller brings them along.
package struct ChunkPacer: Sendable {
    package enum Step: Hashable, Sendable {
        case goOn
        /// Do nothing until then, unless told otherwise, and ask again.
        case rest(until: Duration)
        /// Do nothing until told otherwise, and ask again.
        case halt
        /// Leave the item as it is.
        case giveUp
    }

    private var chunkTarget: Duration
    /// Time of rest for each unit of time at work.
    private var restShare: Double
    private var chunkBegin: Duration = .zero
    private var restEnd: Duration?
    /// Time at work in the chunk that the last item left unfinished.
    private var carried: Duration = .zero
    private var isHalted = false
    /// Set once the item in work has to end by then.
    private var limit: Duration?
    private var givesUp = false
    private var itemBegin: Duration = .zero
    /// Time that the item in work stood still.
    private var stoodStill: Duration = .zero
    private var standsStillSince: Duration?

    /// Makes a pacer that never rests.
    package init() {
        chunkTarget = .zero
        restShare = 0
    }

    /// From now on: so much work at a time, and so large a share of the time, above 0 and at most 1.
    package mutating func setTerms(chunkTarget: Duration, dutyCycle: Double, at now: Duration) {
        precondition(dutyCycle > 0, "work that may take no time at all is paused")
        self.chunkTarget = chunkTarget
        restShare = 1 / min(dutyCycle, 1) - 1
        // A rest by the old terms ends here; the new ones hold from the next chunk.
        if restEnd != nil { endRest(at: now) }
    }

    package mutating func itemBegins(at now: Duration) {
        itemBegin = now
        stoodStill = .zero
        standsStillSince = nil
        limit = nil
        givesUp = false
        isHalted = false
        restEnd = nil
        chunkBegin = now - carried
    }

    package mutating func itemEnds(at now: Duration) {
        carried = restEnd == nil ? min(max(now - chunkBegin, .zero), chunkTarget) : .zero
    }

    package mutating func halt() { isHalted = true }

    package mutating func goOn(at now: Duration) {
        guard isHalted else { return }
        isHalted = false
        endRest(at: now)
    }

    /// The item in work is given up unless it can be done by then.
    package mutating func finish(by limit: Duration) {
        self.limit = min(limit, self.limit ?? limit)
        isHalted = false
    }

    package mutating func giveUp() { givesUp = true }

    /// What to do between two bands; `fraction` of the item is done, 0 ... 1.
    package mutating func step(fraction: Double, at now: Duration) -> Step {
        if givesUp { return .giveUp }
        if let limit {
            stillness(ends: now)
            let active = now - itemBegin - stoodStill
            let left = fraction > 0 ? active * ((1 - min(fraction, 1)) / fraction) : .seconds(3600)
            return now >= limit || now + left > limit ? .giveUp : .goOn
        }
        if isHalted {
            standsStillSince = standsStillSince ?? now
            return .halt
        }
        if let restEnd {
            if now < restEnd { return .rest(until: restEnd) }
            endRest(at: now)
        }
        let active = now - chunkBegin
        guard restShare > 0, active >= chunkTarget else { return .goOn }
        let end = now + active * restShare
        restEnd = end
        standsStillSince = now
        return .rest(until: end)
    }

    private mutating func endRest(at now: Duration) {
        restEnd = nil
        carried = .zero
        chunkBegin = now
        stillness(ends: now)
    }

    private mutating func stillness(ends now: Duration) {
        if let since = standsStillSince { stoodStill += now - since }
        standsStillSince = nil
    }
}
