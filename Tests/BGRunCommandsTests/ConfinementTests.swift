import Confinement
import Foundation
import Glibc
import Testing

/// A worker whose decoder a hostile picture has taken over, and what it reaches then.
@Suite struct ConfinementTests {
    private let place: TestPlace
    static let isThere = Confinement.status.landlockVersion ?? 0
    static let skipped: Comment = "SKIPPED: this kernel has no Landlock, so that workers are not confined"

    init() throws {
        place = try TestPlace()
        try place.putPhotos(3)
        try place.write("a secret", to: "private/secret")
    }

    /// What became of each attempt, by attempt.
    private func outcomes(
        _ attempts: [String], _ more: [String] = [], environment: [String: String] = [:]
    ) throws -> [String: String] {
        let ended = try CommandRun(
            ["export", "photos", "--out", "out", "--size", "100", "--workers", "1", "--report", "r.jsonl"] + more,
            in: place,
            environment: [
                "BGRUN_TEST_ESCAPE_ON": "photo-0002", "BGRUN_TEST_ESCAPES": attempts.joined(separator: " "),
            ].merging(environment) { $1 }
        ).end()
        #expect(ended.status == 65, "\(ended.errors)")
        #expect(place.exists("out/photo-0001.jpg") && place.exists("out/photo-0003.jpg"))
        let report = try String(contentsOfFile: place.path + "/r.jsonl", encoding: .utf8)
        for line in report.split(separator: "\n") {
            let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
            guard record["code"] as? String == "testEscapes", let reason = record["reason"] as? String else { continue }
            return reason.components(separatedBy: "; ").reduce(into: [:]) { outcomes, outcome in
                let parts = outcome.components(separatedBy: "=")
                outcomes[parts[0]] = parts.last
            }
        }
        return [:]
    }

    private static let denied = "Permission denied"

