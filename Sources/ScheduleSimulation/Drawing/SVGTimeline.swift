import SchedulingCore
import TaskModel

/// A timeline as one SVG picture that needs nothing else: bands of conditions on top, a row for each identifier below.
///
/// It follows the reader's choice of light or dark; what a span waited for is told when the pointer rests on it.
package struct SVGTimeline {
    private let timeline: Timeline
    private let rows: [TimelineRow]
    private let names: ShortNames
    private let kinds: [ConditionKind]
    private let labelWidth: Double
    private var body = ""
    /// Behind the grid.
    private var stripes = ""

    private static let chartWidth = 960.0
    private static let margin = 16.0
    private static let rowHeight = 24.0
    private static let bandHeight = 18.0
    /// Widest a character of the labels' typeface is at their size of 12 px, near enough.
    private static let characterWidth = 7.3
    private static let maxLabel = 44
    /// Waits narrower than this are drawn together with what follows them.
    private static let leastWidth = 0.5

    /// The picture as text.
    package static func draw(_ timeline: Timeline) -> String {
        var picture = SVGTimeline(timeline)
        return picture.document()
    }

    private init(_ timeline: Timeline) {
        self.timeline = timeline
        let rows = TimelineRow.rows(of: timeline)
        let names = ShortNames(rows.map(\.identifier))
        self.rows = rows
        self.names = names
        kinds = ConditionKind.allCases.filter { kind in timeline.conditions.contains { $0.kind == kind } }
        let labels = rows.map { names.name($0.identifier).count } + kinds.map(\.rawValue.count)
        labelWidth = Double(min(max(labels.max() ?? 0, 10), Self.maxLabel)) * Self.characterWidth + 12
    }

    private var left: Double { Self.margin + labelWidth }
    private var width: Double { left + Self.chartWidth + Self.margin + 24 }

    // MARK: Document

    private mutating func document() -> String {
        var y = Self.margin + 16
        text(timeline.title.isEmpty ? "Schedule" : timeline.title, x: Self.margin, y: y, style: "title")
        y += 20
        let end = timeline.start.advanced(by: timeline.length)
        let prefix = names.prefix.isEmpty ? "" : "; names begin with \(names.prefix)"
        text(
            "\(timeline.start.text) to \(end.text), \(TimeText.text(timeline.length))\(prefix)", x: Self.margin, y: y,
            style: "small")
        y += 14
        y = legend(below: y)
        let top = y + 24
        y = top
        let bandsTop = y
        for kind in kinds {
            band(kind, y: y)
            y += Self.bandHeight
        }
        if !kinds.isEmpty { y += 10 }
        for (position, row) in rows.enumerated() {
            if position.isMultiple(of: 2) {
                stripes +=
                    "<rect class=\"stripe\" x=\"\(n(Self.margin))\" y=\"\(n(y))\" "
                    + "width=\"\(n(labelWidth + Self.chartWidth))\" height=\"\(n(Self.rowHeight))\"/>\n"
            }
            draw(row, y: y)
            y += Self.rowHeight
        }
        if rows.isEmpty {
            text("Nothing was asked for.", x: left + 8, y: y + 16, style: "small")
            y += Self.rowHeight
        }
        let grid = axis(top: bandsTop, bottom: y)
        let height = y + Self.margin + 8
        return head(height: height) + stripes + grid + body + "</svg>\n"
    }

    private func head(height: Double) -> String {
        let title = Self.escaped(timeline.title.isEmpty ? "Schedule" : timeline.title)
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(n(width)) \(n(height))" width="\(n(width))" \
            height="\(n(height))" role="img" aria-label="\(title)">
            <style>
            svg { background: #ffffff; font-family: system-ui, "DejaVu Sans", "Segoe UI", sans-serif; font-size: 12px; }
            .page { fill: #ffffff; } .title { font-size: 16px; font-weight: 600; fill: #1b1f24; }
            .label { font-family: ui-monospace, "DejaVu Sans Mono", monospace; fill: #1b1f24; } .small { fill: #57606a; }
            .tick { fill: #57606a; font-size: 11px; text-anchor: middle; } .grid { stroke: #d8dee4; stroke-width: 1; }
            .day { stroke: #8c959f; stroke-width: 1; } .stripe { fill: #f6f8fa; }
            .foreground { fill: #1a7f37; } .background { fill: #4393e4; } .pausing, .paused { fill: #bf8700; }
            .expiring { fill: #cf222e; } .waiting { fill: #c8d1da; } .closed { fill: #e58a5b; }
            .rejected { stroke: #cf222e; stroke-width: 2; fill: none; } .mark { fill: #8250df; }
            @media (prefers-color-scheme: dark) {
            svg { background: #0d1117; } .page { fill: #0d1117; } .title, .label { fill: #e6edf3; }
            .small, .tick { fill: #9198a1; } .grid { stroke: #21262d; } .day { stroke: #57606a; } .stripe { fill: #151b23; }
            .foreground { fill: #3fb950; } .background { fill: #388bfd; } .pausing, .paused { fill: #d29922; }
            .expiring { fill: #f85149; } .waiting { fill: #3d444d; } .closed { fill: #b35f35; }
            .rejected { stroke: #f85149; } .mark { fill: #a371f7; }
            }
            </style>
            <rect class="page" width="100%" height="100%"/>

            """
    }

    // MARK: Parts

    private mutating func legend(below y: Double) -> Double {
        let states = Set(rows.flatMap(\.spans).map(\.state))
        let entries: [(style: String, text: String, isShown: Bool)] = [
            ("foreground", "runs in the foreground", states.contains(.foreground)),
            ("background", "runs in the background", states.contains(.background)),
            ("paused", "paused", states.contains(.paused)),
            ("expiring", "asked to end", states.contains(.expiring)),
            ("waiting", "waits", states.contains(.waiting)),
            ("rejected", "rejected", !timeline.rejections.isEmpty),
            ("mark", "noted", !timeline.notes.isEmpty),
            ("closed", "condition not met", !kinds.isEmpty),
        ]
        var x = Self.margin
        var baseline = y + 14
        for entry in entries where entry.isShown {
            let needed = Double(entry.text.count) * 6.8 + 38
            if x + needed > width - Self.margin {
                x = Self.margin
                baseline += 20
            }
            switch entry.style {
            case "rejected": cross(x: x + 7, y: baseline - 4)
            case "mark": mark(x: x + 7, y: baseline - 8, title: "")
            default:
                body +=
                    "<rect class=\"\(entry.style)\" x=\"\(n(x))\" y=\"\(n(baseline - 9))\" width=\"14\" height=\"10\" rx=\"2\"/>\n"
            }
            text(entry.text, x: x + 20, y: baseline, style: "small")
            x += needed
        }
        return baseline + 6
    }

    /// Lines and labels; drawn before everything else, so that nothing is hidden.
    private func axis(top: Double, bottom: Double) -> String {
        var lines = ""
        for mark in TimeAxis.marks(start: timeline.start, length: timeline.length, most: 16) {
            let x = self.x(mark.at)
            let style = mark.isDay ? "day" : "grid"
            lines +=
                "<line class=\"\(style)\" x1=\"\(n(x))\" x2=\"\(n(x))\" y1=\"\(n(top - 4))\" y2=\"\(n(bottom))\"/>\n"
            lines += "<text class=\"tick\" x=\"\(n(x))\" y=\"\(n(top - 8))\">\(mark.label)</text>\n"
        }
        return lines
    }

    private mutating func band(_ kind: ConditionKind, y: Double) {
        label(kind.rawValue, full: kind.rawValue, y: y + 13)
        for span in timeline.conditions where span.kind == kind {
            rect(
                "closed", span.from, span.to, y: y + 4, height: Self.bandHeight - 8,
                title: [
                    "\(kind.rawValue): \(span.text)", times(span.from, span.to),
                ])
        }
    }

    private mutating func draw(_ row: TimelineRow, y: Double) {
        let waits = row.waits.map { "\($0.code.text) \(TimeText.text($0.time))" }
        label(
            names.name(row.identifier),
            full: ([
                "\(row.identifier) (\(row.kind.rawValue)): \(row.endings)",
                "waited \(TimeText.text(row.waited)), worked \(TimeText.text(row.worked))",
            ] + waits).joined(separator: "\n"), y: y + 16)
        // Waits first, so that work beside them is seen in full.
        let spans = Self.merged(row.spans, least: timeline.length * (Self.leastWidth / Self.chartWidth))
        for span in spans where span.state == .waiting { draw(span, y: y) }
        for span in spans where span.state != .waiting { draw(span, y: y) }
        for rejection in row.rejections {
            cross(
                x: x(rejection.at), y: y + Self.rowHeight / 2,
                title: ([
                    "rejected at \(moment(rejection.at)): \(rejection.rejection.code.rawValue)"
                ] + rejection.rejection.failures.map { "\($0.sentence) \($0.fix)" }).joined(separator: "\n"))
        }
        for note in timeline.notes where note.identifier == row.identifier {
            mark(x: x(note.at), y: y + 1, title: "\(moment(note.at)) \(note.sentence)")
        }
    }

    private mutating func draw(_ span: Timeline.Span, y: Double) {
        let isWaiting = span.state == .waiting
        let place = span.state.isWork ? span.device.map { " on \($0)" } ?? " on the CPU lane" : ""
        let reasons = span.reasons.map { reason in
            let measured = reason.measured.map { " (\($0), needs \(reason.threshold ?? "otherwise"))" } ?? ""
            let holders =
                reason.holders.isEmpty ? "" : " Held by " + reason.holders.map(names.name).joined(separator: ", ") + "."
            return "\(reason.code.text): \(reason.sentence)\(measured)\(holders)"
        }
        rect(
            span.state.rawValue, span.from, span.to, y: y + (isWaiting ? 9 : 5),
            height: Self.rowHeight - (isWaiting ? 18 : 10),
            title: ["\(Self.words(span.state))\(place)", times(span.from, span.to)] + reasons)
    }

    private static func words(_ state: Timeline.State) -> String {
        switch state {
        case .waiting: "waits"
        case .background: "runs in the background"
        case .foreground: "runs in the foreground"
        case .pausing: "pauses at its next commit point"
        case .paused: "paused"
        case .expiring: "asked to end"
        }
    }

    /// Joins waits that are too short to be seen, so that a picture of many changes stays small.
    private static func merged(_ spans: [Timeline.Span], least: Duration) -> [Timeline.Span] {
        spans.reduce(into: []) { merged, span in
            if let last = merged.last, last.state == span.state, last.device == span.device, last.to == span.from,
                last.length < least || span.length < least
            {
                merged[merged.count - 1].to = span.to
                let known = Set(last.reasons.map(\.code))
                merged[merged.count - 1].reasons += span.reasons.filter { !known.contains($0.code) }
            } else {
                merged.append(span)
            }
        }
    }

    // MARK: Shapes

    private mutating func rect(
        _ style: String, _ from: Duration, _ to: Duration, y: Double, height: Double, title: [String]
    ) {
        let start = x(from)
        let width = max(x(to) - start, 1.5)
        body +=
            "<rect class=\"\(style)\" x=\"\(n(start))\" y=\"\(n(y))\" width=\"\(n(width))\" height=\"\(n(height))\""
            + (width > 6 ? " rx=\"2\"" : "") + "><title>\(Self.escaped(title.joined(separator: "\n")))</title></rect>\n"
    }

    private mutating func cross(x: Double, y: Double, title: String = "") {
        body +=
            "<path class=\"rejected\" d=\"M\(n(x - 4)) \(n(y - 4))l8 8m0 -8l-8 8\">"
            + (title.isEmpty ? "" : "<title>\(Self.escaped(title))</title>") + "</path>\n"
    }

    private mutating func mark(x: Double, y: Double, title: String) {
        body +=
            "<path class=\"mark\" d=\"M\(n(x - 4)) \(n(y))h8l-4 6z\">"
            + (title.isEmpty ? "" : "<title>\(Self.escaped(title))</title>") + "</path>\n"
    }

    /// A label that ends where the chart begins; one that is too long loses its beginning.
    private mutating func label(_ name: String, full: String, y: Double) {
        let shown = name.count > Self.maxLabel ? "…" + name.suffix(Self.maxLabel - 1) : name
        body +=
            "<text class=\"label\" x=\"\(n(Self.margin))\" y=\"\(n(y))\">\(Self.escaped(shown))"
            + "<title>\(Self.escaped(full))</title></text>\n"
    }

    private mutating func text(_ content: String, x: Double, y: Double, style: String) {
        body += "<text class=\"\(style)\" x=\"\(n(x))\" y=\"\(n(y))\">\(Self.escaped(content))</text>\n"
    }

    // MARK: Numbers and texts

    private func x(_ time: Duration) -> Double {
        timeline.length > .zero ? left + time / timeline.length * Self.chartWidth : left
    }

    private func moment(_ time: Duration) -> String { timeline.start.advanced(by: time).clockWithSeconds }

    private func times(_ from: Duration, _ to: Duration) -> String {
        "\(moment(from)) to \(moment(to)), \(TimeText.text(to - from))"
    }

    /// Two decimals at most.
    private func n(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        if hundredths.isMultiple(of: 100) { return "\(hundredths / 100)" }
        let fraction = abs(hundredths % 100)
        return "\(hundredths / 100)." + (fraction < 10 ? "0\(fraction)" : "\(fraction)")
    }

    /// For text and attributes; characters that XML does not have become the replacement character.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\n": result += "&#10;"
            case "\t": result += " "
            case "\u{0}"..."\u{1F}", "\u{FFFE}"..."\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
