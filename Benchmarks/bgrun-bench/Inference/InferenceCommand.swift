import ArgumentParser
import Foundation
import Glibc
import Inference

/// `bgrun-bench inference`: models on bgrun's CPU lane and on other engines, run by run in turn.
struct InferenceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inference", abstract: "Compare the CPU lane of inference with other engines.",
        discussion: """
            Times are those of one batch: wall time divided by the batches that were run. With several threads bgrun runs \
            one batch in each; every other engine is measured with a team of threads for one batch, and with streams as \
            bgrun has them.
            """)

    @Option(help: "Folder of ONNX models; Benchmarks/models/make_models.py makes one.")
    var models = ".build-models"

    @Option(help: "Only models whose name contains this.")
    var only: String?

    @Option(help: "Interpreter of an environment with the other engines.")
    var python = ".build-peers/inference/bin/python3"

    @Flag(help: "Run bgrun in bfloat16 as well.")
    var bfloat16 = false

    @Option(parsing: .upToNextOption, help: "Engines: onnxruntime, openvino, openvino-bf16, ncnn.")
    var engine = ["onnxruntime", "openvino", "ncnn"]

    @Option(parsing: .upToNextOption, help: "Batch sizes.")
    var batch = [1, 8]

    @Option(parsing: .upToNextOption, help: "Threads of each engine.")
    var threads = [1, 2]

    @Option(help: "Rounds; each engine runs once a round.")
    var rounds = 15

    @Option(help: "Seconds that an engine runs in a round, at least.")
    var slice = 0.1

    @Option(help: "Print this many steps of bgrun's that take most.")
    var profile = 0

    @Option(
        help: "The largest difference from ONNX Runtime that counts as the same, as a share of the largest element.")
    var tolerance: Float = 1e-3

    /// bgrun divided by an engine, over all models.
    private struct Ratios {
        var wall: [Double] = []
        var processor: [Double] = []
    }

    func run() throws {
        let files = try ModelFiles(folder: models, only: only)
        print(
            "Milliseconds of one batch, median of \(rounds) rounds; ratios within a round: bgrun divided by the other.\n"
        )
        print(
            "| model | batch | threads | engine | ms | processor ms | ratio wall | ratio processor | largest error | load |"
        )
        print("|---|---|---|---|---|---|---|---|---|---|")
        var ratios: [String: Ratios] = [:]
        try ModelFiles.withFolder { folder in
            for file in files.names {
                for batch in batch {
                    for threads in threads {
                        let rows = try compare(files.path(file), batch, threads, folder, &ratios)
                        for row in rows {
                            print("| \(file.dropLast(5)) | \(batch) | \(threads) | \(row.joined(separator: " | ")) |")
                        }
                        fflush(nil)
                    }
                }
            }
        }
        print("\nGeometric means over models and batch sizes:\n")
        for (name, list) in ratios.sorted(by: { $0.key < $1.key }) {
            let (wall, processor) = (figure(geometricMean(list.wall)), figure(geometricMean(list.processor)))
            let worst = figure(list.processor.max() ?? .nan)
            print("- to \(name): wall \(wall), processor \(processor) (worst \(worst)) of \(list.wall.count)")
        }
    }

    /// - Returns: Cells of a row for each engine.
    private func compare(
        _ path: String, _ batch: Int, _ threads: Int, _ folder: String, _ ratios: inout [String: Ratios]
    ) throws -> [[String]] {
        let inputs = try SampleInputs(ModelImporter().load(path: path), batch: batch, folder: folder)
        let field = try InferenceField(
            path, inputs: inputs, threads: threads,
            peers: .init(python: python, engines: engine, bfloat16: bfloat16), folder: folder)
        let contestants = field.contestants
        for line in try (contestants[0] as? LaneContestant)?.profile(lines: profile) ?? [] { print(line) }
        let times = try measure(contestants)
        let load = decimal(ProcessUse.loadAverage)
        let reference = try field.names.firstIndex { $0.hasPrefix("onnxruntime") }.map {
            try contestants[$0].outputs()
        }
        var rows: [[String]] = []
        for (place, contestant) in contestants.enumerated() {
            let error = try reference.map { Self.error(try contestant.outputs(), $0) }
            if place == 0, let error, !(error <= Self.tolerance) {
                throw CleanExit.message("\(path): differs from ONNX Runtime by \(error) of the largest element")
            }
            func ratio(_ part: (InferenceTime) -> Double) -> Double {
                median(zip(times[0], times[place]).map { part($0) / part($1) })
            }
            let (wall, processor) = (ratio(\.wall), ratio(\.processor))
            if place > 0 {
                let name = field.names[place] + (threads > 1 ? ", \(threads) threads" : "")
                ratios[name, default: Ratios()].wall.append(wall)
                ratios[name, default: Ratios()].processor.append(processor)
            }
            rows.append([
                contestant.title, figure(median(times[place].map(\.wall)) * 1e3),
                figure(median(times[place].map(\.processor)) * 1e3), figure(wall), figure(processor),
                error.map { String(format: "%.1e", $0) } ?? "-", load,
            ])
        }
        return rows + field.absent.map { ["\($0.name): does not run, \($0.reason)", "-", "-", "-", "-", "-", load] }
    }

    /// Of one batch, in each round.
    private func measure(_ contestants: [any InferenceContestant]) throws -> [[InferenceTime]] {
        let counts = try contestants.map { try $0.count(for: slice) }
        var times = contestants.map { _ in [InferenceTime]() }
        for round in 0..<rounds {
            for turn in contestants.indices {
                let place = (turn + round) % contestants.count
                times[place].append(try contestants[place].run(counts[place]).each(of: counts[place]))
            }
        }
        return times
    }

    /// The largest difference of two elements, divided by the largest element; infinite where there are other outputs.
    private static func error(_ outputs: [String: [Float]], _ reference: [String: [Float]]) -> Float {
        guard outputs.count == reference.count else { return .infinity }
        return reference.reduce(0) { worst, entry in
            guard let own = outputs[entry.key], own.count == entry.value.count else { return .infinity }
            let scale = entry.value.reduce(Float.leastNormalMagnitude) { max($0, abs($1)) }
            return zip(own, entry.value).reduce(worst) { worst, pair in
                let difference = abs(pair.0 - pair.1) / scale
                return difference.isNaN ? .infinity : max(worst, difference)
            }
        }
    }
}

/// Three digits of a number.
func figure(_ value: Double) -> String { String(format: "%.3g", value) }
