import ScheduleSimulation
import SchedulingCore
import TaskModel

/// What an identifier of a played day did, span by span, and what it waited for.
struct SpanHistory {
    let text: String

    /// - Throws: An exit status, after telling that nothing has this name.
    init(_ timeline: Timeline, of name: String, in file: String) throws {
        let rows = TimelineRow.rows(of: timeline)
        let row = try Self.find(name, among: rows.map(\.identifier), in: file)
        var lines = ["", "Why \(row):"]
        for found in rows where found.identifier == row {
            for job in found.jobs {
                lines.append("  submitted \(Self.moment(job.submitted, timeline))")
                for span in job.spans { lines += Self.lines(span, timeline) }
                if let outcome = job.outcome, let ended = job.ended {
                    lines.append("    \(Self.moment(ended, timeline))  over: \(outcome.code)")
                }
            }
            for rejection in found.rejections {
                lines.append("  rejected \(Self.moment(rejection.at, timeline))")
                lines += rejection.rejection.failures.map { "    \($0.detail): \($0.sentence) \($0.fix)" }
            }
        }
        text = lines.joined(separator: "\n") + "\n"
    }

    /// An identifier of the day by its full name, or without what all of them begin with.
    static func find(_ name: String, among identifiers: [TaskIdentifier], in file: String) throws -> TaskIdentifier {
        let full = ShortNames(identifiers).prefix + name
        if let found = identifiers.first(where: { $0.rawValue == name || $0.rawValue == full }) { return found }
        let near = ClosestNames.sentence(to: name, among: identifiers.map(\.rawValue))
        throw Trouble.told(
            "nothing in \(file) is called \"\(name)\".\(near)", fix: "Name one of its requests.", .missingInput)
    }

    private static func lines(_ span: Timeline.Span, _ timeline: Timeline) -> [String] {
        let place = span.state.isWork ? span.device.map { " on \($0)" } ?? "" : ""
        let words =
            switch span.state {
            case .waiting: "waits"
            case .background: "runs in the background"
            case .foreground: "runs in the foreground"
            case .pausing: "pauses"
            case .paused: "paused"
            case .expiring: "asked to end"
            }
        let head = "    \(moment(span.from, timeline))  \(words)\(place) for \(TimeText.text(span.length))"
        return [head]
            + span.reasons.map { reason in
                let measured =
                    reason.measured.map { " Measured \($0), needs \(reason.threshold ?? "otherwise")." } ?? ""
                let holders =
                    reason.holders.isEmpty
                    ? "" : " Held by \(reason.holders.map(\.rawValue).joined(separator: ", "))."
                return "              \(reason.code.text): \(reason.sentence)\(measured)\(holders)"
            }
    }

    private static func moment(_ time: Duration, _ timeline: Timeline) -> String {
        let moment = timeline.start.advanced(by: time)
        return timeline.length > .seconds(86_400) ? moment.text : moment.clockWithSeconds
    }
}
