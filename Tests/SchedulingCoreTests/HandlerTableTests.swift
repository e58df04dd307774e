import SchedulingCore
import TaskModel
import Testing

@Suite struct HandlerTableTests {
    private func table(modes: Set<TaskKind> = Set(TaskKind.allCases)) -> HandlerTable {
        HandlerTable(
            ProgramManifest(
                program: "org.example", modes: modes,
                permitted: ["org.example.refresh", "org.example.export.*", "org.example.export.raw.*"].map {
                    IdentifierPattern($0)
                }))
    }

    @Test("rule 3, A17: a star stands for a non-empty suffix, at the end and for continued work only")
    func wildcards() {
        let pattern = IdentifierPattern("org.example.export.*")
        #expect(pattern.matches(TaskIdentifier("org.example.export.a")))
        #expect(pattern.matches(TaskIdentifier("org.example.export.a.b")))
        #expect(!pattern.matches(TaskIdentifier("org.example.export.")))
        #expect(!pattern.matches(TaskIdentifier("org.example.export")))
        #expect(!pattern.matches(TaskIdentifier("org.example.exports")))
        func problem(_ text: String, _ modes: Set<TaskKind>) -> String? {
            IdentifierPattern(text).shapeProblem(program: "org.example", modes: modes)
        }
        #expect(problem("org.example.export.*", [.continued]) == nil)
        #expect(problem("org.example.*", [.continued]) == nil)
        #expect(problem("org.example.export.*", [.refresh, .processing]) != nil)
        #expect(problem("org.example.*.export", [.continued]) != nil)
        #expect(problem("org.example.ex*", [.continued]) != nil)
    }

    @Test("rule 4, A3: an identifier that is not permitted is refused, and the closest entries are named")
    func closest() {
        var table = table()
        let problem = table.register(IdentifierPattern("org.example.refesh"), for: nil)
        #expect(problem?.code == "identifierNotPermitted")
        #expect(problem?.sentence.contains("\"org.example.refresh\"") == true)
    }

    @Test("rule 5, A1: after activate() only continued handlers are taken")
    func late() {
        var table = table()
        _ = table.activate()
        #expect(table.register(IdentifierPattern("org.example.refresh"), for: nil)?.code == "registeredLate")
        #expect(table.register(IdentifierPattern("org.example.export.*"), for: nil) == nil)
    }

    @Test("rule 6: a second registration of an identifier is refused")
    func twice() {
        var table = table()
        #expect(table.register(IdentifierPattern("org.example.refresh"), for: nil) == nil)
        #expect(table.register(IdentifierPattern("org.example.refresh"), for: nil)?.code == "registeredTwice")
    }

    @Test("rule 7: the exact registration wins, then the longest pattern")
    func precedence() {
        var table = table()
        for pattern in ["org.example.export.*", "org.example.export.raw.*", "org.example.export.raw.one"] {
            #expect(table.register(IdentifierPattern(pattern), for: nil) == nil)
        }
        func handler(_ identifier: String) -> String? { table.handler(for: TaskIdentifier(identifier))?.rawValue }
        #expect(handler("org.example.export.raw.one") == "org.example.export.raw.one")
        #expect(handler("org.example.export.raw.two") == "org.example.export.raw.*")
        #expect(handler("org.example.export.jpeg") == "org.example.export.*")
        #expect(handler("org.example.other") == nil)
    }

    @Test("rule 8: a handler of another kind is an error at submission")
    func mismatch() {
        var bench = Bench(usesHandlers: true)
        #expect(bench.core.register(IdentifierPattern("org.example.a"), for: .refresh, program: Bench.program) == nil)
        #expect(bench.rejection(Bench.request("a", .processing))?.first.detail == "handlerMismatch")
        #expect(bench.rejection(Bench.request("a", .refresh)) == nil)
    }

    @Test(
        "rule 11, A2: permitted identifiers without a handler are listed at activate(), and submitting to one is refused"
    )
    func missing() {
        var table = table()
        #expect(table.activate().map(\.code) == ["handlerMissing"])
        var bench = Bench(usesHandlers: true)
        let rejection = bench.rejection(Bench.request("a", .processing))
        #expect(rejection?.code == .notPermitted)
        #expect(rejection?.first.detail == "handlerMissing")
    }
}
