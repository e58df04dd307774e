import CDispatch
import Foundation
import Glibc
import Testing

/// What an export tells, where it tells it, and what it leaves alone.
@Suite struct ReportTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
    }

    private func export(_ arguments: String..., environment: [String: String] = [:]) throws -> CommandRun.Ended {
        try CommandRun(
            ["export", "photos", "--out", "out", "--size", "100"] + arguments, in: place, environment: environment
        )
        .end()
    }

    private func objects(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any], "\($0)")
        }
    }

    private func kind(_ path: String) throws -> mode_t {
        var status = stat()
        try #require(lstat(place.path + "/" + path, &status) == 0)
        return status.st_mode & S_IFMT
    }

    @Test func aReportGoesThroughAPipeAndLeavesItAPipe() throws {
        try place.putPhotos(2)
        let path = place.path + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        // Both ways, so that neither side waits for the other; a pipe holds more than this report.
        let reader = open(path, O_RDWR | O_NONBLOCK)
        defer { close(reader) }
        #expect(try export("--report", "pipe").status == 0)
        #expect(try kind("pipe") == S_IFIFO)
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = read(reader, &bytes, bytes.count)
        try #require(count > 0)
        #expect(try objects(String(decoding: bytes[..<count], as: UTF8.self)).count == 2)
    }

    @Test func aPipeThatNobodyReadsIsNoReport() throws {
        try place.putPhotos(1)
        try #require(mkfifo(place.path + "/pipe", 0o600) == 0)
        let ended = try export("--report", "pipe")
        #expect(ended.status == 73)
        #expect(ended.errors.contains("the report pipe cannot be written: nobody reads from it"), "\(ended.errors)")
        #expect(try kind("pipe") == S_IFIFO && !place.exists("out"))
        let folder = try export("--report", "photos")
        #expect(folder.status == 73 && folder.errors.contains("the report photos cannot be written"))
        #expect(try export("--report", "/dev/null").status == 0)
    }

    @Test(arguments: ["/dev/stdout", "/dev/fd/1", "-"])
    func aReportGoesToWhoeverReadsStandardOutput(path: String) throws {
        try place.putPhotos(3)
        // As a shell's process substitution, and slower than the lines come.
        let script = "\"$0\" export photos --out out --size 100 --report \"$1\" | { sleep 0.2; cat; }"
        let ended = try CommandRun(["-c", script, CommandRun.executable, path], in: place, program: "/bin/sh").end()
        #expect(ended.status == 0, "\(ended.errors)")
        let inputs = try objects(ended.output).compactMap { $0["input"] as? String }.sorted()
        #expect(inputs == (1...3).map { "\(place.path)/photos/photo-000\($0).jpg" })
    }

    @Test func namesDoNothingToATerminal() throws {
        try place.write("this is no picture", to: "photos/\u{1b}[31mred\r\n.jpg")
        let shown = "\(place.path)/photos/\u{FFFD}[31mred\u{FFFD}\u{FFFD}.jpg"
        let ended = try export("--report", "r.jsonl")
        #expect(ended.status == 65)
        #expect(ended.errors.contains("  \(shown): unknownFormat: "), "\(ended.errors)")
        let dry = try export("--dry-run")
        #expect(dry.output.contains("\(shown): failed, "), "\(dry.output)")
        let missing = try place.bgrun("export", "\u{1b}c.jpg", "--out", "out")
        #expect(missing.errors.contains("missing: \(place.path)/\u{FFFD}c.jpg: it does not exist"))
        let sheet = try place.bgrun("contact-sheet", "photos", "--out", "sheet.png")
        #expect(sheet.errors.contains("\(shown): failed, "), "\(sheet.errors)")
        let texts = [ended.errors, dry.output, missing.errors, sheet.errors]
        #expect(!texts.contains { $0.unicodeScalars.contains("\u{1b}") || $0.unicodeScalars.contains("\r") })
        // Programs are told the name as it is.
        let report = try objects(String(contentsOfFile: place.path + "/r.jsonl", encoding: .utf8))
        #expect(report.map { $0["input"] as? String } == ["\(place.path)/photos/\u{1b}[31mred\r\n.jpg"])
    }

    @Test func aReportFollowsALinkAndReplacesWhatWasReportedBefore() throws {
        try place.putPhotos(2)
        try place.write(String(repeating: "old\n", count: 1000), to: "kept.jsonl")
        try FileManager.default.createSymbolicLink(atPath: place.path + "/link", withDestinationPath: "kept.jsonl")
        #expect(try export("--report", "link").status == 0)
        #expect(try kind("link") == S_IFLNK)
        #expect(try objects(String(contentsOfFile: place.path + "/kept.jsonl", encoding: .utf8)).count == 2)
    }

    @Test func aLinkToAnInputIsNoReport() throws {
        try place.putPhotos(2)
        let before = try place.contents("photos")
        try FileManager.default.createSymbolicLink(
            atPath: place.path + "/link", withDestinationPath: "photos/photo-0001.jpg")
        let ended = try export("--report", "link")
        #expect(ended.status == 64)
        #expect(ended.errors.contains("overwritesInput"))
        #expect(try place.contents("photos") == before)
        #expect(!place.exists("out"))
    }

    @Test(arguments: [["--report", "-"], ["--json"], ["--dry-run"], ["--dry-run", "--json"]])
    func whatCannotBeToldOnStandardOutputIsAFailure(arguments: [String]) throws {
        try place.putPhotos(2)
        let run = try CommandRun(
            ["export", "photos", "--out", "out", "--size", "100"] + arguments, in: place,
            standardOutput: "/dev/full")
        let ended = run.end()
        #expect(ended.status == 74)
        #expect(ended.errors.contains("could not be written: No space left on device"))
        if !arguments.contains("--dry-run") { #expect(try place.contents("out").count == 2) }
    }

    @Test func whatShouldBeAPictureAndIsNotIsAFailure() throws {
        try place.putPhotos(1)
        try place.write("", to: "photos/empty.jpg")
        try place.write("this is no picture", to: "photos/text.PNG")
        try place.write("\0\0\0\u{18}ftypisom\0\0\0\0mp42isom", to: "photos/phone.HEIC")
        try place.write("8BPS\0\u{1}\0\0\0\0\0\0\0\u{3}", to: "photos/layers.psd")
        try place.write("notes", to: "photos/notes.txt")
        try place.write("all:", to: "photos/Makefile")
        let ended = try export("--json")
        #expect(ended.status == 65)
        let counts = try #require(try ended.json()["counts"] as? [String: Int])
        #expect(counts == ["good": 1, "damaged": 0, "failed": 4, "current": 0, "notPictures": 2])
        let text = try export().errors
        for name in ["empty.jpg", "text.PNG", "phone.HEIC", "layers.psd"] {
            #expect(text.contains("\(name): unknownFormat: "))
        }
        #expect(text.contains("Photoshop (PSD) is not supported"))
        #expect(text.contains("2 other files were passed over (.txt, without extension)"))
    }

    @Test func aSummaryCountsInPlainWords() throws {
        try place.putPhotos(1)
        try place.write("notes", to: "photos/notes.txt")
        #expect(try export().errors.contains("1 other file was passed over (.txt)"))
        let again = try export().errors
        #expect(again.contains("No picture was exported") && again.contains("1 was there already"))
    }

    @Test func progressAsJSONIsNothingButJSONAndTellsTheEndOnce() throws {
        try place.putPhotos(3)
        let ended = try export("--progress", "json")
        let events = try objects(ended.errors)
        let lines = ended.errors.split(separator: "\n")
        #expect(Set(lines).count == lines.count, "no line comes twice")
        #expect(events.last?["event"] as? String == "finished")
        let summary = try #require(events.last?["summary"] as? [String: Any])
        #expect(summary["outcome"] as? String == "completed")
        #expect(summary["device"] as? String == "cpu")
        #expect((summary["counts"] as? [String: Int])?["good"] == 3)
    }

    @Test func aStopNamesTheLongestEncodeThatItMayWaitFor() throws {
        try place.putPhotos(1)
        let run = try CommandRun(
            [
                "export", "photos", "--out", "out", "--size", "60000", "--enlarge", "--format", "avif", "--optimize",
                "--progress", "json", "--expire-after", "2s", "--grace", "100ms", "--workers", "1",
            ], in: place, environment: ["BGRUN_TEST_HANG_ON": "photo-0001"])
        let ended = run.end()
        #expect(ended.status == 75)
        let stopping = try #require(try objects(ended.errors).first { $0["event"] as? String == "stopping" })
        let text = try #require(stopping["text"] as? String)
        #expect(text.contains("The longest encode takes about"))
        #expect(text.contains("one that has not ended by then is given up"))
    }

    @Test func aStopTellsItsReasonAndWhatWasGivenUp() throws {
        try place.putPhotos(3)
        let run = try CommandRun(
            [
                "export", "photos", "--out", "out", "--size", "100", "--progress", "json", "--expire-after", "10s",
                "--grace", "100ms", "--workers", "1",
            ], in: place, environment: ["BGRUN_TEST_HANG_ON": "photo-0001"])
        let ended = run.end()
        #expect(ended.status == 75)
        let events = try objects(ended.errors)
        let stopping = try #require(events.first { $0["event"] as? String == "stopping" })
        let text = try #require(stopping["text"] as? String)
        #expect(text.contains("finishing 1 in work, for at most 0.1 s"))
        #expect(!text.contains("encode"), "a small JPEG keeps nobody waiting")
        let stopped = try #require(events.first { $0["event"] as? String == "stopped" })
        #expect(stopped["reason"] as? String == "timeBudget")
        let summary = try #require(
            events.first { $0["event"] as? String == "finished" }?["summary"] as? [String: Any])
        #expect(summary["abandoned"] as? Int == 1 && summary["left"] as? Int == 3)
        #expect(ended.errors.contains("Not one picture was finished"))
    }

    @Test(arguments: ["12 parsecs", "ms", "0s", "5x", "-1s"])
    func aTimeThatIsNoneIsAnsweredWithTheUnits(time: String) throws {
        let ended = try export("--expire-after=\(time)")
        #expect(ended.status == 64)
        #expect(ended.errors.contains("ms, s, m (or min), h or d"))
    }

    @Test(arguments: ["1h", "90min", "2m", "1d", "3600", "3600000ms"])
    func timesHaveUnits(time: String) throws {
        try place.putPhotos(1)
        #expect(try export("--expire-after", time).status == 0)
    }

    @Test func anOutputFolderThatIsAFileIsNamedAsOne() throws {
        try place.putPhotos(1)
        try place.write("mine", to: "out")
        let ended = try export()
        #expect(ended.status == 73)
        #expect(ended.errors.contains("is a file, not a folder"))
    }

    @Test func aGPUThatIsPreferredAndMissingIsTold() throws {
        try place.putPhotos(1)
        let ended = try export("--prefer-gpu", environment: ["OCL_ICD_VENDORS": place.path + "/none"])
        #expect(ended.status == 0)
        #expect(ended.errors.contains("--prefer-gpu: the CPU is used. "))
    }

    @Test func anItemThatIsTooLargeToHandOutIsAFailureOfItsOwn() throws {
        try place.putPhotos(1)
        let folder = (0..<4).map { _ in String(repeating: "n", count: 200) }.joined(separator: "/")
        let outputs = (0..<400).flatMap { ["--output", "size=10,name=\(folder)/\($0)-{stem}.jpg"] }
        let ended = try CommandRun(["export", "photos", "--out", "out"] + outputs, in: place).end()
        #expect(ended.status == 65)
        #expect(ended.errors.contains("notHandedOut: it could not be handed to a worker: Message too long"))
    }

    @Test func anEncoderThatIsSilentForLongIsNotTakenForAHang() throws {
        try place.putPhotos(1, from: Photos.large)
        let ended = try place.bgrun(
            "export", "photos", "--out", "out", "--format", "webp", "--lossless", "--optimize", "--stall-limit", "5s")
        #expect(ended.status == 0, "\(ended.errors)")
    }

    @Test func aNarrowTerminalShowsWholePartsAndTheProblemsAmongThem() throws {
        try place.putPhotos(2)
        try place.write("this is no picture", to: "photos/broken.jpg")
        let line = "\(CommandRun.executable) export photos --out out --size 100"
        let script = Process()
        let output = Pipe()
        script.executableURL = URL(fileURLWithPath: "/usr/bin/script")
        script.arguments = ["-qec", "stty cols 40; \(line)", "/dev/null"]
        script.currentDirectoryURL = URL(fileURLWithPath: place.path)
        script.environment = ProcessInfo.processInfo.environment.merging(
            [
                "XDG_STATE_HOME": place.path + "/.state", "XDG_CACHE_HOME": place.path + "/.cache",
                "BGRUN_IN_PROCESS": "1",
            ]
        ) { $1 }
        script.standardInput = FileHandle.nullDevice
        script.standardOutput = output
        try script.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        script.waitUntilExit()
        #expect(script.terminationStatus == 65)
        let lines = text.unicodeScalars.split { $0 == "\r" || $0 == "\n" }.map { String($0) }.filter {
            $0.hasSuffix("\u{1b}[K")
        }.map { $0.dropLast(3) }
        let last = try #require(lines.last { !$0.isEmpty })
        #expect(last == "100 %, 3 of 3, 1 with problems" || last.hasPrefix("100 %, 3 of 3, 1 with problems, "))
        #expect(lines.allSatisfy { $0.count < 40 })
    }
}
