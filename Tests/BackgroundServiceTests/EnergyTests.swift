import BackgroundService
import Foundation
import ServiceAPI
import Testing

@Suite struct EnergyTests {
    private static let counter = "machine/sys/class/powercap/intel-rapl:0/energy_uj"
    private static let work = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"

    private func put(_ text: String, _ name: String, _ keeper: Keeper) throws {
        let file = URL(fileURLWithPath: "\(keeper.folder)/\(name)")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func usage(_ keeper: Keeper, after ids: UInt64...) throws -> UsageDocument {
        for id in ids { #expect(try keeper.comes { try keeper.job(id).state == .ended }) }
        return try keeper.keeper.usage(period: 86_400)
    }

    @Test("rule 97, A37: what the machine counts is shared among jobs and all else, and nothing is left over")
    func measured() throws {
        let keeper = try Keeper()
        try put("package-0", "machine/sys/class/powercap/intel-rapl:0/name", keeper)
        try put("1000000", Self.counter, keeper)
        let first = try keeper.submit("\(Self.work); echo 6000000 > \(Self.counter)")
        var usage = try usage(keeper, after: first)
        #expect(abs(usage.measuredJoules + usage.othersJoules - 5) < 1e-9)
        #expect(usage.measuredJoules > 0 && usage.estimatedJoules == 0)
        #expect(usage.jobs.first { $0.id == first }?.measuredJoules == usage.measuredJoules)

        // What was taken while no job ran is nobody's.
        try put("100000000", Self.counter, keeper)
        let second = try keeper.submit("\(Self.work); echo 102000000 > \(Self.counter)")
        usage = try self.usage(keeper, after: second)
        #expect(abs(usage.measuredJoules + usage.othersJoules - 7) < 1e-9)
        #expect(usage.jobs.reduce(0) { $0 + $1.measuredJoules } == usage.measuredJoules)
        #expect(usage.jobs.allSatisfy { $0.measuredJoules > 0 })
    }

    @Test("rule 97: where nothing is counted, energy is estimated from processor time, and called that")
    func estimated() throws {
        let keeper = try Keeper()
        let id = try keeper.submit(Self.work)
        let usage = try usage(keeper, after: id)
        let job = try #require(usage.jobs.first { $0.id == id })
        #expect(job.measuredJoules == 0 && usage.othersJoules == 0)
        #expect(job.processorSeconds > 0)
        #expect(abs(job.estimatedJoules - job.processorSeconds * usage.processorWatts) < 1e-9)
    }
}
