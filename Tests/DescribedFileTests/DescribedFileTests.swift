import DescribedFile
import TaskModel
import Testing

@Suite struct DescribedFileTests {
    private func mistakes(_ text: String, _ read: (DescribedValue) -> Void) -> [FileMistake] {
        do throws(FileMistakes) {
            let file = try DescribedFile.parse(text, file: "a.yml")
            read(file.root)
            try file.log.check()
            return []
        } catch {
            return error.mistakes
        }
    }

    private func manifestMistakes(_ text: String) -> [FileMistake] { mistakes(text) { _ = DescribedManifest.read($0) } }

    @Test("rule 1: a sound manifest is read from YAML and from JSON alike")
    func sound() throws {
        let yaml = """
            program: org.example.app
            modes: [refresh, continued]
            identifiers:
              - org.example.app.fetch
              - org.example.app.job.*
            grants: [gpu]
            entryPoints:
              org.example.app.fetch: [/usr/bin/app, --fetch]
            """
        let json = """
            {"program": "org.example.app", "modes": ["refresh", "continued"],
             "identifiers": ["org.example.app.fetch", "org.example.app.job.*"], "grants": ["gpu"],
             "entryPoints": {"org.example.app.fetch": ["/usr/bin/app", "--fetch"]}}
            """
        let manifests = try [yaml, json].map { text in
            let file = try DescribedFile.parse(text, file: "a")
            let manifest = try #require(DescribedManifest.read(file.root))
            try file.log.check()
            return manifest
        }
        #expect(manifests[0] == manifests[1])
        #expect(manifests[0].program == "org.example.app")
        #expect(manifests[0].grants == .gpu)
        #expect(manifests[0].entryPoints[IdentifierPattern("org.example.app.fetch")] == ["/usr/bin/app", "--fetch"])
    }

    @Test("rule 1: every mistake in a manifest is told at once, each with its field and line")
    func everyMistake() {
        let found = manifestMistakes(
            """
            program: org.example.app
            modes: [refersh]
            identifiers:
              - org.example.other.fetch
            grant: [gpu]
            """)
        #expect(found.map(\.line) == [2, 4, 5])
        #expect(found.map(\.field) == ["modes[0]", "identifiers[0]", "grant"])
        #expect(found.map(\.code) == ["unknownValue", "identifierShape", "unknownKey"])
        #expect(found[0].fix.contains("refresh"))
        #expect(found[2].fix.contains("grants"))
    }

    @Test("rule 19: every mistake has a code, a sentence and a fix")
    func complete() {
        let texts = [
            "", "[1, 2]", "program: x", "program: [a]\nmodes: 3\nidentifiers: {}", "a: b: c", "a: 1\na: 2",
            "program: org.a\nmodes: [refresh, refresh]\nidentifiers: [org.a.x, org.a.x]\nentryPoints: {org.a.y: []}",
        ]
        for text in texts {
            let found = manifestMistakes(text)
            #expect(!found.isEmpty, "\(text)")
            for mistake in found {
                #expect(!mistake.code.isEmpty && mistake.sentence.hasSuffix(".") && mistake.fix.hasSuffix("."))
            }
        }
    }

    @Test("A key that is given twice is refused by name")
    func repeated() {
        let found = mistakes("a: 1\nb: 2\na: 3") { _ in }
        #expect(found.first?.code == "repeatedKey")
        #expect(found.first?.field == "a")
    }

    @Test("Brackets nested without end are a mistake, not a crash")
    func nesting() {
        let found = mistakes(String(repeating: "[", count: 200_000)) { _ in }
        #expect(found.first?.code == "syntax")
        let keys = mistakes(String(repeating: "{a: ", count: 100_000)) { _ in }
        #expect(keys.first?.code == "syntax")
    }

    @Test("A description of one line names the file, the line and the field")
    func description() {
        let mistakes = FileMistakes(
            file: "day.yml",
            mistakes: [
                FileMistake(code: "a", field: "requests[2].at", line: 7, sentence: "It is wrong.", fix: "Mend it.")
            ])
        #expect(mistakes.description == "day.yml:7: requests[2].at: It is wrong. Mend it.")
    }

    @Test(
        "Lengths of time are read with their units",
        arguments: [
            ("0", 0.0), ("500ms", 0.5), ("90s", 90), ("15m", 900), ("15min", 900), ("1h30m", 5_400), ("1.5h", 5_400),
            ("2 d", 172_800),
        ])
    func durations(text: String, seconds: Double) {
        #expect(Amounts.duration(text) == .milliseconds(Int64(seconds * 1_000)))
    }

    @Test("What is no length of time or size is refused", arguments: ["", "5", "h", "-3s", "1e9h", "3x", "1h-", "٣s"])
    func noDurations(text: String) {
        #expect(Amounts.duration(text) == nil)
    }

    @Test(
        "Sizes are read with their units",
        arguments: [("1048576", 1 << 20), ("512 MiB", 512 << 20), ("2G", 2 << 30), ("1.5GiB", 3 << 29), ("0", 0)])
    func sizes(text: String, bytes: Int) {
        #expect(Amounts.bytes(text) == bytes)
    }

    @Test("What is no size is refused", arguments: ["", "MiB", "-1", "1 mib", "9e99T", "99999999T"])
    func noSizes(text: String) {
        #expect(Amounts.bytes(text) == nil)
    }
}
