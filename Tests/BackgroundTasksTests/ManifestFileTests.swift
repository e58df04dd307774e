import BackgroundTasks
import Foundation
import TaskModel
import Testing

@Suite struct ManifestFileTests {
    private static let sound = """
        program: org.example.photos
        modes: [refresh, processing, continued]
        identifiers:
          - org.example.photos.refresh
          - org.example.photos.tidy
          - org.example.photos.export.*
        grants: [gpu]
        entryPoints:
          org.example.photos.refresh: [/usr/bin/photos, --refresh]
        """

    private func mistakes(_ text: String) throws -> [ManifestError.Mistake] {
        let error = try #require(throws: ManifestError.self) { try ManifestFile.parse(text, file: "m.yml") }
        #expect(error.file == "m.yml")
        for mistake in error.mistakes {
            #expect(!mistake.code.isEmpty && mistake.sentence.hasSuffix(".") && !mistake.fix.isEmpty)
        }
        return error.mistakes
    }

    @Test("rule 1: a manifest names program, modes, identifiers, grants and entry points")
    func sound() throws {
        let manifest = try ManifestFile.parse(Self.sound, file: "m.yml")
        #expect(manifest.program.program == "org.example.photos")
        #expect(manifest.program.modes == [.refresh, .processing, .continued])
        #expect(
            manifest.program.permitted.map(\.rawValue) == [
                "org.example.photos.refresh", "org.example.photos.tidy", "org.example.photos.export.*",
            ])
        #expect(manifest.program.grants == .gpu)
        #expect(!manifest.grantsHealthResearch)
        #expect(
            manifest.program.entryPoints == [
                IdentifierPattern("org.example.photos.refresh"): ["/usr/bin/photos", "--refresh"]
            ])
    }

    @Test("rule 1: JSON says the same as YAML")
    func json() throws {
        let text = """
            {
            \t"program": "org.example.photos", "modes": ["refresh", "processing", "continued"],
            \t"identifiers": ["org.example.photos.refresh", "org.example.photos.tidy", "org.example.photos.export.*"],
            \t"grants": ["gpu"],
            \t"entryPoints": {"org.example.photos.refresh": ["/usr/bin/photos", "--refresh"]}
            }
            """
        #expect(try ManifestFile.parse(text, file: "m.yml") == ManifestFile.parse(Self.sound, file: "m.yml"))
    }

    @Test("rule 1: every mistake of a file is told, each with its field and line")
    func allMistakes() throws {
        let found = try mistakes(
            """
            program: photos
            modes: [refresh, procesing, later]
            identifiers: org.example.photos.refresh
            grant: [gpu]
            entryPoints: 3
            """)
        #expect(
            found.map { "\($0.line ?? 0) \($0.field) \($0.code)" } == [
                "1 program programName", "2 modes[1] unknownValue", "2 modes[2] unknownValue", "3 identifiers notAList",
                "4 grant unknownKey", "5 entryPoints notAMapping",
            ])
        #expect(found[1].fix == "Did you mean \"processing\"?")
        #expect(found[2].fix.contains("\"refresh\""))
        #expect(found[4].fix == "Did you mean \"grants\"?")
    }

    @Test("rule 1: keys that are missing are named")
    func missingKeys() throws {
        let found = try mistakes("grants: []")
        #expect(found.map(\.field) == ["program", "modes", "identifiers"])
        #expect(found.allSatisfy { $0.code == "missingKey" && $0.line == 1 })
    }

    @Test("rule 1: a key that is given twice is refused with its line")
    func repeatedKey() throws {
        let found = try mistakes("program: org.example.a\nmodes: []\nmodes: [refresh]\nidentifiers: []")
        #expect(found.map(\.code) == ["repeatedKey"])
        #expect(found[0].field.contains("modes"))
        #expect(found[0].line != nil)
    }

    @Test(
        "rule 1: what is no manifest at all is one clear error",
        arguments: [
            ("", "empty"), ("- a\n- b", "notAMapping"), ("just text", "notAMapping"), ("a: [1, 2", "syntax"),
            ("a: b: c", "syntax"), ("\u{0}", "syntax"), ("program: x\n---\nprogram: y", "syntax"),
        ])
    func noManifest(text: String, code: String) throws {
        #expect(try mistakes(text).map(\.code) == [code])
    }

    @Test("rule 1: a value that is not a text is refused where a text belongs")
    func notText() throws {
        let found = try mistakes(
            "program: [a]\nmodes: [refresh]\nidentifiers:\n  - org.example.photos.a\n  - {b: c}")
        #expect(found.map(\.field) == ["program", "identifiers[1]"])
        #expect(found.map(\.line) == [1, 5])
    }

    @Test(
        "rule 2: an identifier starts with the program and a dot, and has letters, digits, - and _ between its dots",
        arguments: [
            "org.example.photos", "org.example.photosx.tidy", "ORG.example.photos.tidy", "org.example.photos..tidy",
            "org.example.photos.ti dy", "org.example.photos.tidy.", "org.example.photos.\u{e4}",
            "org.example.photos." + String(repeating: "a", count: 120),
        ])
    func identifierShape(identifier: String) throws {
        let found = try mistakes(
            "program: org.example.photos\nmodes: [refresh]\nidentifiers:\n  - \"\(identifier)\"")
        #expect(found.map(\.code) == ["identifierShape"])
        #expect(found[0].field == "identifiers[0]")
        #expect(found[0].line == 4)
    }

    @Test(
        "rule 3: a star stands only at the end, after a dot, and only for continued work",
        arguments: ["org.example.photos.*.a", "org.example.photos.a*", "org.example.photos.*.*"])
    func star(identifier: String) throws {
        let found = try mistakes(
            "program: org.example.photos\nmodes: [continued]\nidentifiers: [\"\(identifier)\"]")
        #expect(found.map(\.code) == ["identifierShape"])
        let withoutMode = try mistakes(
            "program: org.example.photos\nmodes: [processing]\nidentifiers: [org.example.photos.a.*]")
        #expect(withoutMode[0].sentence.contains("only continued work"))
    }

    @Test("rule 1: an entry point names an entry of the identifiers, and a command")
    func entryPoints() throws {
        let found = try mistakes(
            """
            program: org.example.photos
            modes: [refresh]
            identifiers: [org.example.photos.refresh]
            entryPoints:
              org.example.photos.refesh: [/bin/true]
              org.example.photos.refresh: []
            """)
        #expect(found.map(\.code) == ["entryPointIdentifier", "emptyCommand"])
        #expect(found[0].sentence.contains("org.example.photos.refresh"))
        #expect(found.map(\.line) == [5, 6])
    }

    @Test("rule 1: a file that is not there, or is no text, is one clear error naming it")
    func unreadable() throws {
        let missing = try #require(throws: ManifestError.self) { try ManifestFile.read(path: "/nowhere/m.yml") }
        #expect(missing.code == "unreadable" && missing.file == "/nowhere/m.yml")
        #expect(missing.sentence.contains("No such file"))
        let device = try #require(throws: ManifestError.self) { try ManifestFile.read(path: "/proc/self/exe") }
        #expect(device.code == "tooLarge")
    }

    @Test("rule 1: the same mistakes are found in what code says")
    func code() throws {
        let error = try #require(throws: ManifestError.self) {
            try Manifest(
                program: "photos", modes: [.refresh], permittedIdentifiers: ["photos.a"], grants: [.healthResearch])
        }
        #expect(error.field == "program" && error.line == nil && error.file == nil)
        let manifest = try Manifest(
            program: "org.example.photos", modes: [.processing], permittedIdentifiers: ["org.example.photos.a"],
            grants: [.gpu, .healthResearch])
        #expect(manifest.program.grants == .gpu && manifest.grantsHealthResearch)
    }

    @Test("rule 1: the environment's manifest comes first, then the executable's folder, then the current one")
    func search() {
        func path(_ environment: [String: String], _ files: Set<String>) -> String? {
            ManifestSearch.path(
                environment: environment, executableFolder: "/opt/app", currentFolder: "/home/me",
                exists: { files.contains($0) })
        }
        let all: Set = ["/opt/app/bgrun-tasks.json", "/opt/app/bgrun-tasks.yml", "/home/me/bgrun-tasks.yaml"]
        #expect(path(["BGRUN_MANIFEST": "/etc/m.yml"], all) == "/etc/m.yml")
        #expect(path([:], all) == "/opt/app/bgrun-tasks.yml")
        #expect(path([:], ["/home/me/bgrun-tasks.yaml"]) == "/home/me/bgrun-tasks.yaml")
        #expect(path(["BGRUN_MANIFEST": ""], []) == nil)
    }
}
