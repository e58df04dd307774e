import Foundation
import SeededNumbers
import SystemConditions
import TaskModel
import Testing

struct AllowedHoursTests {
    private static func zone(_ name: String) throws -> TimeZone { try #require(TimeZone(identifier: name)) }

    private static func moment(_ text: String) throws -> Duration {
        .seconds(Int(try Date(text, strategy: .iso8601).timeIntervalSince1970))
    }

    private static func spans(_ hours: String, from start: String, days: Int, _ zone: String) throws -> [String] {
        try AllowedHours(quietHours: QuietHours.parse(hours))
            .blocked(from: moment(start), days: days, timeZone: Self.zone(zone)).map { span in
                [span.lowerBound, span.upperBound].map {
                    Date(timeIntervalSince1970: $0 / .seconds(1)).formatted(.iso8601)
                }.joined(separator: " ")
            }
    }

    @Test("rule 51: quiet hours over midnight hold from the evening to the morning, also when asked at night")
    func overMidnight() throws {
        let spans = try Self.spans("22:00-07:00", from: "2026-01-10T02:00:00Z", days: 1, "UTC")
        #expect(spans == ["2026-01-09T22:00:00Z 2026-01-10T07:00:00Z", "2026-01-10T22:00:00Z 2026-01-11T07:00:00Z"])
    }

    @Test("rule 51: quiet hours are meant in the local time zone")
    func localTime() throws {
        let spans = try Self.spans("12:00-13:30", from: "2026-01-10T00:00:00Z", days: 1, "America/New_York")
        #expect(spans == ["2026-01-10T17:00:00Z 2026-01-10T18:30:00Z"])
    }

    @Test("rule 51: quiet hours follow the machine to another time zone")
    func anotherZone() async {
        // In a process of its own, for a process has one time zone.
        await #expect(processExitsWith: .success) {
            let hours = AllowedHours(quietHours: try QuietHours.parse("12:00-13:00"))
            let midnight = Duration.seconds(1_768_003_200)
            setenv("TZ", "UTC", 1)
            #expect(hours.blocked(from: midnight, days: 1).first?.lowerBound == midnight + .seconds(12 * 3_600))
            setenv("TZ", "America/New_York", 1)
            #expect(hours.blocked(from: midnight, days: 1).first?.lowerBound == midnight + .seconds(17 * 3_600))
        }
    }

    @Test("rule 51: the night on which clocks are put forward is an hour shorter, the other an hour longer")
    func summerTime() throws {
        // Central Europe: at 02:00 on 29 March 2026 it is 03:00, at 03:00 on 25 October it is 02:00.
        let spring = try Self.spans("22:00-07:00", from: "2026-03-28T12:00:00Z", days: 1, "Europe/Berlin")
        #expect(spring == ["2026-03-28T21:00:00Z 2026-03-29T05:00:00Z"])
        let autumn = try Self.spans("22:00-07:00", from: "2026-10-24T12:00:00Z", days: 1, "Europe/Berlin")
        #expect(autumn == ["2026-10-24T20:00:00Z 2026-10-25T06:00:00Z"])
    }

    @Test("rule 51: times that a clock leaves out or shows twice begin early and end late")
    func gapAndRepetition() throws {
        let gap = try Self.spans("02:30-05:00", from: "2026-03-29T00:00:00Z", days: 1, "Europe/Berlin")
        #expect(gap.first == "2026-03-29T01:00:00Z 2026-03-29T03:00:00Z")
        let twice = try Self.spans("02:15-02:45", from: "2026-10-24T22:00:00Z", days: 1, "Europe/Berlin")
        #expect(twice.first == "2026-10-25T00:15:00Z 2026-10-25T01:45:00Z")
        // A day that has no midnight (Lebanon, 29 March 2026) still has its quiet hours.
        let noMidnight = try Self.spans("00:00-06:00", from: "2026-03-28T12:00:00Z", days: 1, "Asia/Beirut")
        #expect(noMidnight == ["2026-03-28T22:00:00Z 2026-03-29T03:00:00Z"])
    }

    @Test("rule 51: several quiet hours are one list of spans, in order and joined where they touch")
    func several() throws {
        let spans = try Self.spans(
            "13:00-14:00, 8:00-12:00,12:00-13:30,20:00-24:00", from: "2026-01-10T00:00:00Z", days: 1, "UTC")
        #expect(spans == ["2026-01-10T08:00:00Z 2026-01-10T14:00:00Z", "2026-01-10T20:00:00Z 2026-01-11T00:00:00Z"])
    }

    @Test(
        "rule 51: quiet hours that cannot be read are refused with the part and the reason",
        arguments: [
            ("22:00", "a start and an end are needed, with one - between them"),
            ("22:00-7:00,", "a start and an end are needed, with one - between them"),
            ("25:00-07:00", "\"25:00\" is no time of day"), ("22:00-07:60", "\"07:60\" is no time of day"),
            ("24:00-07:00", "\"24:00\" is no time of day"), ("22:0-07:00", "\"22:0\" is no time of day"),
            ("10pm-7am", "\"10pm\" is no time of day"),
            ("-1:00-07:00", "a start and an end are needed, with one - between them"),
            ("07:00-07:00", "start and end are the same"), ("00:00-24:00", "nothing could ever run"),
        ])
    func badHours(text: String, reason: String) throws {
        let error = #expect(throws: AllowedHoursError.self) { try QuietHours.parse(text) }
        #expect(error?.diagnostic.code == "quietHours")
        #expect(error?.diagnostic.sentence.hasSuffix(" cannot be used: \(reason).") == true)
        #expect(error?.diagnostic.fix.isEmpty == false)
    }

