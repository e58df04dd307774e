import BGRunCommands
import Foundation
import Glibc
import SchedulingCore
import Testing

/// Stopping, killing, crashing, and going on.
@Suite struct StopTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
    }

    /// An export whose third picture hangs its decoder, met when the others are done.
    private func hangingRun(_ arguments: String...) throws -> CommandRun {
        let run = try CommandRun(
            ["export", "photos", "--out", "out", "--size", "100", "--progress", "json"] + arguments, in: place,
            environment: ["BGRUN_TEST_HANG_ON": "photo-0003"])
        try #require(run.waits(for: "\"files\":\(Photos.count - 1),"))
        return run
    }

    private func reference() throws -> [String: Data] {
        let other = try TestPlace()
        try FileManager.default.copyItem(atPath: place.path + "/photos", toPath: other.path + "/photos")
        #expect(try other.bgrun("export", "photos", "--out", "out", "--size", "100").status == 0)
        return try other.contents("out")
    }

    @Test("rule 77, A21: a signal stops cleanly, and the same command goes on", arguments: [SIGINT, SIGTERM])
    func aSignalStopsCleanlyAndTheSameCommandGoesOn(signal: Int32) throws {
        try place.putPhotos()
        let run = try hangingRun("--grace", "0.2s")
        run.send(signal)
        let stopped = run.end()
        #expect(stopped.status == 75)
        #expect(stopped.errors.contains("same command"))
        #expect(try place.contents("out").count == Photos.count - 1)
        let resumed = try place.bgrun("export", "photos", "--out", "out", "--size", "100", "--json")
        #expect(resumed.status == 0)
        let counts = try #require(try resumed.json()["counts"] as? [String: Int])
        #expect(counts["good"] == 1 && counts["current"] == Photos.count - 1)
        #expect(try place.contents("out") == reference())
    }

    @Test("rule 77: a second signal leaves at once", arguments: [SIGINT, SIGTERM])
    func aSecondSignalLeavesAtOnce(signal: Int32) throws {
        try place.putPhotos()
        let run = try hangingRun("--grace", "1h")
        run.send(signal)
        #expect(run.waits(for: "Stopping"))
        run.send(signal)
        #expect(run.end().status == 128 + signal)
        #expect(try place.bgrun("export", "photos", "--out", "out", "--size", "100").status == 0)
        #expect(try place.contents("out") == reference())
    }

    @Test func aStopWaitsForAnEncodeThatIsToEndSoon() throws {
        try place.putPhotos()
        let run = try CommandRun(
            [
                "export", "photos", "--out", "out", "--size", "100", "--progress", "json", "--grace", "2s",
                "--workers", "2",
            ], in: place, environment: ["BGRUN_TEST_SLOW_ENCODE_ON": "photo-0003:8"])
        try #require(run.waits(for: "\"files\":\(Photos.count - 1),"))
        run.send(SIGINT)
        let ended = run.end()
        // Killed after the grace, it would be left to a later run.
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try place.contents("out").count == Photos.count)
    }

    @Test("inputs that vanish while others are in work fail, and hold up none")
    func vanishingInputs() throws {
        try place.putPhotos()
        let run = try CommandRun(
            ["export", "photos", "--out", "out", "--size", "100", "--progress", "json", "--workers", "1", "--json"],
            in: place, environment: ["BGRUN_TEST_SLOW_ENCODE_ON": "photo-0002:5"])
        try #require(run.waits(for: "\"files\":1,"))
        for number in [4, 5, 7, 12] {
            try FileManager.default.removeItem(
                atPath: place.path + "/photos/photo-00\(number < 10 ? "0" : "")\(number).jpg")
        }
        let ended = run.end()
        #expect(ended.status == 65)
        let counts = try #require(try ended.json()["counts"] as? [String: Int])
        #expect(counts["failed"] == 4 && counts["good"] == Photos.count - 4)
        #expect(try place.contents("out").count == Photos.count - 4)
    }

    @Test func aStopDoesNotWaitForAnEncodeThatTakesLonger() throws {
        try place.putPhotos()
        let run = try CommandRun(
            [
                "export", "photos", "--out", "out", "--size", "100", "--progress", "json", "--grace", "100ms",
                "--workers", "2",
            ], in: place, environment: ["BGRUN_TEST_SLOW_ENCODE_ON": "photo-0003:600"])
        try #require(run.waits(for: "\"files\":\(Photos.count - 1),"))
        run.send(SIGINT)
        #expect(run.end().status == 75)
        #expect(try place.contents("out").count == Photos.count - 1)
    }

    @Test func aStopNamesTheEncodeThatItWaitsFor() {
        var words = StopWords(
            sentence: "Stopping", inWork: 2, patience: .seconds(5), givesUp: false,
            encode: .init(expected: .seconds(12), longest: .milliseconds(23_400)), longestEncode: 40)
        #expect(
            words.text
                == "Stopping: finishing 2 in work, for at most 5 s (Ctrl-C leaves at once). An encode under way ends "
                + "in about 12 s and is waited for, for at most 24 s.")
        words.encode = nil
        #expect(
            words.text.hasSuffix("The longest encode takes about 40 s; one that has not ended by then is given up."))
        (words.longestEncode, words.givesUp) = (0.2, true)
        #expect(words.text == "Stopping: what is all but done of 2 in work is finished, within 5 s.")
    }

    @Test func theTimeBudgetStopsCleanly() throws {
        try place.putPhotos()
        let run = try CommandRun(
            ["export", "photos", "--out", "out", "--size", "100", "--expire-after", "10s", "--grace", "0.1s"],
            in: place,
            environment: ["BGRUN_TEST_HANG_ON": "photo-0003"])
        let ended = run.end()
        #expect(ended.status == 75)
        #expect(ended.errors.contains("The time is over"))
    }

    @Test("rule 77: a closed terminal stops nothing")
    func aClosedTerminalStopsNothing() throws {
        try place.putPhotos()
        let run = try CommandRun(
            ["export", "photos", "--out", "out", "--size", "100", "--progress", "json", "--stall-limit", "5s"],
            in: place, environment: ["BGRUN_TEST_HANG_ON": "photo-0003"])
        try #require(run.waits(for: "\"event\":\"progress\""))
        run.send(SIGHUP)
        #expect(run.end().status == 65, "the job went on until its hanging picture was given up")
    }

    @Test func anOverwritingExportGoesOnWhereItWasStopped() throws {
        try place.putPhotos()
        #expect(try place.bgrun("export", "photos", "--out", "out", "--size", "100").status == 0)
        let run = try hangingRun("--existing", "overwrite", "--grace", "0.1s")
        run.send(SIGINT)
        #expect(run.end().status == 75)
        let resumed = try place.bgrun(
            "export", "photos", "--out", "out", "--size", "100", "--existing", "overwrite", "--json")
        #expect((try resumed.json()["counts"] as? [String: Int])?["good"] == 1)
    }

    @Test func aFileThatAppearsWhileAJobIsStoppedIsNotTheJobs() throws {
        try place.putPhotos()
        let run = try hangingRun("--grace", "0.1s")
        run.send(SIGINT)
        #expect(run.end().status == 75)
        try place.write("mine", to: "out/photo-0003.jpg")
        #expect(try place.bgrun("export", "photos", "--out", "out", "--size", "100").status == 65)
        #expect(try place.contents("out")["photo-0003.jpg"] == Data("mine".utf8))
    }

    @Test("rule 68, rule 73: a decoder that crashes is one failed item")
    func aDecoderThatCrashesIsOneFailedItem() throws {
        try place.putPhotos(4)
        let ended = try place.bgrun(
            "export", "photos", "--out", "out", "--size", "100", environment: ["BGRUN_TEST_CRASH_ON": "photo-0002"])
        #expect(ended.status == 65)
        #expect(ended.errors.contains("photo-0002.jpg: decoderCrashed: the decoder crashed (SIGSEGV)"))
        #expect(try place.contents("out").count == 3)
    }

    @Test func aDecoderThatTakesMoreMemoryThanItsPictureMayClaimIsOneFailedItem() throws {
        try place.putPhotos(4)
        let ended = try place.bgrun(
            "export", "photos", "--out", "out", "--size", "100", "--memory", "256M",
            environment: ["BGRUN_TEST_HOG_ON": "photo-0002"])
        #expect(ended.status == 65)
        #expect(ended.errors.contains("photo-0002.jpg: decoderCrashed: the decoder crashed (SIGABRT)"))
        #expect(try place.contents("out").count == 3)
    }

    /// The process dies at the next picture while the one before is being committed, or was just told of: which of them is
    /// left to the disk, and many pairs see both.
    @Test(arguments: ["BGRUN_TEST_CRASH_ON", "BGRUN_TEST_KILL_ON"])
    func thePictureBeforeOneThatCrashesIsMade(_ fault: String) throws {
        let pairs = 20
        let photo = try #require(try Photos.small.get().first)
        for pair in 10..<10 + pairs {
            for name in ["a-sound", "b-deadly"] { try place.put(photo, at: "photos/\(pair)-\(name).jpg") }
        }
        let ended = try place.bgrun(
            "export", "photos", "--out", "out", "--size", "100", "--workers", "1", environment: [fault: "b-deadly"])
        #expect(ended.status == 65)
        let made = try place.contents("out").keys
        #expect(made.count == pairs && made.allSatisfy { $0.hasSuffix("-a-sound.jpg") })
        #expect(!ended.errors.contains("a-sound"))
    }

    @Test func aDecoderThatHangsIsOneFailedItem() throws {
        try place.putPhotos(4)
        let ended = try place.bgrun(
            "export", "photos", "--out", "out", "--size", "100", "--stall-limit", "5s",
            environment: ["BGRUN_TEST_HANG_ON": "photo-0002"])
        #expect(ended.status == 65)
        #expect(ended.errors.contains("photo-0002.jpg: decoderHung"))
        #expect(try place.contents("out").count == 3)
    }

    @Test func aPictureWhoseProcessIsKilledTwiceIsGivenUp() throws {
        try place.putPhotos(3)
        let ended = try place.bgrun(
            "export", "photos", "--out", "out", "--size", "100", environment: ["BGRUN_TEST_KILL_ON": "photo-0001"])
        #expect(ended.status == 65)
        #expect(ended.errors.contains("photo-0001.jpg: decoderCrashed"))
        #expect(try place.contents("out").count == 2)
    }

    @Test func workersEndWithTheirSupervisor() throws {
        try place.putPhotos()
        let run = try hangingRun("--workers", "2")
        let children = try String(
            contentsOfFile: "/proc/\(run.processID)/task/\(run.processID)/children", encoding: .utf8
        )
        .split(separator: " ").compactMap { pid_t($0) }
        #expect(!children.isEmpty)
        run.send(SIGKILL)
        #expect(run.end().wasKilled, "standard error ends only when the workers are gone too")
        let clock = ContinuousClock()
        let patience = clock.now + .seconds(60)
        for child in children {
            // The kernel closes its files before it takes it from the list.
            while isRunning(child), clock.now < patience { sched_yield() }
            #expect(!isRunning(child), "worker \(child) is still there")
        }
    }

    private func isRunning(_ process: pid_t) -> Bool {
        let state = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        return !state.isEmpty && !state.contains(") Z ") && !state.contains(") X ")
    }

    @Test func theSameJobDoesNotRunTwiceAtOnce() throws {
        try place.putPhotos()
        let run = try hangingRun()
        let second = try place.bgrun("export", "photos", "--out", "out", "--size", "100")
        #expect(second.status == 75)
        #expect(second.errors.contains("alreadyRunning"))
        run.send(SIGKILL)
        _ = run.end()
        #expect(try place.bgrun("export", "photos", "--out", "out", "--size", "100").status == 0)
    }

    @Test func severalJobsMayStartAtTheSameMoment() throws {
        try place.putPhotos()
        let runs = try (0..<8).map {
            try CommandRun(["export", "photos", "--out", "out\($0)", "--size", "100"], in: place)
        }
        for run in runs { #expect(run.end().status == 0) }
        #expect(try place.contents("out0") == place.contents("out2"))
        #expect(try place.contents("out1").count == Photos.count)
    }
}
