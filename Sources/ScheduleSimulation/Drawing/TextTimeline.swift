import SchedulingCore
import TaskModel

/// A timeline as lines of text: a row for each identifier, a column for each slice of time.
package struct TextTimeline {
    private let timeline: Timeline
    private let rows: [TimelineRow]
    private let names: ShortNames
    private let width: Int
    private let marks: Characters
    private let conditionKinds: [ConditionKind]
    private let labelWidth: Int
    private let columns: Int
    private var lines: [String] = []

    /// What stands for what.
    private struct Characters {
        let foreground, background, paused, expiring, waiting, closed, rejected, ellipsis: String

        static let unicode = Characters(
            foreground: "█", background: "▒", paused: "‖", expiring: "!", waiting: "·", closed: "▬", rejected: "×",
            ellipsis: "…")
        static let ascii = Characters(
            foreground: "#", background: "=", paused: "p", expiring: "!", waiting: ".", closed: "-", rejected: "x",
            ellipsis: "~")

        func mark(_ state: Timeline.State) -> String {
            switch state {
            case .foreground: foreground
            case .background: background
            case .pausing, .paused: paused
            case .expiring: expiring
            case .waiting: waiting
            }
        }
    }

    /// - Parameters:
    ///   - timeline: What is drawn.
    ///   - width: Columns of the terminal; at least 60 are used.
    ///   - isUnicode: Whether more than ASCII can be shown.
    /// - Returns: The text, ending with a newline.
    package static func draw(_ timeline: Timeline, width: Int, isUnicode: Bool) -> String {
        var text = TextTimeline(timeline, width: width, isUnicode: isUnicode)
        text.drawChart()
        text.writeWaits()
        text.writeNotes()
        return text.lines.joined(separator: "\n") + "\n"
    }

    private init(_ timeline: Timeline, width: Int, isUnicode: Bool) {
        self.timeline = timeline
        let width = max(width, 60)
        let rows = TimelineRow.rows(of: timeline)
        let names = ShortNames(rows.map(\.identifier))
        let shown = Set(timeline.conditions.map(\.kind))
        let kinds = ConditionKind.allCases.filter(shown.contains)
        let longest = (rows.map { names.name($0.identifier) } + kinds.map(\.rawValue)).map(\.count).max() ?? 0
        labelWidth = min(max(longest, 6), max(width / 3, 16))
        columns = width - labelWidth - 2
        conditionKinds = kinds
        marks = isUnicode ? .unicode : .ascii
        self.width = width
        self.rows = rows
        self.names = names
    }

    // MARK: Chart

    private mutating func drawChart() {
        let end = timeline.start.advanced(by: timeline.length)
        if !timeline.title.isEmpty { lines.append(timeline.title) }
        lines.append("\(timeline.start.text) to \(end.text), \(TimeText.text(timeline.length))")
        if !names.prefix.isEmpty { lines.append("Names begin with \(names.prefix)") }
        lines.append("")
        lines.append(axis())
        for kind in conditionKinds {
            var cells = [String](repeating: " ", count: columns)
            for span in timeline.conditions where span.kind == kind {
                for column in columns(span.from, span.to) { cells[column] = marks.closed }
            }
            lines.append(trimmed(label(kind.rawValue) + cells.joined()))
        }
        if !conditionKinds.isEmpty { lines.append("") }
        for row in rows { lines.append(label(names.name(row.identifier)) + cells(of: row)) }
        lines.append("")
        lines += legend()
    }

    private func axis() -> String {
        var cells = [Character](repeating: " ", count: columns)
        var free = 0
        for mark in TimeAxis.marks(start: timeline.start, length: timeline.length, most: max(columns / 8, 2)) {
            let column = self.column(mark.at)
            guard column >= free, column + mark.label.count <= columns else { continue }
            for (offset, character) in mark.label.enumerated() { cells[column + offset] = character }
            free = column + mark.label.count + 1
        }
        return trimmed(label("") + String(cells))
    }

    /// Work is seen however short it is; then what was asked to end, then pauses, then waits.
    private func cells(of row: TimelineRow) -> String {
        var best = [(rank: Int, mark: String)](repeating: (0, " "), count: columns)
        func put(_ columns: Range<Int>, _ rank: Int, _ mark: String) {
            for column in columns where best[column].rank < rank { best[column] = (rank, mark) }
        }
        for span in row.spans { put(columns(span.from, span.to), Self.rank(span.state), marks.mark(span.state)) }
        for rejection in row.rejections { put(columns(rejection.at, rejection.at), 9, marks.rejected) }
        return trimmed(best.map(\.mark).joined())
    }

    private static func rank(_ state: Timeline.State) -> Int {
        switch state {
        case .foreground: 6
        case .background: 5
        case .paused, .pausing: 4
        case .expiring: 3
        case .waiting: 1
        }
    }

    private func legend() -> [String] {
        var shown: [(String, String)] = []
        let states = Set(rows.flatMap(\.spans).map(\.state))
        if states.contains(.foreground) { shown.append((marks.foreground, "runs in the foreground")) }
        if states.contains(.background) { shown.append((marks.background, "runs in the background")) }
        if states.contains(.paused) { shown.append((marks.paused, "paused")) }
        if states.contains(.expiring) { shown.append((marks.expiring, "asked to end")) }
        if states.contains(.waiting) { shown.append((marks.waiting, "waits")) }
        if !timeline.rejections.isEmpty { shown.append((marks.rejected, "rejected")) }
        if !conditionKinds.isEmpty { shown.append((marks.closed, "condition not met")) }
        return wrapped(shown.map { "\($0.0) \($0.1)" }, separator: "   ")
    }

    // MARK: Below

    private mutating func writeWaits() {
        guard !rows.isEmpty else { return }
        lines.append("")
        lines.append("Who waited for what:")
        for row in rows {
            let runs = row.launches == 1 ? "1 run" : "\(row.launches) runs"
            lines.append(
                "  \(names.name(row.identifier)): waited \(TimeText.text(row.waited)),"
                    + " worked \(TimeText.text(row.worked)) in \(runs), \(row.endings)")
            let waits = row.waits.map { "\($0.code.text) \(TimeText.text($0.time))" }
            lines += wrapped(waits, separator: ", ", indent: "    for ", more: "        ")
        }
    }

    private mutating func writeNotes() {
        let most = 40
        if !timeline.rejections.isEmpty {
            lines.append("")
            lines.append("Rejected:")
            for rejection in timeline.rejections.prefix(most) {
                let time = moment(rejection.at)
                for failure in rejection.rejection.failures {
                    lines.append(
                        "  \(time)  \(names.name(rejection.identifier)): \(failure.sentence) [\(failure.detail)]")
                }
            }
            leftOut(timeline.rejections.count - most)
        }
        if !timeline.notes.isEmpty {
            lines.append("")
            lines.append("Noted:")
            for note in timeline.notes.prefix(most) {
                let name = note.identifier.map { names.name($0) + ": " } ?? ""
                lines.append("  \(moment(note.at))  \(name)\(note.sentence)")
            }
            leftOut(timeline.notes.count - most)
        }
    }

    private mutating func leftOut(_ count: Int) {
        if count > 0 { lines.append("  and \(count) more; --json has all of them") }
    }

    // MARK: Places

    private func moment(_ time: Duration) -> String {
        let moment = timeline.start.advanced(by: time)
        return timeline.length > .seconds(86_400)
            ? String(moment.text.dropFirst(5)) : moment.clockWithSeconds
    }

    private func column(_ time: Duration) -> Int {
        guard timeline.length > .zero else { return 0 }
        return min(max(Int(time / timeline.length * Double(columns)), 0), columns - 1)
    }

    /// At least one.
    private func columns(_ from: Duration, _ to: Duration) -> Range<Int> {
        let first = column(from)
        guard timeline.length > .zero else { return 0..<1 }
        let end = Int((to / timeline.length * Double(columns)).rounded(.up))
        return first..<min(max(end, first + 1), columns)
    }

    private func label(_ name: String) -> String {
        let cut = name.count > labelWidth ? marks.ellipsis + name.suffix(labelWidth - 1) : name
        return cut + String(repeating: " ", count: labelWidth - cut.count + 2)
    }

    private func wrapped(
        _ parts: [String], separator: String, indent: String = "", more: String = ""
    ) -> [String] {
        var result: [String] = []
        var line = indent
        var isEmpty = true
        for (position, part) in parts.enumerated() {
            let piece = position + 1 < parts.count ? part + separator : part
            if !isEmpty, line.count + part.count > width {
                result.append(trimmed(line))
                line = more
            }
            line += piece
            isEmpty = false
        }
        if !isEmpty { result.append(trimmed(line)) }
        return result
    }

    private func trimmed(_ line: String) -> String {
        String(line.reversed().drop { $0 == " " }.reversed())
    }
}