    private static func prices(_ json: String, limit: Double = 30) throws -> PriceFile {
        try PriceFile(json: Array(json.utf8), limit: limit)
    }

    @Test("rule 51: hours whose price is above the limit hold work back, and the next allowed time is known")
    func prices() throws {
        let file = try Self.prices(
            """
            [{"start": "2026-03-01T00:00:00Z", "end": "2026-03-01T01:00:00Z", "value": 30},
             {"start": "2026-03-01T02:00:00+01:00", "end": "2026-03-01T02:30:00Z", "value": 31.5},
             {"start": "2026-03-01T02:30:00Z", "end": "2026-03-01T04:00:00Z", "value": 1e3},
             {"start": "2026-03-01T05:00:00Z", "end": "2026-03-01T06:00:00Z", "value": 1},
             {"start": "2026-03-01T06:00:00Z", "end": "2026-03-01T07:00:00Z", "value": 0}]
            """)
        let now = try Self.moment("2026-03-01T02:00:00Z")
        let blocked = AllowedHours(prices: file).blocked(from: now, days: 1)
        #expect(blocked == [try Self.moment("2026-03-01T01:00:00Z")..<Self.moment("2026-03-01T04:00:00Z")])
        #expect(AllowedHours.nextAllowed(from: now, blocked: blocked) == (try Self.moment("2026-03-01T04:00:00Z")))
        let free = try Self.moment("2026-03-01T04:00:00Z")
        #expect(AllowedHours.nextAllowed(from: free, blocked: blocked) == free)
        #expect(file.coveredUntil == (try Self.moment("2026-03-01T07:00:00Z")))
    }

    @Test("rule 51: quiet hours and prices join into one wait")
    func together() throws {
        let file = try Self.prices(
            "[{\"start\": \"2026-01-10T06:00:00Z\", \"end\": \"2026-01-10T09:00:00Z\", \"value\": 40}]")
        let hours = AllowedHours(quietHours: try QuietHours.parse("22:00-07:00"), prices: file)
        let now = try Self.moment("2026-01-10T03:00:00Z")
        let blocked = hours.blocked(from: now, days: 1, timeZone: try Self.zone("UTC"))
        #expect(AllowedHours.nextAllowed(from: now, blocked: blocked) == (try Self.moment("2026-01-10T09:00:00Z")))
    }

    @Test(
        "rule 51: a price file that cannot be used is refused with the entry and the reason",
        arguments: [
            ("", "priceFile", "The price file is not JSON."), ("{}", "priceFile", "The price file is not an array."),
            ("3", "priceFile", "The price file is not an array."),
            ("[1]", "priceEntry", "Entry 1 of the price file cannot be used: it is not an object."),
            ("[{}]", "priceEntry", "Entry 1 of the price file cannot be used: \"start\" is missing."),
            (
                #"[{"start": "2026-03-01T00:00:00Z", "end": "2026-03-01T01:00:00Z", "value": 1}, {"start": "yesterday"}]"#,
                "priceEntry",
                "Entry 2 of the price file cannot be used: \"start\" is not a time such as 2026-03-01T00:00:00Z."
            ),
            (
                #"[{"start": "2026-03-01T00:00:00Z", "end": "2026-03-01T00:00:00Z", "value": 1}]"#, "priceEntry",
                "Entry 1 of the price file cannot be used: it ends before it begins."
            ),
            (
                #"[{"start": "2026-03-01T00:00:00Z", "end": "2026-03-01T01:00:00Z"}]"#, "priceEntry",
                "Entry 1 of the price file cannot be used: \"value\" is missing."
            ),
            (
                #"[{"start": "2026-03-01T00:00:00Z", "end": "2026-03-01T01:00:00Z", "value": "1"}]"#, "priceEntry",
                "Entry 1 of the price file cannot be used: \"value\" is not a number."
            ),
            (
                #"[{"start": "2026-03-01T00:00:00Z", "end": "2026-03-01T01:00:00Z", "value": true}]"#, "priceEntry",
                "Entry 1 of the price file cannot be used: \"value\" is not a number."
            ),
        ])
    func badPrices(json: String, code: String, sentence: String) throws {
        let error = #expect(throws: AllowedHoursError.self) { try Self.prices(json) }
        #expect(error?.diagnostic.code == code)
        #expect(error?.diagnostic.sentence == sentence)
    }

    @Test("rule 51: bytes that are no price file are refused without a trap")
    func hostilePrices() throws {
        var random = SeededGenerator(seed: 51)
        let sound = Array(#"[{"start": "2026-03-01T00:00:00Z", "end": "2026-03-01T01:00:00Z", "value": 31.5}]"#.utf8)
        var refused = 0
        for _ in 0..<5_000 {
            var bytes = sound
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            do { _ = try PriceFile(json: bytes, limit: 30) } catch { refused += 1 }
        }
        #expect(refused > 2_500)
        let missing = #expect(throws: AllowedHoursError.self) { try PriceFile(path: "/not/there", limit: 1) }
        #expect(missing?.diagnostic.sentence == "The price file /not/there cannot be read.")
    }
}
