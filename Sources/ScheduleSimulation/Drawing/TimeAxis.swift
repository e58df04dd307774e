/// Marks of a time axis at round clock times.
struct TimeAxis {
    struct Mark: Equatable {
        /// Since the start.
        var at: Duration
        var label: String
        /// The first one of its date.
        var isDay: Bool
    }

    private static let steps = [60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 604_800]

    /// At most so many marks, the first one at or after the start.
    static func marks(start: WallTime, length: Duration, most: Int) -> [Mark] {
        let seconds = Int(length.components.seconds)
        guard seconds > 0 else { return [] }
        let step = steps.first { seconds / $0 < max(most, 1) } ?? 604_800
        let first = (step - start.secondOfDay % step) % step
        return stride(from: first, through: seconds, by: step).map { second in
            let moment = start.advanced(by: .seconds(second))
            let isDay = moment.secondOfDay == 0
            return Mark(
                at: .seconds(second), label: isDay ? String(moment.text.dropFirst(5).prefix(5)) : moment.clock,
                isDay: isDay)
        }
    }
}
