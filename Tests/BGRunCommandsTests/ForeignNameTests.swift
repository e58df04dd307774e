import Foundation
import Glibc
import SeededNumbers
import SystemText
import Testing

/// Names, arguments and variables whose bytes are not UTF-8, through whole commands.
@Suite struct ForeignNameTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
    }

    /// Runs a line of a shell, which unlike Foundation hands on any bytes; `$BGRUN` is the program.
    private func shell(
        _ line: String, by shell: String = "/bin/sh", environment: [String: String] = [:]
    ) throws -> CommandRun.Ended {
        try CommandRun(
            ["-c", line], in: place, environment: environment.merging(["BGRUN": CommandRun.executable]) { $1 },
            program: shell
        ).end()
    }

    private func path(_ parts: String...) -> String { ([place.path] + parts).joined(separator: "/") }

    private func put(_ photo: String, at path: String) throws {
        let bytes = try #require(SystemFile.contents(photo))
        let file = open(path.systemBytes, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        try #require(file >= 0, "\(path.shown): \(String(cString: strerror(errno)))")
        defer { close(file) }
        try #require(write(file, bytes, bytes.count) == bytes.count)
    }

    private func name(_ bytes: UInt8...) -> String { String(system: bytes) }

    /// Whether there is a name with the character that stands for what cannot be read.
    private var holdsReplacements: Bool {
        (SystemFile.names(in: place.path) ?? []).contains { $0.unicodeScalars.contains("\u{FFFD}") }
    }

    /// Any bytes that a name can have, many of them no characters, and some pieces of characters.
    private static func name(_ random: inout SeededGenerator) -> String {
        let count = Int.random(in: 1...20, using: &random)
        let bytes = (0..<count).flatMap { place -> [UInt8] in
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                Array(
                    "ä€😀\u{301}\u{10FEE4}".unicodeScalars.randomElement(using: &random).map(String.init)?.utf8
                        ?? "".utf8)
            case 1: [UInt8.random(in: 0x80...0xFF, using: &random)]
            case 2: [0xF4, 0x8F, 0xBA].suffix(place % 3 + 1)
            default: [UInt8.random(in: 1...0xFF, using: &random)]
            }
        }
        return String(system: [UInt8(ascii: "n")] + bytes.filter { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ".") })
    }

    @Test func inputsOfAnyNameAreExportedVerifiedAndKnownAgain() throws {
        var random = SeededGenerator(seed: 10)
        let stems = Set((0..<40).map { _ in Self.name(&random) }.map { PathBytes($0) }).map(\.text)
        let folder = Self.name(&random)
        try #require(mkdir(path("in").systemBytes, 0o700) == 0 && mkdir(path("in", folder).systemBytes, 0o700) == 0)
        let photo = try #require(try Photos.small.get().first)
        for stem in stems { try put(photo, at: path("in", folder, stem + ".jpg")) }

        let first = try place.bgrun("export", "in", "--out", "out", "--size", "32", "--report", "r.jsonl", "--json")
        #expect(first.status == 0, "\(first.errors)")
        #expect((try first.json()["counts"] as? [String: Int])?["good"] == stems.count)
        let made = Set((SystemFile.names(in: path("out", folder)) ?? []).map { PathBytes($0) })
        #expect(made == Set(stems.map { PathBytes($0 + ".jpg") }), "byte for byte")
        #expect(SystemFile.names(in: path("out")) == [folder])

        let lines = try String(contentsOfFile: path("r.jsonl"), encoding: .utf8).split(separator: "\n")
        let told = try lines.map { line in
            let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return PathBytes(try #require(record?["input"] as? String))
        }
        #expect(
            Set(told) == Set(stems.map { PathBytes(path("in", folder, $0 + ".jpg")) }), "JSON leads back to the bytes")

        let again = try place.bgrun("export", "in", "--out", "out", "--size", "32", "--json")
        #expect(again.status == 0)
        #expect((try again.json()["counts"] as? [String: Int])?["current"] == stems.count)

        let verified = try place.bgrun("verify", "out", "--json")
        #expect(verified.status == 0, "\(verified.errors)")
        let gone = path("out", folder, stems[0] + ".jpg")
        #expect(unlink(gone.systemBytes) == 0)
        let missed = try place.bgrun("verify", "out", "--json")
        #expect(missed.status == 65)
        let problem = try #require((try missed.json()["problems"] as? [[String: Any]])?.first)
        #expect((problem["input"] as? String).map { PathBytes($0) } == PathBytes(gone))
    }

    @Test func aRemedyWithSuchANameDoesItInAShell() throws {
        let folder = path(name(UInt8(ascii: "'"), UInt8(ascii: "\\"), 0xE4))
        try #require(mkdir(folder.systemBytes, 0o700) == 0)
        try put(try #require(try Photos.small.get().first), at: folder + "/a.jpg")
        let made = try shell(#"exec "$BGRUN" export "$(printf "'\\\\\\344")" --out out --size 32"#)
        #expect(made.status == 0, "\(made.errors)")
        try FileManager.default.removeItem(atPath: path("out", "a.jpg"))
        let verified = try place.bgrun("verify", "out", "--json")
        let problem = try #require((try verified.json()["problems"] as? [[String: Any]])?.first)
        let remedy = try #require(problem["remedy"] as? String)
        #expect(remedy.contains("\\xE4"))
        let done = try shell(remedy.replacing("&& bgrun", with: "&& \"$BGRUN\""), by: "/bin/bash")
        #expect(done.status == 0, "\(done.errors)")
        #expect(place.exists("out/a.jpg"))
    }

    @Test func whatIsNamedOnTheCommandLineIsThatFileAndIsShown() throws {
        try #require(mkdir(path(name(UInt8(ascii: "p"), 0xE4)).systemBytes, 0o700) == 0)
        try put(try #require(try Photos.small.get().first), at: path(name(UInt8(ascii: "p"), 0xE4), "a.jpg"))
        let ended = try shell(
            #"exec "$BGRUN" export "$(printf 'p\344')" --out "$(printf 'o\374')" --report "$(printf 'r\377')" --size 32"#
        )
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(SystemFile.names(in: path(name(UInt8(ascii: "o"), 0xFC))) == ["a.jpg"])
        #expect(SystemFile.contents(path(name(UInt8(ascii: "r"), 0xFF)))?.isEmpty == false)
        #expect(ended.errors.contains("o\\xFC") && !ended.errors.unicodeScalars.contains("\u{FFFD}"))
        #expect(!holdsReplacements)

        let missing = try shell(#"exec "$BGRUN" export "$(printf 'q\344')" --out out"#)
        #expect(missing.status == 66 && missing.errors.contains("q\\xE4: it does not exist"), "\(missing.errors)")
        let misspelt = try shell(#"exec "$BGRUN" export p --out out --format "$(printf '\344')""#)
        #expect(misspelt.status == 64 && misspelt.errors.contains("\\xE4"), "\(misspelt.errors)")
        #expect(!place.exists("out"))
    }

    @Test(arguments: ["--artist", "--copyright", "--watermark-text"])
    func aTextThatIsNoTextIsRefused(option: String) throws {
        try place.putPhotos(1)
        let ended = try shell(#"exec "$BGRUN" export photos --out out "# + option + #" "$(printf 'M\374ller')""#)
        #expect(ended.status == 64 && ended.errors.contains("M\\xFCller"), "\(ended.errors)")
        #expect(!place.exists("out"))
    }

    @Test(arguments: ["XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"])
    func foldersOfBgrunsOwnHaveNamesInUTF8(variable: String) throws {
        try place.putPhotos(1)
        let before = SystemFile.names(in: place.path)?.filter { !$0.hasPrefix(".stdout") }
        let ended = try shell(
            variable + #"="$PWD/$(printf 's\344')"; export "# + variable + #"; exec "$BGRUN" export photos --out out"#)
        #expect(ended.status == 78)
        #expect(ended.errors.contains("\(variable) is \(place.path)/s\\xE4") && ended.errors.contains("Set it to"))
        #expect(SystemFile.names(in: place.path)?.filter { !$0.hasPrefix(".stdout") } == before)
    }

    @Test func aHomeOfAnyNameWillDoWhereTheOtherFoldersAreSet() throws {
        try place.putPhotos(1)
        let line = #"HOME="$PWD/$(printf 'h\344')"; export HOME; exec "$BGRUN" export photos --out out --size 32"#
        let refused = try shell("unset XDG_CONFIG_HOME; " + line)
        #expect(refused.status == 78 && refused.errors.contains("Set XDG_CONFIG_HOME"), "\(refused.errors)")
        let taken = try shell(line, environment: ["XDG_CONFIG_HOME": path(".config")])
        #expect(taken.status == 0, "\(taken.errors)")
    }

    @Test func whatAModelIsGivenIsNamedByItsBytes() throws {
        try place.write(try SmallModel.file(), to: "model.onnx")
        let folder = path(name(UInt8(ascii: "i"), 0x80))
        try #require(mkdir(folder.systemBytes, 0o700) == 0)
        let names = [name(0xE4, UInt8(ascii: ".")) + "jpg", "\u{301}.jpg", "z.jpg"]
        for name in names { try put(try #require(try Photos.small.get().first), at: folder + "/" + name) }
        let ended = try shell(
            #"mv model.onnx "$(printf 'm\201.onnx')"; exec "$BGRUN" infer "$(printf 'm\201.onnx')" "$(printf 'i\200')" "#
                + #"--out "$(printf 'o\202')" --json"#)
        #expect(ended.status == 0, "\(ended.errors)")
        #expect((try ended.json()["counts"] as? [String: Int])?["good"] == 3)
        let lines = try #require(SystemFile.contents(path(name(UInt8(ascii: "o"), 0x82), "inputs.jsonl")))
        let told = try lines.split(separator: UInt8(ascii: "\n")).map { line in
            let record = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
            return PathBytes(try #require(record?["input"] as? String))
        }
        #expect(Set(told) == Set(names.map { PathBytes(folder + "/" + $0) }))
        #expect(!holdsReplacements)
    }

    @Test func jobsOfTheServiceGetTheirBytesAndTheirLogsAreKept() throws {
        let service = try ServicePlace()
        func shell(_ line: String) throws -> CommandRun.Ended {
            try service.start(["-c", line], environment: ["BGRUN": CommandRun.executable], program: "/bin/sh").end()
        }
        let ran = try shell(
            #"cd "$PWD" && mkdir "$(printf 'd\344')" && cd "$(printf 'd\344')" && V="$(printf 'v\377')" exec "$BGRUN" run "#
                + #"-- sh -c 'printf "%s" "$1-$V" > "$1"; printf "l\200"' x "$(printf 'f\374')""#)
        #expect(ran.status == 0, "\(ran.errors)")
        let folder = service.place.path + "/" + name(UInt8(ascii: "d"), 0xE4)
        #expect(SystemFile.names(in: folder) == [name(UInt8(ascii: "f"), 0xFC)])
        #expect(
            SystemFile.contents(folder + "/" + name(UInt8(ascii: "f"), 0xFC))
                == [UInt8(ascii: "f"), 0xFC, UInt8(ascii: "-"), UInt8(ascii: "v"), 0xFF])
        let logged = try shell(#"exec "$BGRUN" logs 1 > log"#)
        #expect(logged.status == 0)
        #expect(SystemFile.contents(service.place.path + "/log") == [UInt8(ascii: "l"), 0x80])

        try put(try #require(try Photos.small.get().first), at: folder + "/" + name(0xE9) + ".jpg")
        let exported = try shell(#"exec "$BGRUN" export "$(printf 'd\344')" --out "$(printf 'o\374')" --size 32"#)
        #expect(exported.status == 0, "\(exported.errors)")
        #expect(exported.errors.contains("o\\xFC"))
        #expect(
            SystemFile.names(in: service.place.path + "/" + name(UInt8(ascii: "o"), 0xFC)) == [name(0xE9) + ".jpg"])
        let listed = try service.bgrun("show", "2", "--json").json()
        #expect(
            (listed["arguments"] as? [String])?.contains { PathBytes($0) == PathBytes(name(UInt8(ascii: "d"), 0xE4)) }
                == true)
    }
}

/// A name as the system compares it.
private struct PathBytes: Hashable {
    let text: String
    private let bytes: [CChar]

    init(_ text: String) {
        self.text = text
        bytes = text.systemBytes
    }

    static func == (one: PathBytes, other: PathBytes) -> Bool { one.bytes == other.bytes }

    func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
