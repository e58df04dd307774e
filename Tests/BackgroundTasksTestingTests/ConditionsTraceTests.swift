import BackgroundTasks
import BackgroundTasksTesting
import Foundation
import TemporaryFolders
import Testing

@Suite struct ConditionsTraceTests {
    @Test("rule 99: a recording plays on a machine's clock, each change at its time")
    func plays() async throws {
        let machine = try photosMachine()
        let trace = try ConditionsTrace(
            parsing: """
                {"at": 1700000000, "power": "external", "network": "unmetered", "userIdle": true}
                {"at": 1700003600, "power": "battery", "batteryPercent": 80, "network": "none"}
                {"at": 1700007200, "power": "external", "network": "metered"}
                """)
        #expect(trace.length == .seconds(7_200))
        #expect(trace.start == Date(timeIntervalSince1970: 1_700_000_000))
        machine.conditions.play(trace, on: machine.clock)
        #expect(machine.conditions.conditions.network == .unmetered)
        await machine.advance(by: .seconds(3_599))
        #expect(machine.conditions.conditions.power == .external)
        await machine.advance(by: .seconds(1))
        #expect(machine.conditions.conditions.power == .battery)
        #expect(machine.conditions.conditions.batteryPercent == 80)
        #expect(machine.conditions.conditions.isIdle == nil)
        await machine.advance(by: .seconds(3_600))
        #expect(machine.conditions.conditions.network == .metered)
    }

    @Test func aTraceThatIsPlayedAnewTakesThePlaceOfTheOldOne() async throws {
        let machine = try photosMachine()
        var hot = SimulatedConditions.calm
        hot.thermal = .critical
        machine.conditions.play(ConditionsTrace([.init(at: .seconds(60), hot)]), on: machine.clock)
        machine.conditions.play(ConditionsTrace([.init(at: .seconds(90), .calm)]), on: machine.clock)
        await machine.advance(by: .seconds(120))
        #expect(machine.conditions.conditions == .calm)
    }

    @Test func whatIsRecordedIsReadAgainAndPlayedByADescribedDay() throws {
        let folder = try TemporaryFolder()
        var trace = ConditionsTrace(startingAt: Date(timeIntervalSince1970: 1_772_438_400.25))
        var conditions = SimulatedConditions.calm
        trace.record(conditions, at: .zero)
        trace.record(conditions, at: .seconds(5))
        conditions.set(.network, isMet: false)
        conditions.batteryPercent = 33.5
        conditions.foreignGPULoad = 12
        conditions.thermal = .serious
        trace.record(conditions, at: .milliseconds(90_001))
        #expect(trace.changes.count == 2)
        let path = folder.file("night.jsonl")
        try trace.write(to: path)
        #expect(try ConditionsTrace(contentsOf: path) == trace)
        try folder.write("recorded: night.jsonl\nlength: 1h\n", to: "day.yml")
        #expect(try SimulatedDay(contentsOf: folder.file("day.yml")).play().start == trace.start)
    }

    @Test func theLinesOfBgrunConditionsAreRead() throws {
        let line = """
            {"changed":["power"],"conditions":{"power":{"value":"battery","rule":42},"userIdle":{"value":null}},\
            "time":"2026-03-02T08:00:00Z","version":1}
            """
        let trace = try ConditionsTrace(parsing: line)
        var expected = SimulatedConditions()
        expected.power = .battery
        #expect(trace.changes == [.init(at: .zero, expected)])
    }

    @Test("rule 99: a bad recording is refused with its file, lines and fields")
    func mistakes() throws {
        let text = """
            {"at": 1700000000, "power": "external"}
            {"at": 1700000001, "power": "steam"}

            {"at": 1700000002, "batteryPercent": 140}
            {"power": "battery"}
            nonsense
            """
        let error = try #require(throws: TraceError.self) { try ConditionsTrace(parsing: text, file: "night.jsonl") }
        #expect(error.file == "night.jsonl")
        #expect(error.mistakes.map(\.line) == [2, 4, 5, 6])
        #expect(error.mistakes.map(\.field) == ["power", "batteryPercent", "at", ""])
        #expect(error.mistakes.allSatisfy { $0.code == "recordedLine" && !$0.sentence.isEmpty && !$0.fix.isEmpty })
        let missing = try #require(throws: TraceError.self) { try ConditionsTrace(contentsOf: "/nonexistent/a") }
        #expect(missing.mistakes.map(\.code) == ["unreadable"])
        let unwritable = try #require(throws: TraceError.self) { try ConditionsTrace().write(to: "/nonexistent/a") }
        #expect(unwritable.mistakes.map(\.code) == ["unwritable"])
    }
}
