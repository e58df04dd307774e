/// How long background work leaves the processor to others that were seen to want it, between the bands of its items.
///
/// Where a weight puts the work last, waiting for the processor is nearly enough. Where the weight does not reach, as to
/// another session beside the person's systemd manager, the work would get its turn with everybody else, and only staying
/// away helps. Nothing tells which it is; so absences double while others leave the processors no idle time, and halve when
/// they do. For others that want little nobody stays away: who returns is owed a turn, and takes it when it hurts.
package struct GivingWay: Sendable {
    /// Who waited for so long in a yield waited for somebody who works.
    private static let shortestWait: Duration = .milliseconds(1)
    /// Longest absence after others that are not known to want more.
    private static let longestAtFirst: Duration = .milliseconds(50)
    /// Against turns of some milliseconds.
    private static let longest: Duration = .milliseconds(400)
    /// In which the share of others is looked at, and in which idle time is, which is counted in hundredths of a second.
    private static let window: Duration = .milliseconds(16)
    private static let idleWindow: Duration = .milliseconds(40)
    /// Of the time: others that have less want little.
    private static let leastShare = 0.25
    /// Of one processor's time: less is none.
    private static let leastIdle = 0.1
    /// Others that did not show for so long are gone.
    private static let memory: Duration = .milliseconds(100)

    /// Absence that the last ones led to.
    private var length: Duration = .zero
    /// Time away, and idle time of the processors in it, that have led to nothing yet.
    private var away: Duration = .zero
    private var idle: Duration = .zero
    private var returned: Duration = .zero
    /// When the window began, and how long the work had waited by then.
    private var begin: (at: Duration, waiting: Duration)?

    package init() {}

    /// The processor was yielded between two bands.
    ///
    /// - Parameters:
    ///   - yield: How long the yield took.
    ///   - waiting: Time that the work has waited for the processor so far; nil when it is not known.
    ///   - now: This moment.
    /// - Returns: How long to stay away; nil for not at all.
    package mutating func absence(afterYield yield: Duration, waiting: Duration?, at now: Duration) -> Duration? {
        let atOnce = yield >= Self.shortestWait ? min(yield * 2, Self.longestAtFirst) : nil
        guard let waiting else { return atOnce }
        guard let begin, waiting >= begin.waiting else {
            begin = (now, waiting)
            return atOnce
        }
        let span = now - begin.at
        guard span >= Self.window else { return atOnce }
        self.begin = (now, waiting)
        let waited = waiting - begin.waiting
        guard waited >= span * Self.leastShare else { return atOnce }
        if begin.at - returned > Self.memory { (length, away, idle) = (.zero, .zero, .zero) }
        return max(length, min(waited * 2, Self.longestAtFirst))
    }

    /// It is back.
    ///
    /// - Parameters:
    ///   - away: Time that it was away.
    ///   - idle: Idle time of all processors together meanwhile; nil when it is not known.
    ///   - now: This moment.
    package mutating func isBack(after away: Duration, idle: Duration?, at now: Duration) {
        returned = now
        begin?.at = now
        guard let idle else { return }
        self.away += away
        self.idle += idle
        guard self.away >= Self.idleWindow else { return }
        let isWanted = self.idle < self.away * Self.leastIdle
        length = isWanted ? min(max(length * 2, Self.idleWindow), Self.longest) : length / 2
        (self.away, self.idle) = (.zero, .zero)
    }
}
