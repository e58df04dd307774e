import Glibc

/// The middle value, or the mean of the two middle ones; NaN of nothing.
func median(_ values: [Double]) -> Double {
    guard !values.isEmpty else { return .nan }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// The value that a share of all others lie below, one of them; NaN of nothing.
func quantile(_ share: Double, of values: [Double]) -> Double {
    guard !values.isEmpty else { return .nan }
    return values.sorted()[min(values.count - 1, Int(Double(values.count) * share))]
}

/// NaN of nothing.
func geometricMean(_ values: [Double]) -> Double {
    values.isEmpty ? .nan : exp(values.reduce(0) { $0 + log($1) } / Double(values.count))
}
