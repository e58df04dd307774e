import ArgumentParser
import Foundation
import Glibc
import ServiceAPI
import ServiceClient
import TaskModel

/// `bgrun-bench promotion`: how soon a background export that is brought to the foreground works like one, beside a
/// load that takes both processors.
///
/// Every two milliseconds the processor time that the job's threads have got so far is read (`/proc/PID/task/*/schedstat`),
/// and the weight of its unit or its session. The first chunk at foreground terms is over where, for 50 ms, the
/// threads have got at least half of what they get later in the foreground, which is many times what they got before.
struct PromotionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promotion", abstract: "Measure from bgrun fg to the first chunk at foreground terms.")

    @OptionGroup var options: ServiceOptions

    @Option(help: "Promotions.")
    var count = 10

    @Option(help: "Seconds that are looked at before and after.")
    var seconds = 3.0

    @Option(help: .init("Busy threads beside it, in a session of their own.", valueName: "n"))
    var busy = 2

    /// One background chunk and 50 ms.
    private static let goal = 100.0
    private static let windowMilliseconds = 50.0

    private struct Promotion {
        /// Milliseconds from the start of `bgrun fg`: its return, the weight, the first chunk.
        var returned: Double
        var weight: Double?
        var firstChunk: Double?
        /// Processors that the job had before and after.
        var processors: (before: Double, after: Double)
        var pictures: (before: Double, after: Double)
    }

    private struct Sample {
        var at: SuspendingClock.Instant
        /// Processor time of the job's threads so far, milliseconds.
        var used: Double
        var isRaised: Bool
    }

    func run() throws {
        let service = try BenchService(bgrun: options.bgrun)
        defer { service.end() }
        let load = try SessionProgram(
            [
                Executables.own, "probe", "throughput", "--threads", "\(busy)", "--seconds", "86400", "--rounds",
                "1000000",
            ], environment: service.environment)
        defer { load.end() }
        var taken: [Promotion] = []
        for _ in 0..<count { taken.append(try promotion(service)) }
        var table = FigureTable()
        func add(_ name: String, _ values: [Double], goal: Double? = nil) {
            let sorted = values.sorted()
            table.add("\(name), median", median(sorted), "ms", goal: goal)
            table.add("\(name), longest of \(sorted.count)", sorted.last ?? .nan, "ms", goal: goal)
        }
        add("from the start of bgrun fg to its return", taken.map(\.returned))
        add("from the start of bgrun fg to the weight", taken.compactMap(\.weight))
        add("from the start of bgrun fg to the first chunk", taken.compactMap(\.firstChunk), goal: Self.goal)
        add(
            "from the return of bgrun fg to the first chunk",
            taken.compactMap { one in one.firstChunk.map { max($0 - one.returned, 0) } })
        table.add("promotions without such a chunk", Double(taken.count { $0.firstChunk == nil }), "", goal: 0)
        table.add("processors before", median(taken.map(\.processors.before)), "processors")
        table.add("processors after", median(taken.map(\.processors.after)), "processors")
        table.add("pictures before", median(taken.map(\.pictures.before)), "1/s")
        table.add("pictures after", median(taken.map(\.pictures.after)), "1/s")
        try table.print(asJSON: options.json)
    }

    private func promotion(_ service: BenchService) throws -> Promotion {
        let feed = try WorkFeed(service, options.work, .background)
        // Its pace settles beside the load.
        sleep(2)
        let id = feed.job
        guard let job = try? service.client.job(id), let process = job.process else {
            throw ProcessError(description: "the export ended: give more pictures")
        }
        let clock = SuspendingClock()
        let weight = WeightFile(of: process)
        var samples: [Sample] = []
        func sample(until end: SuspendingClock.Instant, _ isOver: () -> Bool = { false }) {
            while clock.now < end, !isOver() {
                let used = ProcessUse.nanoseconds(of: ProcessUse.tree(process)) * 1e-6
                samples.append(Sample(at: clock.now, used: used, isRaised: weight.isRaised))
                usleep(2_000)
            }
        }
        let picturesAtFirst = feed.pictures
        sample(until: clock.now + .seconds(seconds))
        let pictures = feed.pictures
        let begin = clock.now
        let command = try SessionProgram([service.bgrun, "fg", "\(id)"], environment: service.environment)
        var returned: SuspendingClock.Instant?
        sample(until: begin + .seconds(seconds)) {
            var status: Int32 = 0
            if returned == nil, waitpid(command.process, &status, WNOHANG) > 0 { returned = clock.now }
            return false
        }
        let middle = feed.pictures
        let later = clock.now
        sample(until: later + .seconds(seconds))
        let picturesAtLast = feed.pictures
        guard let returned, feed.job == id else {
            throw ProcessError(description: "the export ended under way: give more pictures")
        }
        let span = later.duration(to: clock.now) / .seconds(1)
        let after = Self.rate(samples.filter { $0.at >= later })
        let promotion = Promotion(
            returned: begin.duration(to: returned) / .milliseconds(1),
            weight: samples.first { $0.at >= begin && $0.isRaised }.map {
                begin.duration(to: $0.at) / .milliseconds(1)
            },
            firstChunk: Self.firstChunk(samples.filter { $0.at >= begin }, atLeast: after / 2)
                .map { begin.duration(to: $0) / .milliseconds(1) },
            processors: (Self.rate(samples.filter { $0.at < begin }), after),
            pictures: ((pictures - picturesAtFirst) / seconds, (picturesAtLast - middle) / span))
        try feed.end()
        return promotion
    }

    /// Processors in use from the first to the last sample.
    private static func rate(_ samples: [Sample]) -> Double {
        guard let first = samples.first, let last = samples.last, first.at < last.at else { return 0 }
        return (last.used - first.used) / (first.at.duration(to: last.at) / .milliseconds(1))
    }

    /// The end of the first window in which the threads got so many processors.
    private static func firstChunk(_ samples: [Sample], atLeast rate: Double) -> SuspendingClock.Instant? {
        var end = samples.startIndex
        for begin in samples.indices {
            let time = samples[begin].at
            while end < samples.endIndex, time.duration(to: samples[end].at) / .milliseconds(1) < windowMilliseconds {
                end += 1
            }
            guard end < samples.endIndex else { return nil }
            if Self.rate([samples[begin], samples[end]]) >= rate { return samples[end].at }
        }
        return nil
    }
}
