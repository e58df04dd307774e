import Foundation
import FoundationXML
import ScheduleSimulation
import SchedulingCore
import TaskModel
import Testing

@Suite struct DrawingTests {
    private func laptop() throws -> Timeline { VirtualDay.timeline(of: try Days.read("laptop.yml")) }

    @Test("No line of the drawing is wider than the terminal, whatever its width", arguments: [60, 80, 133, 200])
    func width(width: Int) throws {
        let text = TextTimeline.draw(try laptop(), width: width, isUnicode: true)
        let chart = text.prefix(upTo: try #require(text.range(of: "Who waited")).lowerBound)
        for line in chart.split(separator: "\n") { #expect(line.count <= width, "\(line)") }
        #expect(chart.contains("█") && chart.contains("▒") && chart.contains("‖") && chart.contains("×"))
    }

    @Test("Where the terminal has no UTF-8 the drawing is plain ASCII")
    func ascii() throws {
        let text = TextTimeline.draw(try laptop(), width: 100, isUnicode: false)
        #expect(text.utf8.allSatisfy { $0 < 128 })
        #expect(text.contains("#") && text.contains("="))
    }

    @Test("The drawing tells who waited for what and how long")
    func waits() throws {
        let text = TextTimeline.draw(try laptop(), width: 120, isUnicode: true)
        #expect(text.contains("backup.nightly: waited"))
        #expect(text.contains("earliestBeginDate 2 h"))
        #expect(text.contains("photos.export.now: Every slot for CPU work is taken."))
    }

    @Test("The picture is well-formed XML with a rectangle for each span that is seen, whatever the names are")
    func picture() throws {
        let day = try Days.day(
            """
            title: "<script>&\\"\\x01"
            conditions: [{userIdle: no}, {at: 09:00, userIdle: yes}]
            requests:
              - {at: 08:00, identifier: org.example.app.index, kind: processing, title: "a<b>&c"}
              - {at: 08:30, identifier: org.example.app.job.a, kind: continued, strategy: fail, needs: gpu}
            """)
        let picture = SVGTimeline.draw(VirtualDay.timeline(of: day))
        let counter = ElementCounter()
        let parser = XMLParser(data: Data(picture.utf8))
        parser.delegate = counter
        #expect(parser.parse())
        #expect(counter.classes["waiting"] == 2)
        #expect(counter.classes["background"] == 2)
        #expect(counter.classes["closed"] == 2)
        #expect(counter.classes["rejected"] == 2)
        #expect(!picture.contains("<script>"))
        #expect(picture.contains("prefers-color-scheme: dark"))
    }

    @Test("A picture of two days of changes stays small")
    func smallPicture() throws {
        let changes = (0..<2_880).map { "  - {at: +\($0)m, cpuPressure: \($0 % 2 * 90)}" }.joined(separator: "\n")
        let day = try Days.day(
            "conditions:\n\(changes)\nrequests:\n  - {at: 08:00, identifier: org.example.app.index, kind: processing, "
                + "needs: power}\n", length: "48h")
        #expect(SVGTimeline.draw(VirtualDay.timeline(of: day)).utf8.count < 1_000_000)
    }

    @Test("An empty day can be drawn")
    func empty() throws {
        let timeline = VirtualDay.timeline(of: try Days.day(""))
        #expect(TextTimeline.draw(timeline, width: 80, isUnicode: true).contains("08:00"))
        #expect(SVGTimeline.draw(timeline).contains("Nothing was asked for."))
    }

    @Test("The next run that waits behind one that runs is not drawn over it")
    func nextRun() throws {
        let timeline = VirtualDay.timeline(
            of: try Days.day(
                """
                conditions: [{userIdle: yes}]
                requests:
                  - {at: 08:00, identifier: org.example.app.index, kind: processing, work: 1h}
                  - {at: 08:30, identifier: org.example.app.index, kind: processing, work: 1h}
                """))
        let row = try #require(TimelineRow.rows(of: timeline).first)
        #expect(row.spans.map(\.state) == [.background, .background])
        #expect(row.jobs[1].waited == .seconds(1_800))
    }

    @Test(
        "Lengths of time are told in their two largest units",
        arguments: [
            (0, "0 s"), (40, "40 s"), (61, "1 min 1 s"), (3_600, "1 h"), (3_660, "1 h 1 min"), (180_000, "2 d 2 h"),
        ])
    func lengths(seconds: Int, text: String) {
        #expect(TimeText.text(.seconds(seconds)) == text)
    }
}

/// Counts elements by their class.
private final class ElementCounter: NSObject, XMLParserDelegate {
    var classes: [String: Int] = [:]

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        if let style = attributes["class"] { classes[style, default: 0] += 1 }
    }
}
