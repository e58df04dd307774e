/// How many units the next chunk takes, so that chunks last about as long as wanted (rule 88).
package struct ChunkSizer: Sendable {
    /// First chunks are this short: nothing is known yet.
    package static let firstTarget: Duration = .milliseconds(5)
    /// No chunk is meant to last longer, whatever is asked.
    package static let maxTarget: Duration = .seconds(2)
    /// A chunk has at most so many times the units of the one before: one quick chunk proves little.
    static let maxGrowth = 2
    /// Weight of the newest chunk in the estimate.
    private static let newest = 0.5

    private var secondsPerUnit: Double?
    private var lastUnits = 1

    package init() {}

    package mutating func finished(units: Int, in wall: Duration) {
        precondition(units > 0, "a chunk has at least one unit")
        let sample = wall.inSeconds / Double(units)
        // A slow chunk counts in full, so that stopping gets quick again at once.
        if let known = secondsPerUnit, sample < known {
            secondsPerUnit = known + (sample - known) * Self.newest
        } else {
            secondsPerUnit = sample
        }
        lastUnits = units
    }

    /// Units of the next chunk, 1 ... `remaining`.
    package func next(target: Duration, remaining: Int) -> Int {
        precondition(remaining > 0, "nothing is left to do")
        guard let secondsPerUnit else { return 1 }
        let wanted = min(target, Self.maxTarget).inSeconds / max(secondsPerUnit, 1e-12)
        let grown = Double(lastUnits) * Double(Self.maxGrowth)
        return min(max(Int(min(wanted, grown, Double(remaining))), 1), remaining)
    }
}
