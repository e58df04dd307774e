import Foundation
import Glibc
import Testing

/// Jobs of the service: they outlive terminals, are stopped, paused, taken up again, and survive kills.
@Suite struct ServiceTests {
    private let service: ServicePlace
    private var place: TestPlace { service.place }

    init() throws {
        service = try ServicePlace()
    }

    private func reference() throws -> [String: Data] {
        let other = try TestPlace()
        try FileManager.default.copyItem(atPath: place.path + "/photos", toPath: other.path + "/photos")
        #expect(try other.bgrun("export", "photos", "--out", "out", "--size", "100").status == 0)
        return try other.contents("out")
    }

    /// An export that hangs at its third picture, in the foreground, where all others are made beside it.
    private func hangingJob() throws {
        let run = try service.bgrun(
            "export", "photos", "--out", "out", "--size", "100", "--detach", "--stall-limit", "1h",
            environment: ["BGRUN_TEST_HANG_ON": "photo-0003"])
        #expect(run.status == 0 && run.output == "1\n")
        #expect(try service.bgrun("fg", "1").status == 0)
        #expect(try service.comes { try place.contents("out").count == Photos.count - 1 })
    }

    @Test func anExportOfTheServiceMakesTheSameFilesAsOneWithoutIt() throws {
        try place.putPhotos()
        let ended = try service.bgrun("export", "photos", "--out", "out", "--size", "100", "--json")
        #expect(ended.status == 0, "\(ended.errors)")
        #expect((try ended.json()["counts"] as? [String: Int])?["good"] == Photos.count)
        #expect(try place.contents("out") == reference())
    }

