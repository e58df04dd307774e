import SchedulerSimulation
import Testing

/// The simulation is worth what it finds: each invariant is shown to be able to fail.
@Suite(.serialized) struct SchedulerMutationTests {
    private static let seeds = 80
    private static let steps = 2_500

    @Test func eachMutationOfTheCoreIsFoundByItsInvariant() async throws {
        let bench = try await MutationBench()
        defer { bench.remove() }
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<2 {
                group.addTask {
                    for index in stride(from: lane, to: Mutation.all.count, by: 2) {
                        await Self.check(Mutation.all[index], bench)
                    }
                }
            }
        }
    }

    private static func check(_ mutation: Mutation, _ bench: MutationBench) async {
        do {
            let lines = try await bench.run(mutation, wanted: mutation.invariant, seeds: seeds, steps: steps)
            let found = lines.first { $0.hasPrefix("found \(mutation.invariant) ") }
            print("\(mutation.invariant): \(mutation.name): \(found ?? "survived")")
            #expect(found != nil, "\(mutation.name) survived \(seeds) seeds: \(lines.last ?? "")")
        } catch {
            Issue.record(error, "\(mutation.name)")
        }
    }

    @Test func everyInvariantHasAMutation() {
        let shown = Set(Mutation.all.map(\.invariant))
        #expect(shown == Set(Invariant.allCases.map(\.rawValue)))
        #expect(Mutation.all.count >= 16)
        #expect(Set(Mutation.all.map(\.name)).count == Mutation.all.count)
    }

    /// Another process has other hash seeds, and an unoptimized build another layout.
    @Test func withoutAMutationEveryInvariantHoldsAndTheRunIsTheSameInAnotherProcess() async throws {
        let bench = try await MutationBench()
        defer { bench.remove() }
        let lines = try await bench.run(nil, wanted: "any", seeds: 4, steps: Self.steps)
        #expect(!lines.contains { $0.hasPrefix("found") })
        for seed in UInt64(1)...4 {
            let report = Simulation.run(seed: seed, steps: Self.steps)
            #expect(lines.contains("passed \(seed) \(report.digest)"), "seed \(seed)")
        }
    }
}
