import ArgumentParser
import Foundation
import Glibc
import TaskModel

/// `bgrun-bench courtesy`: what a person notices of an export, in the background and in the foreground.
///
/// The probes and the job of the service each have a session of their own, as programs of different terminals.
struct CourtesyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "courtesy", abstract: "Measure what other programs feel of an export, and what it leaves unused.")

    @OptionGroup var options: ServiceOptions

    @Option(help: "Rounds; each has every case once, in an order that moves on.")
    var rounds = 5

    @Option(help: "Seconds of each probe.")
    var seconds = 6.0

    private enum Beside: String, CaseIterable {
        /// Threads that only count, at the weight of a background job: what any other work at that weight would do here.
        case alone, loops, background, foreground

        var name: String {
            switch self {
            case .alone: rawValue
            case .loops: "beside loops of the lowest weight"
            case .background, .foreground: "beside \(rawValue) export"
            }
        }
    }

    private struct Samples {
        /// Of each round, the milliseconds of all items of the latency probe.
        var latencies: [[Double]] = []
        var throughput: [Double] = []
        /// Processor seconds of the export in a second of the latency probe's and of the throughput probe's.
        var ownShare: [[Double]] = [[], []]
        /// Without probes: share of the free processor time that the export takes, and pictures a second.
        var ofFree: [Double] = []
        var pictures: [Double] = []
    }

    func run() throws {
        let service = try BenchService(bgrun: options.bgrun)
        defer { service.end() }
        let work = ProbeCommand.calibrate()
        var samples: [Beside: Samples] = [:]
        let cases = Beside.allCases.filter { $0 != .loops || ProbeCommand.canBeLowest }
        for round in 0..<rounds {
            for index in cases.indices {
                let beside = cases[(index + round) % cases.count]
                var taken = samples[beside] ?? Samples()
                try measure(beside, service, work, &taken)
                samples[beside] = taken
            }
        }
        try table(samples).print(asJSON: options.json)
    }

    private func measure(
        _ beside: Beside, _ service: BenchService, _ work: UInt64, _ samples: inout Samples
    ) throws {
        guard let priority = RunTerms.Priority(rawValue: beside.rawValue) else {
            let loops = beside == .loops ? try lowestLoops(service, work) : nil
            defer { loops?.end() }
            try probes(service, work, feed: nil, &samples)
            return
        }
        let feed = try WorkFeed(service, options.work, priority)
        // Its pace settles.
        sleep(2)
        let clock = SuspendingClock()
        let (begin, idle, own, pictures) = (clock.now, ProcessUse.idleSeconds(), feed.processorSeconds, feed.pictures)
        usleep(UInt32(seconds * 1e6))
        let used = feed.processorSeconds - own
        samples.ofFree.append(used / (used + ProcessUse.idleSeconds() - idle))
        samples.pictures.append((feed.pictures - pictures) / (begin.duration(to: clock.now) / .seconds(1)))
        try probes(service, work, feed: feed, &samples)
        try feed.end()
    }

    private func probes(
        _ service: BenchService, _ work: UInt64, feed: WorkFeed?, _ samples: inout Samples
    ) throws {
        var before = feed?.processorSeconds ?? 0
        let latencies: ProbeCommand.Latencies = try probe(.latency, service, work)
        samples.latencies.append(latencies.milliseconds)
        if let feed { samples.ownShare[0].append((feed.processorSeconds - before) / seconds) }
        before = feed?.processorSeconds ?? 0
        let throughput: ProbeCommand.Throughput = try probe(.throughput, service, work)
        samples.throughput.append(throughput.itemsPerSecond)
        if let feed { samples.ownShare[1].append((feed.processorSeconds - before) / seconds) }
    }

    private func lowestLoops(_ service: BenchService, _ work: UInt64) throws -> SessionProgram {
        let loops = try SessionProgram(
            [
                Executables.own, "probe", "throughput", "--lowest", "--seconds", "\(10 * seconds)", "--rounds",
                "\(work)",
            ], environment: service.environment)
        sleep(2)
        return loops
    }

    private func probe<Result: Decodable>(
        _ kind: ProbeCommand.Kind, _ service: BenchService, _ work: UInt64
    ) throws -> Result {
        let output = service.folder + "/probe"
        let program = try SessionProgram(
            [Executables.own, "probe", kind.rawValue, "--seconds", "\(seconds)", "--rounds", "\(work)"],
            environment: service.environment, output: output)
        guard program.wait() == 0 else { throw ProcessError(description: "the probe failed") }
        return try JSONDecoder().decode(Result.self, from: Data(contentsOf: URL(fileURLWithPath: output)))
    }

    /// Latencies are those of the items of all rounds together: one round has too few for a p99. Other ratios are taken within
    /// a round; medians over the rounds.
    private func table(_ samples: [Beside: Samples]) -> FigureTable {
        var table = FigureTable()
        guard let alone = samples[.alone] else { return table }
        func ratio(_ values: [Double], _ others: [Double]) -> Double { median(zip(values, others).map { $0 / $1 }) }
        func latency(_ share: Double, _ taken: Samples) -> Double {
            quantile(share, of: taken.latencies.flatMap(\.self))
        }
        func latencyRatio(_ share: Double, _ taken: Samples, _ other: Samples) -> Double {
            latency(share, taken) / latency(share, other)
        }
        for beside in Beside.allCases {
            guard let taken = samples[beside] else { continue }
            let name = beside.name
            let isGoal = beside == .background
            table.add("\(name): latency p50", latency(0.5, taken), "ms")
            table.add("\(name): latency p99", latency(0.99, taken), "ms")
            table.add("\(name): throughput", median(taken.throughput), "items/s")
            guard beside != .alone else { continue }
            table.add("\(name): p50 to alone", latencyRatio(0.5, taken, alone), "ratio")
            table.add("\(name): p99 to alone", latencyRatio(0.99, taken, alone), "ratio", goal: isGoal ? 1.25 : nil)
            let ofRounds = zip(taken.latencies, alone.latencies).map { quantile(0.99, of: $0) / quantile(0.99, of: $1) }
            table.add("\(name): p99 to alone, median of the rounds", median(ofRounds), "ratio")
            table.add(
                "\(name): throughput lost", (1 - ratio(taken.throughput, alone.throughput)) * 100, "%",
                goal: isGoal ? 3 : nil)
            guard beside != .loops else { continue }
            if let loops = samples[.loops] {
                table.add("\(name): p99 to beside loops", latencyRatio(0.99, taken, loops), "ratio")
            }
            table.add("\(name): export's processors beside latency probe", median(taken.ownShare[0]), "processors")
            table.add("\(name): export's processors beside throughput probe", median(taken.ownShare[1]), "processors")
            table.add(
                "\(beside.rawValue) export, no probe: of free processor time", median(taken.ofFree) * 100, "%",
                goal: isGoal ? 90 : nil, isFloor: true)
            table.add("\(beside.rawValue) export, no probe: pictures", median(taken.pictures), "1/s")
        }
        if let background = samples[.background], let foreground = samples[.foreground] {
            table.add(
                "background to foreground export, no probe: pictures",
                ratio(background.pictures, foreground.pictures) * 100, "%", goal: 90, isFloor: true)
        }
        return table
    }
}
