import ChunkedCompute
import BGRunCommands
import Foundation
import Glibc
import ImageExport
import TaskStore
import Testing

/// Paths of outputs that cannot be, and jobs that meet in one folder.
@Suite struct OutputPathTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
    }

    private var photo: String { get throws { try #require(try Photos.small.get().first) } }

    @Test(arguments: [[], ["--dry-run"]])
    func namesThatAreTooLongAreFailuresOfTheirItems(more: [String]) throws {
        for name in ["b", "c", "d"] {
            try place.put(photo, at: "photos/\(name)\(String(repeating: "x", count: 245)).jpg")
        }
        try place.put(photo, at: "photos/z.jpg")
        let arguments = ["export", "photos", "--out", "out", "--name", "{stem}-small.{ext}", "--size", "100"]
        let ended = try CommandRun(arguments + more, in: place).end()
        #expect(ended.status == 65)
        #expect((ended.errors + ended.output).contains("the name of its output has 256 bytes; 255 are possible"))
        #expect(place.exists("out/z-small.jpg") == more.isEmpty)
    }

    @Test func aPathThatIsTooLongIsAFailureOfItsItem() throws {
        try place.put(photo, at: "photos/a.jpg")
        let deep = String(repeating: String(repeating: "d", count: 200) + "/", count: 21)
        let ended = try place.bgrun("export", "photos", "--out", "out", "--name", deep + "{stem}.{ext}")
        #expect(ended.status == 65)
        #expect(ended.errors.contains("a.jpg: nameTooLong"))
    }

    @Test func anOutputWhereAnotherNeedsAFolderIsRefused() throws {
        try place.put(photo, at: "photos/a.jpg")
        let ended = try place.bgrun(
            "export", "photos", "--out", "out", "--output", "size=100,name={stem}", "--output",
            "size=50,name={stem}/sub/x.{ext}")
        #expect(ended.status == 64)
        #expect(ended.errors.contains("out/a would be an output and also the folder of"))
        #expect(!place.exists("out"))
    }

    @Test(arguments: [[], ["--dry-run"]])
    func sixteenBitsForAnotherFormatThanPNGAreFoundInThePlan(more: [String]) throws {
        try place.put(photo, at: "photos/a.jpg")
        try place.put(photo, at: "photos/b.png")
        try place.write("no picture", to: "photos/notes.txt")
        let ended = try CommandRun(["export", "photos", "--out", "out", "--bits", "16"] + more, in: place).end()
        #expect(ended.status == 65)
        #expect((ended.errors + ended.output).contains("16 bits need format png, tiff or jxl, and its output is jpeg"))
        #expect(!(ended.errors + ended.output).contains("notes.txt: failed"))
        #expect(place.exists("out/b.png") == more.isEmpty && !place.exists("out/a.jpg"))
    }

    @Test func twoJobsDoNotWriteIntoOneFolderAtOnce() throws {
        try place.putPhotos(3)
        let run = try CommandRun(
            ["export", "photos", "--out", "out", "--size", "100", "--progress", "json"], in: place,
            environment: ["BGRUN_TEST_HANG_ON": "photo-0003"])
        try #require(run.waits(for: "\"files\":2,"))
        symlink("out", place.path + "/link")
        let second = try place.bgrun("export", "photos", "--out", "link", "--size", "50", "--existing", "overwrite")
        #expect(second.status == 75)
        #expect(second.errors.contains("alreadyRunning: Another job is running in \(place.path)/out."))
        #expect(try place.bgrun("export", "photos", "--out", "other", "--size", "50").status == 0)
        run.send(SIGKILL)
        _ = run.end()
    }

    @Test func aLockThatCannotBeMadeIsNoRunningJob() throws {
        let error = #expect(throws: StoreError.self) { _ = try JobLock("x", in: place.path + "/nowhere") == nil }
        #expect(error?.code == .cannotOpen)
        let isHeld = try {
            guard let first = try JobLock("x", in: place.path) else { return false }
            defer { withExtendedLifetime(first) {} }
            return try JobLock("x", in: place.path) == nil
        }()
        #expect(isHeld)
    }

    @Test func leftoversOfDeadProcessesAreRemovedWhenNobodyCanStillWriteThem() throws {
        try place.put(photo, at: "photos/a.jpg")
        let dead = pid_t(4_194_304)  // One more than the largest there can be.
        for name in [".bgrun-\(dead)-1", ".bgrun-\(dead)-2", ".bgrun-\(getpid())-3"] {
            try place.write("half", to: "out/\(name)")
        }
        for name in [".bgrun-\(dead)-1", ".bgrun-\(getpid())-3"] {
            var times = [timeval(tv_sec: time(nil) - 3600, tv_usec: 0), timeval(tv_sec: time(nil) - 3600, tv_usec: 0)]
            #expect(utimes(place.path + "/out/" + name, &times) == 0)
        }
        #expect(try place.bgrun("export", "photos", "--out", "out", "--size", "100").status == 0)
        let left = Set(try place.contents("out").keys)
        #expect(left == [".bgrun-\(dead)-2", ".bgrun-\(getpid())-3", "a.jpg"])
    }

    @Test func pathsThatCannotBeWrittenAreTheirItemsFailuresAndAVolumeThatFailsIsNot() {
        #expect(Self.stops("outputRefused") == [false, false, false])
        #expect(Self.stops("outputFailed") == [false, false, true])
        #expect(Self.stops("diskFull").first == true)
    }

    /// Whether each of three failures in a row stops the job.
    private static func stops(_ code: String) -> [Bool] {
        var trouble = OutputTrouble()
        return (0..<3).map { _ in trouble.stopsJob(failed(code)) }
    }

    private static func failed(_ code: String) -> ItemResult {
        var result = ItemResult(status: .failed)
        result.failure = .init(code: code, reason: "")
        return result
    }

    @Test func theTightestLimitOfTheControlGroupsIsTheMemory() throws {
        try place.write("max\n", to: "memory.max")
        try place.write("700\n", to: "a/memory.max")
        try place.write("900\n", to: "a/b/memory.max")
        try place.write("500\n", to: "memory/old/memory.limit_in_bytes")
        let limit = { Machine.memoryLimit(groups: $0, root: place.path) }
        #expect(limit("0::/a/b\n") == 700)
        #expect(limit("0::/\n") == nil && limit("") == nil)
        #expect(limit("0::/outside/of/this\n") == nil)
        #expect(limit("7:cpu,memory:/old\n1:name=systemd:/x\n0::/a\n") == 500)
        #expect(Machine.claimBytes(available: 512 << 20, workers: 4) == 256 << 20)
        #expect(Machine.claimBytes(available: 64 << 30, workers: 1) == 4 << 30)
        #expect(Machine.claimBytes(available: 64 << 30, workers: 8) == 8 << 30)
        #expect(Machine.claimBytes(available: 8 << 30, workers: 1) == 2 << 30)
    }

    @Test func theLastItemsShareTheCoresOfAJob() {
        #expect((1...5).map { Machine.share(of: 4, itemsLeft: $0) } == [4, 2, 1, 1, 1])
        #expect(Machine.share(of: 1, itemsLeft: 1) == 1 && Machine.share(of: 0, itemsLeft: 9) == 1)
    }
}
