import Foundation
import SchedulerSimulation
import Testing

/// Random days, each from its seed. `BGRUN_SIMULATION_SEEDS` and `BGRUN_SIMULATION_STEPS` make it longer;
/// `BGRUN_SIMULATION_SEED` plays one seed and prints all that happened.
@Suite struct SchedulerSimulationTests {
    private static func setting(_ name: String, or usual: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? usual
    }

    @Test func everyInvariantHoldsAfterEveryStepOfRandomDays() async {
        let steps = Self.setting("BGRUN_SIMULATION_STEPS", or: 5_000)
        if let seed = ProcessInfo.processInfo.environment["BGRUN_SIMULATION_SEED"].flatMap({ UInt64($0) }) {
            let report = Simulation.run(seed: seed, steps: steps, isVerbose: true)
            print(report.trace.joined(separator: "\n"))
            if let violation = report.violation { Issue.record(violation) }
            return
        }
        let seeds = Self.setting("BGRUN_SIMULATION_SEEDS", or: 200)
        let clock = ContinuousClock()
        let start = clock.now
        let reports = await withTaskGroup(of: [Simulation.Report].self) { group in
            for lane in 0..<2 {
                group.addTask {
                    stride(from: lane + 1, through: seeds, by: 2).map { seed in
                        Simulation.run(seed: UInt64(seed), steps: steps)
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        for report in reports {
            if let violation = report.violation { Issue.record(violation) }
        }
        let played = reports.reduce(0) { $0 + $1.steps }
        let launches = reports.reduce(0) { $0 + $1.launches }
        print("\(played) steps of \(seeds) seeds with \(launches) launches in \(clock.now - start)")
        #expect(reports.count == seeds)
        #expect(played >= seeds * steps)
        #expect(launches > played / 100)
    }

    @Test(arguments: 1...3)
    func theSameSeedGivesTheSameRun(seed: UInt64) {
        let first = Simulation.run(seed: seed, steps: 2_000)
        let second = Simulation.run(seed: seed, steps: 2_000)
        #expect(first.digest == second.digest)
        #expect(first.steps == second.steps)
        #expect(first.digest != Simulation.run(seed: seed + 10, steps: 2_000).digest)
    }
}
