import ArgumentParser
import Foundation
import Glibc
import Inference

/// `bgrun-bench inference`: models on bgrun's CPU lane and on other engines, run by run in turn.
struct InferenceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inference", abstract: "Compare the CPU lane of inference with other engines.")

    @Option(help: "Folder of ONNX models; Benchmarks/models/make_models.py makes one.")
    var models = ".build-models"

    @Option(help: "Only models whose name contains this.")
    var only: String?

    @Option(help: "Interpreter of an environment with the other engines.")
    var python = ".build-peers/inference/bin/python3"

    @Flag(help: "Run bgrun in bfloat16 as well.")
    var bfloat16 = false

    @Option(help: "Engines: onnxruntime, openvino, openvino-bf16.")
    var engine: [String] = ["onnxruntime"]

    @Option(help: "Batch sizes.")
    var batch: [Int] = [1, 8]

    @Option(help: "Rounds; each engine runs once a round.")
    var rounds = 15

    @Option(help: "Seconds that an engine runs in a round, at least.")
    var slice = 0.1

    @Option(help: "Print this many steps of bgrun's that take most.")
    var profile = 0

    @Option(
        help: "The largest difference from ONNX Runtime that counts as the same, as a share of the largest element.")
    var tolerance: Float = 1e-3

    func run() throws {
        let folder = NSTemporaryDirectory() + "bgrun-bench-inference-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let files = try FileManager.default.contentsOfDirectory(atPath: models).sorted().filter {
            $0.hasSuffix(".onnx") && (only.map($0.contains) ?? true)
        }
        print("One thread; median of \(rounds) rounds, ratios taken within a round: bgrun divided by the other.\n")
        print("| model | batch | engine | ms | processor ms | ratio wall | ratio processor | largest error | load |")
        print("|---|---|---|---|---|---|---|---|---|")
        var ratios: [String: [Double]] = [:]
        for file in files {
            for batch in batch {
                let table = try compare(models + "/" + file, batch, folder)
                for row in table {
                    print("| \(file.dropLast(5)) | \(batch) | " + row.cells.joined(separator: " | ") + " |")
                    if let ratio = row.ratio { ratios[row.engine, default: []].append(ratio) }
                }
                fflush(nil)
            }
        }
        print()
        for (engine, list) in ratios.sorted(by: { $0.key < $1.key }) {
            let mean = exp(list.map(log).reduce(0, +) / Double(list.count))
            let (mid, worst) = (figure(mean), figure(list.max() ?? .nan))
            print("\(engine): geometric mean \(mid), worst \(worst) of \(list.count) (processor time)")
        }
    }

    private struct Row {
        var engine: String
        var cells: [String]
        var ratio: Double?
    }

    private func compare(_ path: String, _ batch: Int, _ folder: String) throws -> [Row] {
        let inputs = try SampleInputs(ModelImporter().load(path: path), batch: batch, folder: folder)
        let lane = try LaneContestant(path, inputs: inputs.tensors)
        for line in try lane.profile(lines: profile) { print(line) }
        var contestants: [any InferenceContestant] = [lane]
        if bfloat16 {
            contestants.append(try LaneContestant(path, inputs: inputs.tensors, precision: .bfloat16))
        }
        for engine in engine {
            contestants.append(
                try PeerContestant(
                    engine, python: python, model: path, threads: 1, inputs: inputs.description, folder: folder))
        }
        let counts = try contestants.map { max(1, Int((slice / (try $0.run(1)).wall).rounded(.up))) }
        var times = contestants.map { _ in [InferenceTime]() }
        for round in 0..<rounds {
            for turn in contestants.indices {
                let place = (turn + round) % contestants.count
                let time = try contestants[place].run(counts[place])
                let count = Double(counts[place])
                times[place].append(InferenceTime(wall: time.wall / count, processor: time.processor / count))
            }
        }
        let load = try String(contentsOfFile: "/proc/loadavg", encoding: .utf8).prefix { $0 != " " }
        let reference = try contestants.first { $0.title.hasPrefix("onnxruntime") }?.outputs()
        return try contestants.indices.map { place in
            let wall = median(times[place].map(\.wall))
            let processor = median(times[place].map(\.processor))
            let ratio = [\InferenceTime.wall, \.processor].map { part in
                median(zip(times[0], times[place]).map { $0[keyPath: part] / $1[keyPath: part] })
            }
            let error = try reference.map { Self.error(try contestants[place].outputs(), $0) }
            if place == 0, let error, !(error <= tolerance) {
                throw CleanExit.message("\(path): differs from ONNX Runtime by \(error) of the largest element")
            }
            return Row(
                engine: engineName(place),
                cells: [
                    contestants[place].title, figure(wall * 1e3), figure(processor * 1e3), figure(ratio[0]),
                    figure(ratio[1]), error.map { String(format: "%.1e", $0) } ?? "-", String(load),
                ], ratio: place == 0 ? nil : ratio[1])
        }
    }

    private func engineName(_ place: Int) -> String {
        place == 0 ? "bgrun" : bfloat16 && place == 1 ? "bgrun bfloat16" : engine[place - (bfloat16 ? 2 : 1)]
    }

    private func figure(_ value: Double) -> String { String(format: "%.3g", value) }

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