    @Test(.enabled(if: isThere >= 1, skipped))
    func aWorkerReachesNoFileButItsInputAndOutputs() throws {
        let path = place.path
        let attempts = [
            "read:\(path)/private/secret", "list:\(path)/private", "write:\(path)/private/new", "read:/etc/passwd",
            "remove:\(path)/private/secret", "write:\(path)/photos/new", "remove:\(path)/photos/photo-0003.jpg",
            // Neither the other inputs, nor the journal.
            "read:\(path)/photos/photo-0001.jpg", "list:\(path)/photos", "read:\(path)/.state/bgrun/tasks.sqlite",
            "list:/", "list:/tmp",
        ]
        let outcomes = try outcomes(attempts)
        for attempt in attempts { #expect(outcomes[attempt] == Self.denied, "\(attempt)") }
        #expect(place.exists("private/secret") && !place.exists("private/new") && !place.exists("photos/new"))
    }

    @Test(.enabled(if: isThere >= 1, skipped))
    func aWorkerWritesToTheOutputFolderAndReadsNothingThere() throws {
        let out = place.path + "/out"
        let outcomes = try outcomes(["write:\(out)/mine", "read:\(out)/mine", "list:\(out)", "read:/usr/bin/env"])
        #expect(outcomes["write:\(out)/mine"] == "done")
        #expect(outcomes["read:\(out)/mine"] == Self.denied && outcomes["list:\(out)"] == Self.denied)
        #expect(outcomes["read:/usr/bin/env"] == "done")
    }

    @Test func aWorkerMakesNoSocketAndStartsNoProgram() throws {
        let attempts = ["unix", "tcp", "udp", "run:/bin/true"]
        let outcomes = try outcomes(attempts, ["--cpu"])
        for attempt in attempts { #expect(outcomes[attempt] == Self.denied, "\(attempt)") }
    }

    @Test(.enabled(if: isThere >= 6, "SKIPPED: refusing signals needs Landlock 6"))
    func aWorkerCannotSignalItsSupervisor() throws {
        #expect(try outcomes(["signal"]) == ["signal": "Operation not permitted"])
    }

    @Test(.enabled(if: isThere >= 1, skipped))
    func aWorkerWithADeviceReachesNothingOfThePersonEither() throws {
        let path = place.path
        let outcomes = try outcomes(
            ["read:\(path)/private/secret", "write:\(path)/private/new", "read:\(path)/photos/photo-0001.jpg", "unix"],
            ["--gpu"], environment: ["BGRUN_TEST_CPU_AS_GPU": "1"])
        #expect(outcomes.count == 4 && outcomes.values.allSatisfy { $0 == Self.denied }, "\(outcomes)")
    }

    @Test func theSwitchLeavesWorkersUnconfined() throws {
        let outcomes = try outcomes(
            ["read:\(place.path)/private/secret", "unix", "signal"], environment: [Confinement.offSwitch: "1"])
        #expect(outcomes.count == 3 && outcomes.values.allSatisfy { $0 == "done" }, "\(outcomes)")
        let devices = try place.bgrun("devices", environment: [Confinement.offSwitch: "1"])
        #expect(devices.output.contains("Workers are not confined: \(Confinement.offSwitch) is set."))
    }

    @Test func aWorkerInheritsNothingButItsChannel() throws {
        let shell = try CommandRun(
            ["-c", "exec 77</etc/passwd; exec \"$0\" \"$@\"", CommandRun.executable]
                + ["export", "photos", "--out", "out", "--size", "100", "--workers", "1", "--report", "-"],
            in: place,
            environment: ["BGRUN_TEST_ESCAPE_ON": "photo-0002", "BGRUN_TEST_ESCAPES": "descriptor:77 descriptor:3"],
            program: "/bin/bash"
        ).end()
        #expect(shell.output.contains("descriptor:77=Bad file descriptor; descriptor:3=done"), "\(shell.output)")
    }

    @Test func linkedInputsAndInputsAmongTheOutputsAreDone() throws {
        try place.write("x", to: "other/keep")
        let photo = try #require(try Photos.small.get().first)
        try place.put(photo, at: "other/original.jpg")
        symlink("../other/original.jpg", place.path + "/photos/linked.jpg")
        let ended = try place.bgrun("export", "photos", "--out", "photos/small", "--size", "100", "--json")
        #expect(ended.status == 0, "\(ended.errors)")
        #expect((try ended.json()["counts"] as? [String: Int])?["good"] == 4)
    }

    @Test func anInputThatVanishesAfterThePlanIsItsOwnFailure() throws {
        let run = try CommandRun(
            [
                "export", "photos", "--out", "out", "--size", "100", "--workers", "1", "--progress", "json",
                "--stall-limit", "5s",
            ], in: place, environment: ["BGRUN_TEST_HANG_ON": "photo-0001"])
        try #require(run.waits(for: "\"files\":0,"))
        unlink(place.path + "/photos/photo-0002.jpg")
        let ended = run.end()
        #expect(ended.status == 65)
        #expect(ended.errors.contains("\"unreadable\",\"input\":\"\(place.path)/photos/photo-0002.jpg\""))
        #expect(Set(try place.contents("out").keys) == ["photo-0003.jpg"])
    }

    @Test("rule 76: what a killed worker left under a temporary name is taken away by the same job")
    func whatAKilledWorkerLeftUnderATemporaryNameIsTakenAway() throws {
        #expect(try outcomes(["abandon:\(place.path)/out"]).isEmpty)
        #expect(Set(try place.contents("out").keys) == ["photo-0001.jpg", "photo-0003.jpg"])
    }

    @Test("rule 76: an output folder that goes away under way stops the job, and nothing is written where it was")
    func anOutputFolderThatGoesAwayUnderWayStopsTheJob() throws {
        for number in 4...8 {
            try place.put(try #require(try Photos.small.get().last), at: "photos/photo-000\(number).jpg")
        }
        let run = try CommandRun(
            [
                "export", "photos", "--out", "out", "--size", "100", "--workers", "1", "--progress", "json",
                "--stall-limit", "5s",
            ], in: place, environment: ["BGRUN_TEST_HANG_ON": "photo-0001"])
        try #require(run.waits(for: "\"files\":0,"))
        #expect(rename(place.path + "/out", place.path + "/away") == 0)
        try FileManager.default.createDirectory(atPath: place.path + "/elsewhere", withIntermediateDirectories: true)
        symlink("elsewhere", place.path + "/out")
        let ended = run.end()
        #expect(ended.status == 74)
        #expect(ended.errors.contains("was moved, removed or unmounted"), "\(ended.errors)")
        #expect(try place.contents("elsewhere").isEmpty && place.contents("away").isEmpty)
    }
}
