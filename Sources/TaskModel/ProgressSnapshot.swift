/// How far a job is, at one moment.
package struct ProgressSnapshot: Hashable, Codable, Sendable {
    package var itemsDone: Int
    package var itemsTotal: Int
    /// Items that could not be done, among `itemsDone`.
    package var failures: Int
    /// 0 ... 1, by weight of the items, running ones included.
    package var fraction: Double
    /// Megapixels of input per second, lately; 0 until something was finished.
    package var megapixelsPerSecond: Double
    /// Seconds that are left, as a range from recent rates; nil before there is a rate (rule 67).
    package var secondsLeft: ClosedRange<Double>?

    package init(
        itemsDone: Int, itemsTotal: Int, failures: Int, fraction: Double, megapixelsPerSecond: Double,
        secondsLeft: ClosedRange<Double>?
    ) {
        self.itemsDone = itemsDone
        self.itemsTotal = itemsTotal
        self.failures = failures
        self.fraction = fraction
        self.megapixelsPerSecond = megapixelsPerSecond
        self.secondsLeft = secondsLeft
    }
}
