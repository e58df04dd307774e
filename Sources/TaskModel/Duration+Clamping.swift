extension Duration {
    /// A number of seconds from outside, where `seconds(_:)` traps for one that is none or does not fit.
    ///
    /// - Parameter seconds: More than 10¹² count as that many, some 30,000 years.
    /// - Returns: Zero for what is not a number.
    package static func seconds(clamping seconds: Double) -> Duration {
        seconds.isNaN ? .zero : .seconds(min(max(seconds, -1e12), 1e12))
    }
}
