import Foundation
import Glibc
import JobLink
import TaskModel
import Testing

/// `bgrun export` as the work of a job: everything goes over the job channel, and the host is obeyed.
@Suite struct JobChannelTests {
    private let place: TestPlace
    private let export = ["photos", "--out", "out", "--size", "100"]

    init() throws {
        place = try TestPlace()
    }

    private func terms(_ concurrency: Int, dutyCycle: Double = 1) -> RunTerms {
        RunTerms(
            priority: .background, chunkTarget: .milliseconds(20), dutyCycle: dutyCycle, concurrency: concurrency)
    }

    /// Slow enough to be met in the middle.
    private var slow: RunTerms { terms(2, dutyCycle: 0.03) }

    private func reference() throws -> [String: Data] {
        #expect(try place.bgrun("export", "photos", "--out", "whole", "--size", "100").status == 0)
        return try place.contents("whole")
    }

    @Test("rule 96: progress, records and the end go over the channel, and nothing to a terminal")
    func everythingGoesOverTheChannel() throws {
        try place.putPhotos(4)
        try place.write("no picture", to: "photos/damaged.jpg")
        let run = try JobRun(export + ["--report", "-", "--json"], in: place)
        let (last, process) = run.end()
        let end = try #require(last)
        #expect(end.outcome == .completed(failures: 1))
        #expect(end.status == 65 && process.status == 65)
        #expect(end.summary.contains("\"good\":4"))
        #expect(process.output.isEmpty && process.errors.isEmpty)
        let records = run.reports.count { if case .record = $0 { true } else { false } }
        #expect(records == 5)
        let snapshots = run.reports.compactMap { report in
            if case .progress(let progress, device: _) = report { progress } else { nil }
        }
        #expect(snapshots.last?.itemsDone == 5)
        #expect(zip(snapshots, snapshots.dropFirst()).allSatisfy { $0.fraction <= $1.fraction })
        #expect(try place.contents("out").count == 4)
    }

    @Test func aFileThatIsNoPictureIsNoFailure() throws {
        try place.putPhotos(1)
        try place.write("a note", to: "photos/note.txt")
        let end = try #require(try JobRun(export, in: place).end().last)
        #expect(end.outcome == .completed(failures: 0) && end.status == 0)
    }

    @Test func theTextOfTheEndIsWhatATerminalWouldHaveShown() throws {
        try place.putPhotos(2)
        let end = try #require(try JobRun(export, in: place).end().last)
        #expect(end.text.hasPrefix("Exported 2 pictures to "))
        #expect(end.outcome == .completed(failures: 0) && end.status == 0)
    }

    @Test("rule 18: every refusal is an end with its code, its status and its text")
    func everyRefusalIsAnEnd() throws {
        let missing = try JobRun(export, in: place).end()
        #expect(missing.last?.outcome == .failed(code: "missingInput"))
        #expect(missing.last?.status == 66 && missing.process.status == 66)
        #expect(missing.last?.text.contains("photos") == true)

        try FileManager.default.createDirectory(atPath: place.path + "/photos", withIntermediateDirectories: true)
        let empty = try JobRun(export, in: place).end()
        #expect(empty.last?.outcome == .failed(code: "nothingFound"))
        #expect(empty.last?.status == 66)

        try place.putPhotos(2)
        try place.write("a file", to: "taken")
        let folder = try JobRun(["photos", "--out", "taken"], in: place).end()
        #expect(folder.last?.outcome == .failed(code: "outputFolder"))
        #expect(folder.last?.status == 73)

        let plan = try JobRun(["photos", "--out", "photos", "--existing", "overwrite"], in: place).end()
        #expect(plan.last?.outcome == .failed(code: "overwritesInput"))
        #expect(plan.last?.status == 64)

        let report = try JobRun(export + ["--report", "/nowhere/report"], in: place).end()
        #expect(report.last?.outcome == .failed(code: "report"))
        #expect(report.last?.status == 73)

        try place.write("no folder", to: "state")
        let state = try JobRun(export, in: place, environment: ["XDG_STATE_HOME": place.path + "/state"]).end()
        #expect(state.last?.outcome == .failed(code: "state.cannotOpen"))
        #expect(state.last?.status == 78)
        for end in [missing, empty, folder, plan, report, state] {
            #expect(end.process.errors.isEmpty && end.process.output.isEmpty)
            #expect(end.last?.text.isEmpty == false && end.last?.summary.hasPrefix("{") == true)
        }
    }

