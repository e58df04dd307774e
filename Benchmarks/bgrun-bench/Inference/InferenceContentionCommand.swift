import ArgumentParser
import Foundation
import Glibc
import Inference

/// `bgrun-bench inference-contention`: what a busy thread of somebody else does to the time of a batch.
struct InferenceContentionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inference-contention",
        abstract: "Compare how engines of inference slow down beside a busy thread.",
        discussion: """
            Each engine runs alone and beside one busy thread of another session, at the same priority, in each round. bgrun \
            has a process and a session for each of its threads, as its workers have. \
            The slow-down is the mean time of a batch beside it divided by that alone.
            """)

    @Option(help: "Folder of ONNX models; Benchmarks/models/make_models.py makes one.")
    var models = ".build-models"

    @Option(help: "Only models whose name contains this.")
    var only: String?

    @Option(help: "Interpreter of an environment with the other engines.")
    var python = ".build-peers/inference/bin/python3"

    @Option(parsing: .upToNextOption, help: "Engines: onnxruntime, openvino, openvino-bf16, ncnn.")
    var engine = ["onnxruntime", "openvino"]

    @Option(parsing: .upToNextOption, help: "Batch sizes.")
    var batch = [1, 8]

    @Option(help: "Threads of each engine, at best as many as there are cores.")
    var threads = 2

    @Option(help: "Rounds; each engine runs alone and beside the busy thread in each.")
    var rounds = 9

    @Option(help: "Seconds that each of the two takes, at least.")
    var slice = 1.0

    /// The largest slow-down of bgrun that is good enough.
    private static let goal = 1.9

    /// Of one engine, a round after the other.
    private struct Samples {
        var alone: [InferenceTime] = []
        var beside: [InferenceTime] = []
        /// Processors that the busy thread had.
        var busyShare: [Double] = []

        var slowDown: Double { median(zip(beside, alone).map { $0.wall / $1.wall }) }
    }

    func run() throws {
        let files = try ModelFiles(folder: models, only: only)
        print("\(threads) threads; median of \(rounds) rounds of \(slice) s alone and beside one busy thread.\n")
        print("| model | batch | engine | alone ms | beside ms | slow-down | longest ms | busy thread's share | load |")
        print("|---|---|---|---|---|---|---|---|---|")
        var slowDowns: [String: [Double]] = [:]
        let busy = try BusyProgram()
        defer { busy.end() }
        try ModelFiles.withFolder { folder in
            for file in files.names {
                for batch in batch {
                    let path = files.path(file)
                    let inputs = try SampleInputs(ModelImporter().load(path: path), batch: batch, folder: folder)
                    let field = try InferenceField(
                        path, inputs: inputs, threads: threads,
                        peers: .init(python: python, engines: engine, workers: true), folder: folder)
                    let samples = try measure(field.contestants, busy)
                    for (place, contestant) in field.contestants.enumerated() {
                        slowDowns[field.names[place], default: []].append(samples[place].slowDown)
                        print("| \(file.dropLast(5)) | \(batch) | \(Self.row(contestant, samples[place])) |")
                    }
                    for (name, reason) in field.absent {
                        print("| \(file.dropLast(5)) | \(batch) | \(name): does not run, \(reason) | | | | | | |")
                    }
                    fflush(nil)
                }
            }
        }
        print("\nGeometric means of the slow-downs:\n")
        for (name, list) in slowDowns.sorted(by: { $0.key < $1.key }) {
            let mean = geometricMean(list)
            let verdict = name == "bgrun" ? " (goal <= \(Self.goal): \(mean <= Self.goal ? "PASS" : "FAIL"))" : ""
            print("- \(name): \(figure(mean)), worst \(figure(list.max() ?? .nan))\(verdict)")
        }
    }

    private func measure(_ contestants: [any InferenceContestant], _ busy: BusyProgram) throws -> [Samples] {
        let counts = try contestants.map { try $0.count(for: slice) }
        var samples = contestants.map { _ in Samples() }
        for round in 0..<rounds {
            for turn in contestants.indices {
                let place = (turn + round) % contestants.count
                for isBeside in round % 2 == 0 ? [false, true] : [true, false] {
                    guard isBeside else {
                        samples[place].alone.append(try contestants[place].run(counts[place]).each(of: counts[place]))
                        continue
                    }
                    let before = busy.processorSeconds
                    busy.goOn()
                    defer { busy.pause() }
                    let time = try contestants[place].run(counts[place])
                    samples[place].busyShare.append((busy.processorSeconds - before) / time.wall)
                    samples[place].beside.append(time.each(of: counts[place]))
                }
            }
        }
        return samples
    }

    /// Times of one batch in its stream, so with several streams more than what a batch costs in the end.
    private static func row(_ contestant: any InferenceContestant, _ samples: Samples) -> String {
        func milliseconds(_ times: [InferenceTime]) -> String {
            figure(median(times.map(\.wall)) * 1e3 * Double(contestant.streams))
        }
        let longest = [samples.alone, samples.beside].map { figure(median($0.map(\.longest)) * 1e3) }
        return [
            contestant.title, milliseconds(samples.alone), milliseconds(samples.beside), figure(samples.slowDown),
            longest.joined(separator: " -> "), figure(median(samples.busyShare)), decimal(ProcessUse.loadAverage),
        ].joined(separator: " | ")
    }
}
