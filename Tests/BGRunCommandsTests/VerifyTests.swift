import Foundation
import Glibc
import Testing

/// `bgrun verify` on real exports.
@Suite struct VerifyTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
    }

    /// Four exported pictures in `out`.
    private func exported(_ options: String...) throws {
        try place.putPhotos(4)
        let run = try CommandRun(["export", "photos", "--out", "out", "--size", "120"] + options, in: place)
        #expect(run.end().status == 0)
    }

    private func problems(_ summary: [String: Any]) throws -> [String: String] {
        let listed = try #require(summary["problems"] as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: listed.map {
                ((($0["input"] as? String ?? "") as NSString).lastPathComponent, $0["code"] as? String ?? "")
            })
    }

    private func url(_ path: String) -> URL { URL(fileURLWithPath: place.path + "/" + path) }

    @Test func whatIsAsItWasWrittenPasses() throws {
        try exported("--output", "size=120", "--output", "size=60,format=webp", "--output", "size=60,format=png")
        let before = try place.contents("out")
        let ended = try place.bgrun("verify", "out", "--json")
        #expect(ended.status == 0, "\(ended.errors)")
        let summary = try ended.json()
        #expect((summary["counts"] as? [String: Int])?["good"] == 12)
        #expect(summary["outcome"] as? String == "completed" && summary["unknown"] == nil)
        #expect(try place.contents("out") == before)
    }

    @Test func missingChangedDamagedAndUnknownFilesAreTold() throws {
        try exported()
        try FileManager.default.removeItem(at: url("out/photo-0001.jpg"))
        // Another sound picture of the same size.
        let other = try Data(contentsOf: url("out/photo-0003.jpg"))
        try other.write(to: url("out/photo-0002.jpg"))
        var broken = other
        broken.replaceSubrange(
            broken.count / 2..<broken.count - 40, with: Data(count: broken.count - 40 - broken.count / 2))
        try broken.write(to: url("out/photo-0003.jpg"))
        try place.write("mine", to: "out/notes.txt")
        let ended = try place.bgrun("verify", "out", "--json")
        #expect(ended.status == 65)
        let summary = try ended.json()
        #expect(
            try problems(summary) == [
                "photo-0001.jpg": "missing", "photo-0002.jpg": "changed", "photo-0003.jpg": "damaged",
            ])
        #expect((summary["unknown"] as? [String])?.map { ($0 as NSString).lastPathComponent } == ["notes.txt"])
    }

    @Test func whatStandsInPlaceOfAPictureIsTold() throws {
        try exported()
        let files = FileManager.default
        for name in ["photo-0001", "photo-0002", "photo-0003"] { try files.removeItem(at: url("out/\(name).jpg")) }
        try files.createDirectory(at: url("out/photo-0001.jpg"), withIntermediateDirectories: false)
        try #require(mkfifo(place.path + "/out/photo-0002.jpg", 0o600) == 0)
        let ended = try place.bgrun("verify", "out")
        #expect(ended.status == 65)
        for (name, state) in [
            ("photo-0001", "a folder stands there"), ("photo-0002", "a pipe stands there"),
            ("photo-0003", "is not there"),
        ] {
            let line = "out/\(name).jpg: missing: it was made from \(place.path)/photos/\(name).jpg, and \(state)\n"
            #expect(ended.errors.contains(line), "\(ended.errors)")
        }
    }

    @Test func whileTheFolderIsWrittenToTheJobIsNotCalledAVerification() throws {
        try place.putPhotos(3)
        let run = try CommandRun(
            ["export", "photos", "--out", "out", "--size", "100", "--progress", "json"], in: place,
            environment: ["BGRUN_TEST_HANG_ON": "photo-0003"])
        try #require(run.waits(for: "\"files\":2,"))
        let ended = try place.bgrun("verify", "out")
        #expect(ended.status == 75)
        #expect(
            ended.errors.contains("alreadyRunning: Another job is running in \(place.path)/out."), "\(ended.errors)")
        run.send(SIGKILL)
        _ = run.end()
    }

    @Test func theCommandThatIsToldMakesThemAnew() throws {
        try exported("--title", "it's mine")
        let before = try place.contents("out")
        try FileManager.default.removeItem(at: url("out/photo-0004.jpg"))
        let ended = try place.bgrun("verify", "out")
        #expect(ended.status == 65)
        let line = try #require(ended.errors.split(separator: "\n").last { $0.contains("bgrun export") })
        let command = line.trimmingCharacters(in: .whitespaces)
            .replacing("bgrun export", with: "'\(CommandRun.executable)' export")
        let shell = try CommandRun(["-c", command], in: place, program: "/bin/sh").end()
        #expect(shell.status == 0, "\(shell.errors)")
        #expect(try place.contents("out") == before)
        #expect(try place.bgrun("verify", "out").status == 0)
    }

    @Test func whereTheInputIsGoneNoCommandMakesItAnew() throws {
        try exported()
        let files = FileManager.default
        for name in ["photo-0001", "photo-0002"] { try files.removeItem(at: url("out/\(name).jpg")) }
        try Data(contentsOf: url("out/photo-0004.jpg")).write(to: url("out/photo-0003.jpg"))
        for name in ["photo-0001", "photo-0003"] { try files.removeItem(at: url("photos/\(name).jpg")) }
        let ended = try place.bgrun("verify", "out")
        #expect(ended.status == 65)
        func gone(_ name: String) -> String { "its input \(place.path)/photos/\(name).jpg is not there any more\n" }
        #expect(ended.errors.contains("photo-0001.jpg: missing: it is not there, and " + gone("photo-0001")))
        #expect(ended.errors.contains("out/photo-0003.jpg: changed: "), "\(ended.errors)")
        #expect(ended.errors.contains("; " + gone("photo-0003")), "\(ended.errors)")
        #expect(ended.errors.contains("This makes the others anew"), "\(ended.errors)")
        let problems = try #require(try place.bgrun("verify", "out", "--json").json()["problems"] as? [[String: Any]])
        let remedied = problems.filter { $0["remedy"] != nil }.compactMap { $0["input"] as? String }
        #expect(remedied == ["\(place.path)/out/photo-0002.jpg"])
        // Nothing is left to be told a command for.
        try files.removeItem(at: url("photos/photo-0002.jpg"))
        let last = try place.bgrun("verify", "out")
        #expect(last.status == 65 && !last.errors.contains("bgrun export"), "\(last.errors)")
    }

    @Test func aFileIsNoFolderToVerify() throws {
        try place.write("mine", to: "notes.txt")
        let ended = try place.bgrun("verify", "notes.txt", "--json")
        #expect(ended.status == 64)
        #expect(ended.errors.contains("notes.txt is a file, not a folder"), "\(ended.errors)")
        #expect(try ended.json()["outcome"] as? String == "failed.notAFolder")
    }

    @Test func aBitThatFlippedShowsAlthoughSizeAndTimeAreTheSame() throws {
        try exported("--format", "png")
        let path = place.path + "/out/photo-0002.png"
        let modified = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as Any
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[bytes.count / 2] ^= 16
        try bytes.write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.modificationDate: modified], ofItemAtPath: path)
        let ended = try place.bgrun("verify", "out", "--json")
        #expect(ended.status == 65)
        #expect(try problems(try ended.json()) == ["photo-0002.png": "damaged"])
    }

    @Test func onlyTheFolderThatIsNamedIsLookedAt() throws {
        try exported()
        #expect(try place.bgrun("export", "photos", "--out", "out2", "--size", "50").status == 0)
        try FileManager.default.removeItem(at: url("out2/photo-0001.jpg"))
        #expect(try place.bgrun("verify", "out").status == 0)
        #expect(try place.bgrun("verify", "out2").status == 65)
    }

    @Test func aFolderOfWhichNothingIsKnownIsRefused() throws {
        try place.putPhotos(1)
        let ended = try place.bgrun("verify", "photos")
        #expect(ended.status == 66)
        #expect(ended.errors.contains("no export into it is known"))
        #expect(try place.bgrun("verify", "nowhere").status == 66)
    }
}