    @Test func aFolderThatAnotherExportFillsIsARefusal() throws {
        try place.putPhotos()
        let first = try JobRun(export, in: place, first: [.pause])
        #expect(first.waitsForPause())
        let second = try JobRun(export + ["--grace", "100ms"], in: place).end()
        #expect(second.last?.outcome == .failed(code: "alreadyRunning"))
        #expect(second.last?.status == 75)
        first.tell(.stop(.userStop, within: .seconds(5)))
        #expect(first.end().last?.outcome == .stopped(.userStop))
    }

    @Test("rule 85: a run that a lost service left behind has time to end before the next one begins")
    func aRunBehindAnotherWaitsForItsEnd() throws {
        try place.putPhotos()
        let first = try JobRun(export, in: place, first: [.pause])
        #expect(first.waitsForPause())
        let second = try JobRun(export + ["--grace", "60s"], in: place)
        let waits = second.waits {
            if case .phase(let phase) = $0 { phase.hasPrefix("waiting for another run") } else { false }
        }
        #expect(waits)
        first.leave()
        #expect(second.end().last?.outcome == .completed(failures: 0))
        #expect(first.end().process.status != 0)
    }

    @Test("rule 94: a paused job does nothing until it is resumed, and ends with the same files")
    func aPausedJobDoesNothingUntilItIsResumed() throws {
        try place.putPhotos(from: Photos.large)
        let whole = try reference()
        let run = try JobRun(export, in: place, first: [.terms(slow)])
        #expect(run.waits(forItems: 1))
        run.tell(.pause)
        #expect(run.waitsForPause())
        let before = try place.contents("out")
        let used = try cpuTicks(run.processID)
        // Another whole export in the meantime.
        #expect(try place.bgrun("export", "photos", "--out", "other", "--size", "100").status == 0)
        #expect(try place.contents("out") == before)
        #expect(try cpuTicks(run.processID) <= used + 2, "a paused job takes no time")
        #expect(run.takeWaiting().isEmpty)
        run.tell(.resume(terms(2)))
        let end = try #require(run.end().last)
        #expect(end.outcome == .completed(failures: 0))
        #expect(try place.contents("out") == whole)
    }

    @Test("rule 94: a pause holds within a picture, and is no hang") func aPauseHoldsWithinAPicture() throws {
        try place.putPhotos(1, from: Photos.large)
        let run = try JobRun(
            ["photos", "--out", "out", "--format", "png", "--stall-limit", "1s"], in: place,
            first: [.terms(terms(1, dutyCycle: 0.02))])
        #expect(run.waits { if case .progress(let progress, device: _) = $0 { progress.fraction > 0 } else { false } })
        run.tell(.pause)
        #expect(run.waitsForPause())
        #expect(try place.contents("out").isEmpty)
        // Longer than the limit of silence.
        #expect(try place.bgrun("export", "photos", "--out", "other", "--format", "png").status == 0)
        #expect(run.takeWaiting().isEmpty)
        run.tell(.resume(terms(1)))
        #expect(run.end().last?.outcome == .completed(failures: 0))
        #expect(try place.contents("out") == place.contents("other"))
    }

    @Test("rule 89: more at once takes effect while the job runs") func moreAtOnceTakesEffect() throws {
        try place.putPhotos()
        let run = try JobRun(
            export + ["--workers", "2"], in: place, environment: ["BGRUN_TEST_HANG_ON": "photo-0001"],
            first: [.terms(terms(1))])
        #expect(run.waits { if case .progress = $0 { true } else { false } })
        run.tell(.terms(terms(2)))
        #expect(run.waits(forItems: Photos.count - 1), "the second worker did everything but the picture that hangs")
        run.tell(.stop(.preempted, within: .milliseconds(100)))
        let end = try #require(run.end().last)
        #expect(end.outcome == .stopped(.preempted))
        #expect(end.status == 75)
        #expect(end.text.contains("Run the same command to go on."))
    }

