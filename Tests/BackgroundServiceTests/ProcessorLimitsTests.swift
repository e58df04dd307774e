import BackgroundService
import Foundation
import TaskModel
import TemporaryFolders
import Testing
import WorkerPriority

/// A machine of two processors in a folder, which others use in full beside a job.
@Suite struct ProcessorLimitsTests {
    private let folder: TemporaryFolder
    private let job = JobID(3)

    init() throws { folder = try TemporaryFolder() }

    private func put(_ text: String, _ name: String) throws {
        // The kernel's files are never seen half written.
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file(name)), options: .atomic)
    }

    private func limit() throws -> String { try String(contentsOfFile: folder.file("unit/cpu.max"), encoding: .utf8) }

    @Test("rule 88: a background job is limited while others want the processors, and is raised at once")
    func aJobIsLimitedAndReleased() throws {
        try FileManager.default.createDirectory(atPath: folder.file("unit"), withIntermediateDirectories: true)
        try put("cpu  0 0 0 700 0 0 0 0 0 0\ncpu0 0\ncpu1 0\nintr 0\n", "stat")
        try put("usage_usec 0\n", "unit/cpu.stat")
        try put("max 100000\n", "unit/cpu.max")
        let system = PrioritySystem(proc: folder.path, cgroups: folder.path)
        let limits = ProcessorLimits(system: system)
        limits.hold(job, UnitProcessors(folder: folder.file("unit"), system: system))
        #expect(limits.limit(of: job) == nil)
        let clock = ContinuousClock()
        let begin = clock.now
        while limits.limit(of: job) == nil, clock.now - begin < .seconds(60) {
            // One of the two processors is its own.
            try put("usage_usec \(Int((clock.now - begin) / .microseconds(1)))\n", "unit/cpu.stat")
            usleep(1000)
        }
        let held = try #require(limits.limit(of: job))
        #expect(held > 0 && held < 2)
        #expect(try !limit().hasPrefix("max"))
        limits.release(job)
        #expect(limits.limit(of: job) == nil)
        #expect(try limit().hasPrefix("max 100000"))
    }

    @Test func aUnitThatIsGoneIsNotHeld() throws {
        let system = PrioritySystem(proc: folder.path, cgroups: folder.path)
        let limits = ProcessorLimits(system: system)
        limits.hold(job, UnitProcessors(folder: folder.file("unit"), system: system))
        limits.release(job)
        #expect(limits.limit(of: job) == nil)
    }
}