    @Test func inputsAfterTwoDashesAreInputs() throws {
        let photo = try #require(try Photos.small.get().first)
        for name in ["-dash.jpg", "--job-channel"] { try place.put(photo, at: name) }
        let ended = try service.bgrun(
            "export", "--out", "out", "--size", "100", "--progress", "none", "--", "-dash.jpg", "--job-channel")
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try Set(place.contents("out").keys) == ["-dash.jpg", "--job-channel.jpg"])
        #expect(try service.bgrun("jobs", "--all").output.split(separator: "\n").count == 2)
    }

    @Test("rule 82: an output folder that was moved is not made anew by a job that nobody looks at")
    func aMovedFolderIsNotMadeAnew() throws {
        let service = try ServicePlace(environment: ["BGRUN_TEST_BACKOFF": "0.1s"])
        let place = service.place
        try place.putPhotos()
        let run = try service.bgrun(
            "export", "photos", "--out", "out", "--size", "100", "--detach", "--stall-limit", "1h",
            environment: ["BGRUN_TEST_HANG_ON": "photo-0003"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try service.bgrun("fg", "1").status == 0)
        #expect(try service.comes { try place.contents("out").count == Photos.count - 1 })
        try FileManager.default.moveItem(atPath: place.path + "/out", toPath: place.path + "/moved")
        let process = try #require(try service.job(1)["process"] as? Int)
        kill(pid_t(process), SIGKILL)
        #expect(try service.comes { try service.job(1)["state"] as? String == "ended" })
        let shown = try service.bgrun("show", "1").output
        #expect(shown.contains("out was moved or removed while the job ran"), "\(shown)")
        #expect(!place.exists("out"))
        #expect(try place.contents("moved").count == Photos.count - 1)
    }

    @Test func aCancelledJobIsToldToBe() throws {
        #expect(try service.bgrun("run", "--detach", "--after", "1h", "--", "true").status == 0)
        #expect(try service.bgrun("cancel", "1").status == 0)
        let attached = try service.bgrun("attach", "1")
        #expect(
            attached.errors.contains("Job 1 was cancelled") && !attached.errors.contains("waits"), "\(attached.errors)")
        let paused = try service.bgrun("pause", "1")
        #expect(paused.status == 64 && !paused.errors.contains("takes it up again"), "\(paused.errors)")
    }

    @Test(arguments: [0o022, 0o027, 0o077])
    func whatAJobMakesHasTheRightsThatTheCommandItselfWouldGive(mask: Int) throws {
        try place.putPhotos(1)
        // Another mask than that of the command that starts the service.
        _ = try service.bgrun("run", "--", "true")
        for command in ["export photos --out out/deep", "run -- touch made"] {
            let shell = "umask \(String(mask, radix: 8)); exec \(CommandRun.executable) \(command)"
            #expect(try service.start(["-c", shell], program: "/bin/sh").end().status == 0)
        }
        func rights(_ path: String) throws -> Int {
            let attributes = try FileManager.default.attributesOfItem(atPath: place.path + "/" + path)
            return try #require(attributes[.posixPermissions] as? Int)
        }
        let picture = try #require(FileManager.default.contentsOfDirectory(atPath: place.path + "/out/deep").first)
        for file in ["out/deep/" + picture, "made"] { #expect(try rights(file) == 0o666 & ~mask) }
        for folder in ["out", "out/deep"] { #expect(try rights(folder) == 0o777 & ~mask) }
        // The service's own are for nobody else.
        #expect(try rights(".state/bgrun") == 0o700)
        for file in ["tasks.sqlite", "tasks.sqlite-wal", "service.log", "logs/1.log"] {
            #expect(try rights(".state/bgrun/" + file) == 0o600)
        }
    }

    @Test("rule 77: closing the terminal sends a job to the background, where it goes on")
    func closingTheTerminalSendsAJobToTheBackground() throws {
        try place.putPhotos()
        let run = try service.start(
            ["export", "photos", "--out", "out", "--size", "100", "--progress", "json", "--stall-limit", "1h"],
            environment: ["BGRUN_TEST_HANG_ON": "photo-0003"])
        try #require(run.waits(for: "\"files\":\(Photos.count - 1),"))
        #expect(try service.job(1)["priority"] as? String == "foreground")
        run.send(SIGHUP)
        #expect(run.end().wasKilled)
        #expect(
            try service.comes {
                let job = try service.job(1)
                return job["priority"] as? String == "background" && job["state"] as? String == "running"
            })
        #expect(try service.bgrun("cancel", "1").status == 0)
    }

    @Test("rule 77, A21: Ctrl-C stops a job of the service cleanly, and resume goes on with it")
    func ctrlCStopsAJobCleanly() throws {
        try place.putPhotos()
        let command = [
            "export", "photos", "--out", "out", "--size", "100", "--progress", "json", "--stall-limit", "1h",
        ]
        let run = try service.start(command, environment: ["BGRUN_TEST_HANG_ON": "photo-0003"])
        try #require(run.waits(for: "\"files\":\(Photos.count - 1),"))
        let second = try service.start(command)
        try #require(second.waits(for: "Job 1 is doing that already"))
        let third = try service.start(Array(command.dropLast(4)) + ["--progress=plain", "--stall-limit", "1h"])
        try #require(third.waits(for: "Job 1 is doing that already"))
        let other = try service.bgrun("export", "photos", "--out", "out", "--size", "90")
        #expect(other.status == 75 && other.errors.contains("alreadyRunning"), "\(other.errors)")
        run.send(SIGINT)
        let stopped = run.end()
        #expect(second.end().status == 75)
        #expect(third.end().status == 75)
        #expect(stopped.status == 75, "\(stopped.errors)")
        #expect(stopped.errors.contains("bgrun resume 1"))
        #expect(try service.job(1)["outcome"] as? String == "stopped.userStop")
        // The hanging picture is in the environment that the job was given, so its work is asked for anew.
        let again = try service.bgrun("export", "photos", "--out", "out", "--size", "100", "--json")
        #expect((try again.json()["counts"] as? [String: Int])?["current"] == Photos.count - 1)
        #expect(try place.contents("out") == reference())
        #expect(try service.job(1)["isResumable"] as? Bool == false, "job 2 has done what was left")
    }

    @Test("rule 97: what a stopped and resumed job made is counted over all its runs")
    func usageCountsAllRuns() throws {
        try place.putPhotos()
        try hangingJob()
        #expect(try service.bgrun("stop", "1").status == 0)
        #expect(try service.comes { try service.job(1)["state"] as? String == "ended" })
        #expect(try service.bgrun("resume", "1").status == 0)
        #expect(try service.comes { try service.job(1)["state"] as? String == "running" })
        #expect(try service.bgrun("stop", "1").status == 0)
        #expect(try service.comes { try service.job(1)["state"] as? String == "ended" })
        let jobs = try service.bgrun("usage", "--json").json()["jobs"] as? [[String: Any]]
        #expect(jobs?.first?["outputs"] as? Int == Photos.count - 1)
    }

    @Test("rule 82, rule 85: a killed service loses nothing, and its attached client goes on with the next one")
    func aKilledServiceLosesNothing() throws {
        try place.putPhotos()
        let run = try service.start(
            ["export", "photos", "--out", "out", "--size", "100", "--progress", "json", "--workers", "1"])
        try #require(run.waits(for: "\"event\":\"progress\""))
        let process = try #require(try service.serviceProcess())
        kill(process, SIGKILL)
        let ended = run.end()
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try service.serviceProcess() != process)
        #expect(try place.contents("out") == reference())
    }

    @Test("rule 85: after a kill of service and job nothing is stuck running")
    func nothingIsStuckRunning() throws {
        try place.putPhotos()
        try hangingJob()
        let worker = try #require(try service.job(1)["process"] as? Int)
        let process = try #require(try service.serviceProcess())
        kill(process, SIGKILL)
        kill(pid_t(worker), SIGKILL)
        let job = try service.job(1)
        #expect(["running", "waiting"].contains(job["state"] as? String))
        #expect(job["process"] as? Int != worker)
        #expect(try service.bgrun("stop", "1").status == 0)
        #expect(try service.bgrun("wait", "1").status == 75)
    }

    @Test("rule 73: a job whose process is killed is tried again from what it has committed")
    func aKilledJobIsTriedAgain() throws {
        try place.putPhotos()
        try hangingJob()
        let worker = try #require(try service.job(1)["process"] as? Int)
        kill(pid_t(worker), SIGKILL)
        #expect(
            try service.comes {
                let job = try service.job(1)
                return job["attempt"] as? Int == 2 && job["state"] as? String == "running"
            })
        #expect(try service.bgrun("cancel", "1").status == 0)
        #expect(try service.comes { try service.job(1)["outcome"] as? String == "cancelled" })
        #expect(try place.contents("out").count == Photos.count - 1)
    }

    @Test("rule 94: a paused job stands still and goes on when it is resumed")
    func aPausedJobStandsStill() throws {
        try place.putPhotos()
        #expect(
            try service.bgrun("run", "--detach", "--", "sh", "-c", "while true; do sleep 0.01; echo x >> ticks; done")
                .status == 0)
        func ticks() throws -> Int { (try? Data(contentsOf: URL(fileURLWithPath: place.path + "/ticks")).count) ?? 0 }
        #expect(try service.comes { try ticks() > 0 })
        #expect(try service.bgrun("pause", "1").status == 0)
        #expect(try service.comes { try service.job(1)["state"] as? String == "paused" })
        let reasons = try #require(try service.job(1)["reasons"] as? [[String: Any]])
        #expect(reasons.contains { $0["code"] as? String == "pausedByPerson" })
        let before = try ticks()
        _ = try service.jobs()
        #expect(try ticks() == before)
        #expect(try service.bgrun("resume", "1").status == 0)
        #expect(try service.comes { try ticks() > before })
        #expect(try service.bgrun("cancel", "1").status == 0)
    }

    @Test("rule 89, rule 91: a job is brought to the foreground and sent back")
    func aJobChangesItsPriority() throws {
        #expect(try service.bgrun("run", "--detach", "--", "sleep", "600").status == 0)
        #expect(try service.job(1)["priority"] as? String == "background")
        #expect(try service.bgrun("fg", "1").status == 0)
        #expect(try service.job(1)["priority"] as? String == "foreground")
        #expect(try service.bgrun("bg", "1").status == 0)
        #expect(try service.comes { try service.job(1)["priority"] as? String == "background" })
        #expect(try service.bgrun("cancel", "1").status == 0)
    }

    @Test func aCommandLeavesItsStatusItsOutputAndItsProgress() throws {
        let script =
            "echo progress 1 4 >&$BGRUN_PROGRESS_FD; echo out; echo err >&2; echo note look >&$BGRUN_PROGRESS_FD; exit 7"
        let ended = try service.bgrun("run", "--progress", "json", "--", "sh", "-c", script)
        #expect(ended.status == 7)
        #expect(ended.errors.contains("\"text\":\"look\""))
        #expect(ended.errors.contains("\"fraction\":0.25"))
        #expect(try service.bgrun("logs", "1").output == "out\nerr\n")
        #expect(try service.bgrun("logs", "1", "--json").output == #"{"id":1,"text":"out\nerr\n"}"# + "\n")
        #expect(try service.job(1)["outcome"] as? String == "failed.exit.7")
    }

    @Test func aCommandThatCannotBeStartedSaysWhy() throws {
        let ended = try service.bgrun("run", "--", "there-is-no-such-program")
        #expect(ended.status == 127, "as a shell tells it")
        let parts = ended.errors.components(separatedBy: "there-is-no-such-program: No such file or directory")
        #expect(parts.count == 2, "once: \(ended.errors)")
    }

    @Test("rule 14, rule 95: work for later waits and says until when")
    func workForLaterWaits() throws {
        let ended = try service.bgrun("run", "--after", "1h", "--", "true")
        #expect(ended.status == 0)
        let reasons = try #require(try service.job(1)["reasons"] as? [[String: Any]])
        #expect(reasons.contains { $0["code"] as? String == "earliestBeginDate" })
        #expect(try service.bgrun("why", "1").output.contains("earliestBeginDate"))
        #expect(try service.bgrun("cancel", "1").status == 0)
    }

    @Test("rule 14: work for another season begins when the clock will show its time")
    func workForLaterBeginsByTheClock() throws {
        let berlin = ["TZ": "CET-1CEST,M3.5.0,M10.5.0/3"]
        let times = [
            ("2037-07-01T12:00", "2037-07-01T10:00:00Z"), ("2037-12-01T12:00", "2037-12-01T11:00:00Z"),
        ]
        for (index, (time, moment)) in times.enumerated() {
            let ended = try service.bgrun("run", "--at", time, "--", "true", environment: berlin)
            #expect(ended.status == 0, "\(ended.errors)")
            let reasons = try #require(try service.job(index + 1)["reasons"] as? [[String: Any]])
            let earliest = reasons.first { $0["code"] as? String == "earliestBeginDate" }?["earliest"] as? Double
            // Counted from the second in which it was submitted.
            let expected = try Date(moment, strategy: .iso8601).timeIntervalSince1970
            #expect(try abs(#require(earliest) - expected) < 30)
            #expect(try service.bgrun("cancel", "\(index + 1)").status == 0)
        }
    }

    @Test("rule 20: a job that needs a GPU is refused at submission, and nothing is kept")
    func aJobThatNeedsAGPUIsRefused() throws {
        let none = ["OCL_ICD_VENDORS": place.path + "/none", "OCL_ICD_FILENAMES": ""]
        let ended = try service.bgrun("run", "--gpu", "--", "true", environment: none)
        #expect(ended.status == 69, "\(ended.errors)")
        #expect(try service.jobs().isEmpty)
    }

    @Test("rule 16: the same export is not begun twice")
    func theSameExportIsNotBegunTwice() throws {
        try place.putPhotos()
        try hangingJob()
        let second = try service.bgrun(
            "export", "photos", "--out", "out", "--size", "100", "--detach", "--stall-limit", "1h")
        #expect(second.status == 75)
        #expect(second.errors.contains("bgrun attach 1"))
        // Another command for the same work, which might want it done in another way.
        let other = try service.bgrun("export", "photos", "--out", "out", "--size", "100", "--workers", "1")
        #expect(other.status == 75 && other.errors.contains("bgrun attach 1"), "\(other.errors)")
        #expect(try service.jobs().count == 1)
        #expect(try service.bgrun("cancel", "1").status == 0)
    }

    @Test func theServiceStopsWithItsJobsAndTheNextGoesOnWithThem() throws {
        try place.putPhotos()
        try hangingJob()
        #expect(try service.bgrun("service", "stop").status == 0)
        #expect(try service.serviceProcess() == nil)
        #expect(try service.job(1)["state"] as? String != "ended")
        #expect(try service.bgrun("cancel", "1").status == 0)
    }

    @Test func severalCommandsThatNeedAServiceStartOne() throws {
        let runs = try (0..<6).map { _ in try service.start(["run", "--detach", "--", "true"]) }
        for run in runs { #expect(run.end().status == 0) }
        #expect(try service.bgrun("wait", "1", "2", "3", "4", "5", "6").status == 0)
        #expect(try service.jobs().count == 6)
    }

    @Test func aTitleIsOneLineOfTheTable() throws {
        #expect(try service.bgrun("run", "--title", "red\u{1B}[31m\nrow", "--", "true").status == 0)
        let table = try service.bgrun("jobs", "--all").output
        #expect(table.contains("red\u{FFFD}[31m\u{FFFD}row\n") && table.split(separator: "\n").count == 2)
        #expect(try service.job(1)["title"] as? String == "red\u{1B}[31m\nrow")
    }

    @Test func aServiceThatNobodyNeedsEnds() throws {
        #expect(try service.bgrun("run", "--", "true").status == 0)
        let process = try #require(try service.serviceProcess())
        #expect(service.comes { kill(process, 0) != 0 })
        #expect(try service.bgrun("jobs", "--all").output.contains("completed"))
    }

    @Test func aJobThatIsNotThereIsNamed() throws {
        for command in ["show", "fg", "bg", "pause", "resume", "stop", "cancel", "logs", "attach", "wait"] {
            let ended = try service.bgrun(command, "77")
            #expect(ended.status == 66, "\(command): \(ended.errors)")
            #expect(ended.errors.contains("77"), "\(command)")
        }
    }

    @Test("rule 51: jobs wait while the person's quiet hours last, and hear with the next request that they are over")
    func quietHours() throws {
        let service = try ServicePlace(environment: ["XDG_CONFIG_HOME": place.path + "/.config"])
        func waitsForHours() throws -> Bool {
            let reasons = try service.job(1)["reasons"] as? [[String: Any]] ?? []
            return reasons.contains { $0["code"] as? String == "condition.allowedHours" && $0["earliest"] != nil }
        }
        try place.write("00:00-12:00,12:00-00:00\n", to: ".config/bgrun/quiet-hours")
        #expect(try service.bgrun("run", "--detach", "--title", "A", "--idle", "--", "true").status == 0)
        #expect(try waitsForHours())
        try place.write("late\n", to: ".config/bgrun/quiet-hours")
        #expect(try service.bgrun("run", "--detach", "--title", "B", "--", "true").status == 0)
        #expect(try waitsForHours())
        try place.write("\n", to: ".config/bgrun/quiet-hours")
        #expect(try service.bgrun("run", "--detach", "--title", "C", "--", "true").status == 0)
        #expect(try !waitsForHours())
        let log = service.place.path + "/.state/bgrun/service.log"
        #expect(try String(contentsOfFile: log, encoding: .utf8).contains("quietHours: The quiet hours \"late\""))
    }

    /// Parts of the runtime that look after themselves once a second set such timers, again and again.
    @Test func aServiceWithoutWorkHasNoTimerThatIsDueSoon() throws {
        let service = try ServicePlace(environment: ["BGRUN_IDLE_TIME": "5m"])
        #expect(try service.bgrun("run", "--title", "A", "--", "true").status == 0)
        let folder = "/proc/\(try #require(try service.serviceProcess()))/fdinfo"
        func isAtRest() -> Bool {
            let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let timers = files.compactMap { try? String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
                .flatMap { $0.split(separator: "\n") }.filter { $0.hasPrefix("it_value: ") }
            return !timers.isEmpty && timers.allSatisfy { $0.hasSuffix("(0, 0)") || !$0.contains("(0, ") }
        }
        // A moment between two of them is no rest.
        #expect(
            service.comes {
                (0..<30).allSatisfy { _ in
                    usleep(100_000)
                    return isAtRest()
                }
            })
    }
}