    @Test("rule 75, rule 82: a stop in the middle leaves whole files, and a later run completes them")
    func aStopInTheMiddleLeavesWholeFiles() throws {
        try place.putPhotos(from: Photos.large)
        let whole = try reference()
        for stop in 1...3 {
            let run = try JobRun(export, in: place, first: [.terms(slow)])
            if stop > 1 { #expect(run.waits(forItems: 2 * stop)) }
            run.tell(.stop(.preempted, within: .seconds(5)))
            let (last, process) = run.end()
            #expect(last?.outcome == .stopped(.preempted) && process.status == 75)
            for (name, bytes) in try place.contents("out") { #expect(whole[name] == bytes) }
        }
        #expect(try JobRun(export, in: place).end().last?.outcome == .completed(failures: 0))
        #expect(try place.contents("out") == whole)
    }

    @Test("rule 79, rule 82: a host that dies takes the job with it, and nothing is written after")
    func aHostThatDiesTakesTheJobWithIt() throws {
        try place.putPhotos(from: Photos.large)
        let whole = try reference()
        let run = try JobRun(export, in: place, first: [.terms(slow)])
        #expect(run.waits(forItems: 1))
        run.leave()
        #expect(run.end().process.status == 75)
        let left = try place.contents("out")
        #expect(left.count < whole.count)
        #expect(try JobRun(export, in: place).end().last?.outcome == .completed(failures: 0))
        #expect(try place.contents("out") == whole)
    }

    @Test func aJobThatIsNotWantedAnyMoreBeforeItBeginsLeavesAtOnce() throws {
        try place.putPhotos()
        let stopped = try JobRun(export, in: place, first: [.stop(.replaced, within: .zero)]).end()
        #expect(stopped.last?.outcome == .stopped(.replaced))
        #expect(stopped.last?.status == 75 && stopped.process.status == 75)
        let orphan = try JobRun(export, in: place)
        orphan.leave()
        #expect(orphan.end().process.status == 75)
        #expect(try place.contents("out").isEmpty)
    }

    @Test("rule 77: a signal stops a job, and its host is told") func aSignalStopsAJob() throws {
        try place.putPhotos()
        let run = try JobRun(
            export + ["--grace", "100ms"], in: place, environment: ["BGRUN_TEST_HANG_ON": "photo-0003"])
        #expect(run.waits(forItems: Photos.count - 1))
        run.send(SIGTERM)
        #expect(run.waits { if case .stopping(.shutdown, _) = $0 { true } else { false } })
        #expect(run.end().last?.outcome == .stopped(.shutdown))
    }

    @Test func workersShareTheSessionOfTheirSupervisorAndLeadTheirOwnGroups() throws {
        try place.putPhotos()
        let run = try JobRun(
            export + ["--workers", "1"], in: place, environment: ["BGRUN_TEST_HANG_ON": "photo-0003"])
        #expect(run.waits(forItems: 2))
        let children = try String(
            contentsOfFile: "/proc/\(run.processID)/task/\(run.processID)/children", encoding: .utf8
        ).split(separator: " ").compactMap { pid_t($0) }
        #expect(children.count == 1)
        for child in children {
            #expect(getsid(child) == getsid(run.processID))
            #expect(getpgid(child) == child)
        }
        run.tell(.stop(.userStop, within: .zero))
        _ = run.end()
    }

    /// User and system time of a process and of its workers.
    private func cpuTicks(_ process: pid_t) throws -> Int {
        let children = try String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
            .split(separator: " ").compactMap { pid_t($0) }
        return try ([process] + children).reduce(0) { sum, process in
            let stat = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
            return sum + (Int(fields[12]) ?? 0) + (Int(fields[13]) ?? 0)
        }
    }
}
