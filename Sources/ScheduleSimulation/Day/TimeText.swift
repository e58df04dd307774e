import SchedulingCore

/// Lengths of time for people.
package enum TimeText {
    /// The two largest units: `2 d 3 h`, `1 h 05 min`, `40 s`, `0.3 s`.
    package static func text(_ time: Duration) -> String {
        if time < .zero { return "-" + text(.zero - time) }
        let seconds = Int(time.inSeconds.rounded())
        if time == .zero { return "0 s" }
        if time < .seconds(1) {
            let tenths = Int((time.inSeconds * 10).rounded())
            return tenths == 10 ? "1 s" : "0.\(tenths) s"
        }
        if seconds < 60 { return "\(seconds) s" }
        let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400)
        if seconds < 3_600 { return pair(minutes, "min", seconds % 60, "s") }
        if seconds < 86_400 { return pair(hours, "h", minutes % 60, "min") }
        return pair(days, "d", hours % 24, "h")
    }

    private static func pair(_ large: Int, _ unit: String, _ small: Int, _ smallUnit: String) -> String {
        small == 0 ? "\(large) \(unit)" : "\(large) \(unit) \(small) \(smallUnit)"
    }
}
