import Foundation
import Glibc
import Testing

/// Whole exports whose system calls fail, by strace: what the person is told, and what is left.
@Suite(.enabled(if: FaultyRun.isPossible, "SKIPPED: strace is missing, or may not trace here"))
struct SystemFaultTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
        try place.putPhotos(6)
    }

    @Test(
        "rule 76: a call that fails on an output leaves nothing half, and the reason is told",
        arguments: [
            ("linkat", "ENOSPC", "full"), ("linkat", "EDQUOT", "full"), ("linkat", "EIO", "3 times in a row"),
            ("mkdirat", "ENOSPC", "full"), ("mkdirat", "EROFS", "3 times in a row"),
            ("renameat", "EIO", "3 times in a row"),
        ])
    func aCallThatFailsOnAnOutputLeavesNothingHalf(call: String, reason: String, words: String) throws {
        var arguments = ["--name", "{stem}/{stem}.{ext}"]
        // Replacing takes a rename.
        if call == "renameat" {
            #expect(try place.bgrun("export", "photos", "--out", "out", "--size", "90").status == 0)
            arguments = ["--existing", "overwrite", "--name", "{stem}.{ext}"]
        }
        try FileManager.default.createDirectory(atPath: place.path + "/out", withIntermediateDirectories: true)
        let before = try place.contents("out")
        let failed = try FaultyRun.end("\(call):error=\(reason)", arguments, in: place)
        #expect(failed.status == 74, "\(failed.errors)")
        #expect(failed.errors.contains(words), "\(failed.errors)")
        #expect(failed.errors.contains("the same command goes on"))
        #expect(try place.contents("out") == before)
        let rest = try FaultyRun.end(nil, arguments, in: place)
        #expect(rest.status == 0, "\(rest.errors)")
        #expect(try place.contents("out").count == 6)
    }

    @Test func anOutputFolderThatCannotBeMadeIsToldBeforeAnythingStarts() throws {
        let ended = try FaultyRun.end("mkdirat:error=ENOSPC", [], in: place)
        #expect(ended.status == 74)
        #expect(ended.errors.contains("diskFull: cannot make the output folder \(place.path)/out"), "\(ended.errors)")
    }

    @Test func oneFailureIsOneItems() throws {
        let ended = try FaultyRun.end("linkat:error=EIO:when=2", [], in: place)
        #expect(ended.status == 65)
        #expect(ended.errors.contains("photo-0002.jpg: outputFailed"), "\(ended.errors)")
        #expect(try place.contents("out").count == 5)
    }

    @Test(arguments: [
        "openat2:error=ENOSYS", "openat2:error=EPERM", "landlock_create_ruleset:error=ENOSYS",
        "landlock_create_ruleset:error=EOPNOTSUPP", "landlock_create_ruleset:error=EPERM",
    ])
    func kernelsWithoutACallDoTheWorkToo(fault: String) throws {
        let ended = try FaultyRun.end(fault, ["--name", "{stem}/{stem}.{ext}"], in: place)
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try place.contents("out").count == 6)
    }

    @Test(.enabled(if: ConfinementTests.isThere >= 1, ConfinementTests.skipped))
    func aWorkerThatCannotBeConfinedTouchesNoPicture() throws {
        let ended = try FaultyRun.end("landlock_restrict_self:error=E2BIG", [], in: place)
        #expect(ended.status == 65)
        #expect(ended.errors.contains("a worker could not be confined: landlock_restrict_self"), "\(ended.errors)")
        #expect(try place.contents("out").isEmpty)
    }
}

/// An export of `photos` to `out`, one of whose system calls fails.
enum FaultyRun {
    private static let strace = "/usr/bin/strace"

    static let isPossible: Bool = {
        guard access(strace, X_OK) == 0,
            let trial = try? Process.run(
                URL(fileURLWithPath: strace), arguments: ["-f", "-qq", "-o", "/dev/null", "-e", "trace=none", "true"])
        else { return false }
        trial.waitUntilExit()
        return trial.terminationStatus == 0
    }()

    static func end(_ fault: String?, _ more: [String], in place: TestPlace) throws -> CommandRun.Ended {
        let arguments =
            ["export", "photos", "--out", "out", "--size", "100", "--cpu", "--workers", "1"]
            + (more.isEmpty ? ["--name", "{stem}.{ext}"] : more)
        guard let fault else { return try CommandRun(arguments, in: place).end() }
        let call = fault.prefix { $0 != ":" }
        return try CommandRun(
            ["-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(fault)", CommandRun.executable]
                + arguments, in: place, program: strace
        ).end()
    }
}
