import ScheduleSimulation
import SchedulingCore
import TaskModel

/// Reasons to wait, for people.
enum ReasonText {
    /// Some lines for each reason; `moment` gives the wall time of a moment on the scheduler's clock.
    static func lines(_ reasons: [WaitReason], now: Duration, moment: (Duration) -> WallTime) -> [String] {
        reasons.flatMap { reason in
            var lines = ["  \(reason.code.text): \(reason.sentence)"]
            if let measured = reason.measured {
                lines.append("    measured \(measured)" + (reason.threshold.map { ", needs \($0)" } ?? ""))
            } else if let threshold = reason.threshold {
                lines.append("    needs \(threshold)")
            }
            if !reason.holders.isEmpty {
                lines.append("    held by \(reason.holders.map(\.rawValue).joined(separator: ", "))")
            }
            lines.append("    what helps: \(reason.fix)")
            if let earliest = reason.earliest {
                lines.append("    can end \(when(earliest, now: now, moment: moment))")
            }
            return lines
        }
    }

    /// `now`, or `at 2026-03-02 22:00, in 3 h`.
    static func when(_ time: Duration, now: Duration, moment: (Duration) -> WallTime) -> String {
        time <= now ? "now" : "at \(moment(time).text), in \(TimeText.text(time - now))"
    }

    static func history(_ times: [(code: WaitReason.Code, time: Duration)]) -> String {
        times.map { "\($0.code.text) \(TimeText.text($0.time))" }.joined(separator: ", ")
    }
}
