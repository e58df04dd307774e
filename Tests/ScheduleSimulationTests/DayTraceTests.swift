import DescribedFile
import Foundation
import ScheduleSimulation
import SchedulingCore
import TaskModel
import TemporaryFolders
import Testing

@Suite struct DayTraceTests {
    private static let head =
        "start: 2026-03-02T08:00Z\nprograms: [{program: org.a, modes: [continued], identifiers: [org.a.*]}]\n"

    @Test("Every mistake in a described day is told with its line and field, unknown keys with the closest one")
    func mistakes() {
        let found = Days.mistakes(
            """
            start: 2026-03-02T08:00Z
            lenght: 24h
            programs:
              - {program: org.a, modes: [continued], identifiers: [org.a.x]}
            requests:
              - {at: 09:00, identifier: org.a.x, kind: continue}
              - {at: 25:00, identifier: org.a.x, kind: continued}
              - {at: 09:00, identifier: org.b.x, kind: continued}
              - {at: 09:00, identifier: org.a.x, kind: continued, wrok: 5m}
            events:
              - {at: 09:00, promot: org.a.x}
              - {at: 09:00, hostRemoved: org.b}
              - {at: 09:00, promote: org.a.x, stop: org.a.x}
            conditions:
              - {at: 09:00, power: batery, batteryPercent: 120}
              - {at: 10:00}
            """)
        #expect(
            found.map(\.field) == [
                "lenght", "requests[0].kind", "requests[1].at", "requests[2]", "requests[3].wrok", "events[0].promot",
                "events[0]", "events[1].hostRemoved", "events[2]", "conditions[0].power",
                "conditions[0].batteryPercent", "conditions[1]",
            ])
        #expect(found.map(\.line) == [2, 6, 7, 8, 9, 11, 11, 12, 13, 15, 15, 16])
        let fixes = found.map(\.fix)
        #expect(fixes[0].contains("length"))
        #expect(fixes[1].contains("continued"))
        #expect(fixes[4].contains("work"))
        #expect(fixes[5].contains("promote"))
        #expect(fixes[9].contains("battery"))
    }

    @Test(
        "Times are read as clock times, as lengths since the start and as dates",
        arguments: [
            ("09:30", 5_400), ("08:00", 0), ("07:00", 82_800), ("07:00 +1d", 169_200), ("+2h", 7_200), ("90s", 90),
            ("2026-03-02T10:00", 7_200), ("2026-03-02T10:00Z", 10_800), ("2026-03-03T08:00+01:00", 86_400),
        ])
    func times(text: String, seconds: Int) throws {
        let start = try #require(WallTime("2026-03-02T08:00+01:00"))
        #expect(DayTraceReader.time(text, start: start) == .seconds(seconds))
    }

    @Test(
        "Times are those that the clock will show, also after it has been put forward or back",
        arguments: [
            // Central Europe: at 02:00 on 28 March 2027 it is 03:00, at 03:00 on 25 October 2026 it is 02:00.
            ("2026-11-28T12:00Z", "2027-07-01T12:00", "2027-07-01T10:00Z"),
            ("2026-07-01T12:00Z", "2027-01-01T12:00", "2027-01-01T11:00Z"),
            ("2026-11-28T12:00Z", "2027-07-01T12:00Z", "2027-07-01T12:00Z"),
            ("2027-03-27T20:00Z", "08:00", "2027-03-28T06:00Z"), ("2026-10-24T20:00Z", "08:00", "2026-10-25T07:00Z"),
            ("2027-03-27T18:00Z", "20:30 +1d", "2027-03-28T18:30Z"),
            ("2027-03-27T20:00Z", "+12h", "2027-03-28T08:00Z"),
            ("2027-03-27T20:00Z", "02:30", "2027-03-28T01:30Z"), ("2026-10-24T20:00Z", "02:30", "2026-10-25T00:30Z"),
            ("2026-10-25T01:10Z", "02:30", "2026-10-25T01:30Z"),
            ("2027-03-28T10:00Z", "2027-03-28T11:30", "2027-03-28T09:30Z"),
        ])
    func putClocks(now: String, text: String, moment: String) throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        func offset(_ moment: Duration) -> Int {
            zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment.components.seconds)))
        }
        var start = try #require(WallTime(now))
        start.offsetSeconds = offset(start.sinceEpoch)
        let time = try #require(DayTraceReader.time(text, start: start, offset: offset))
        #expect(start.sinceEpoch + time == WallTime(moment)?.sinceEpoch)
    }

    @Test(
        "What is no time is refused", arguments: ["", "24:00", "8", "08:60", "08:00 2h", "2026-02-29T08:00", "+", "::"])
    func noTimes(text: String) throws {
        let start = try #require(WallTime("2026-03-02T08:00Z"))
        #expect(DayTraceReader.time(text, start: start) == nil)
    }

    @Test(
        "Wall times go through leap days and offsets and back",
        arguments: [
            ("2024-02-29T23:59:30Z", "2024-02-29 23:59", 1_709_251_170), ("1970-01-01T00:00", "1970-01-01 00:00", 0),
            ("2026-03-02T08:00+05:30", "2026-03-02 08:00", 1_772_418_600),
            ("2100-03-01T00:00Z", "2100-03-01 00:00", 4_107_542_400),
            ("2026-12-31T23:00-0100", "2026-12-31 23:00", 1_798_761_600),
        ])
    func wallTimes(text: String, shown: String, seconds: Int) throws {
        let time = try #require(WallTime(text))
        #expect(time.sinceEpoch == .seconds(seconds))
        #expect(time.text == shown)
    }

    @Test("A repeated request comes as often as the day is long, or as often as it says")
    func repeats() throws {
        let day = try Days.day(
            """
            requests:
              - {at: 08:30, identifier: org.example.app.fetch, kind: refresh, every: 1h}
              - {at: 08:30, identifier: org.example.app.job.a, kind: continued, every: 10m, times: 3}
            """)
        #expect(day.entries.count == 4 + 3)
    }

    @Test("rule 41: a condition may be unknown, and a change keeps what it does not name")
    func conditionChanges() throws {
        let day = try Days.day(
            """
            conditions:
              - {power: battery, batteryPercent: 40, network: none, thermal: serious}
              - {at: 09:00, power: unknown}
              - {at: 10:00, network: metered, availableMemoryBytes: 2 GiB}
            """)
        let read = day.entries.compactMap { entry in
            if case .conditions(let conditions) = entry.happening { conditions } else { nil }
        }
        #expect(read.map(\.power) == [.battery, nil, nil])
        #expect(read.map(\.batteryPercent) == [40, 40, 40])
        #expect(read.map(\.network) == [Conditions.Network.none, .some(.none), .metered])
        #expect(read.last?.thermal == .serious)
        #expect(read.last?.availableMemoryBytes == 2 << 30)
    }

    @Test("A recording is read in both of its forms, found beside the day, and begins the day that says no start")
    func recording() throws {
        let folder = try TemporaryFolder()
        let lines = """
            {"version":1,"time":"2026-03-02T09:00:00+0100","changed":["power"],"conditions":{"power":{"value":"battery"},"batteryPercent":{"value":18},"userIdle":{"value":null,"unknownBecause":"no bus"},"thermal":{"value":"fair"}}}
            {"at": 1772442000.5, "power": "external", "lowPowerMode": true, "availableMemoryBytes": 1000}

            """
        try folder.write(lines, to: "night.jsonl")
        try folder.write("recorded: night.jsonl\nlength: 4h\n", to: "day.yml")
        let day = try DayTraceReader.read(path: folder.file("day.yml"))
        #expect(day.start.text == "2026-03-02 09:00")
        #expect(day.entries.map(\.at) == [.zero, .milliseconds(3_600_500)])
        guard case .conditions(let first) = day.entries[0].happening,
            case .conditions(let second) = day.entries[1].happening
        else {
            Issue.record("a recording holds conditions")
            return
        }
        #expect(first == Conditions(power: .battery, batteryPercent: 18, thermal: .fair))
        #expect(second == Conditions(power: .external, lowPowerMode: true, availableMemoryBytes: 1_000))

        try Data("{\"at\": 5}\nnonsense\n{\"at\": 6, \"power\": \"wind\"}\n".utf8).write(
            to: folder.url.appending(path: "night.jsonl"))
        do throws(FileMistakes) {
            _ = try DayTraceReader.read(path: folder.file("day.yml"))
            Issue.record("a damaged recording was read")
        } catch {
            #expect(error.mistakes.map(\.field).contains("recorded"))
            #expect(error.description.contains("night.jsonl:2"))
            #expect(error.description.contains("night.jsonl:3"))
        }
    }

    @Test("rule 51: quiet hours are those of every day that the day touches")
    func quietHours() throws {
        let day = try Days.day("quietHours: [22:00-06:00, 05:00-07:00, 12:00-13:00]", length: "48h")
        let hours = day.blockedHours.map { ($0.upperBound - $0.lowerBound).components.seconds / 3_600 }
        #expect(hours.allSatisfy { $0 == 9 || $0 == 1 })
        #expect(day.blockedHours.contains { $0.lowerBound == day.start.sinceEpoch + .seconds(4 * 3_600) })
    }

    @Test("A day that is no mapping, or has too much in it, is refused")
    func refused() {
        #expect(Days.mistakes("- a").map(\.code) == ["notAMapping"])
        #expect(Days.mistakes("title: x").map(\.code) == ["missingKey"])
        let many = Self.head + "length: 31d\nrequests: [{at: 0, identifier: org.a.x, kind: continued, every: 1s}]"
        #expect(Days.mistakes(many).map(\.code) == ["tooManyEntries"])
    }
}
