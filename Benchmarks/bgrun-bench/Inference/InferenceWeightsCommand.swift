import ArgumentParser
import Foundation

/// `bgrun-bench inference-weights`: what weights that were laid out before save at the start of a process.
struct InferenceWeightsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inference-weights",
        abstract: "Compare the start of inference without and with weights in the cache.")

    @Option(help: "Folder of ONNX models; Benchmarks/models/make_models.py makes one.")
    var models = ".build-models"

    @Option(help: "Only models whose name contains this.")
    var only: String?

    @Option(help: "Times that each process is started, in turn.")
    var rounds = 9

    @Option(help: "Batch size.")
    var batch = 1

    func run() throws {
        let files = try ModelFiles(folder: models, only: only)
        print(
            """
            Start to first result, one thread, batch \(batch), files in the page cache; median of \(rounds) rounds. \
            Without and with the cache: wall time, of it load, compile and run, processor time, peak.

            | model | wall ms | ratio | load, compile, run ms | processor ms | ratio | peak MB |
            |---|---|---|---|---|---|---|
            """)
        try ModelFiles.withFolder { folder in
            for file in files.names {
                print(try row(file, files.path(file), cache: "\(folder)/cache"))
                fflush(nil)
            }
        }
    }

    private func row(_ file: String, _ path: String, cache: String) throws -> String {
        let plain = ["inference-once", path, "--batch", "\(batch)"]
        func start(_ more: [String] = []) throws -> InferenceStartCommand.Start {
            try InferenceStartCommand.start(CommandLine.arguments[0], plain + more)
        }
        // Fills it.
        _ = try start(["--cache", cache])
        var (cold, warm): ([InferenceStartCommand.Start], [InferenceStartCommand.Start]) = ([], [])
        for round in 0..<rounds {
            if round % 2 == 0 { cold.append(try start()) }
            warm.append(try start(["--cache", cache]))
            if round % 2 == 1 { cold.append(try start()) }
        }
        func middle(_ list: [InferenceStartCommand.Start], _ part: (InferenceStartCommand.Start) -> Double) -> String {
            String(format: "%.0f", median(list.map(part)))
        }
        func both(_ part: (InferenceStartCommand.Start) -> Double) -> String {
            middle(cold, part) + ", " + middle(warm, part)
        }
        func ratio(_ part: (InferenceStartCommand.Start) -> Double) -> String {
            String(format: "%.2f", median(zip(cold, warm).map { part($1) / part($0) }))
        }
        func phases(_ list: [InferenceStartCommand.Start]) -> String {
            [\InferenceStartCommand.Report.load, \.compile, \.run].map { part in
                middle(list) { $0.report[keyPath: part] ?? .nan }
            }.joined(separator: " + ")
        }
        let cells = [
            String(file.dropLast(5)), both { $0.wall * 1e3 }, ratio { $0.wall }, phases(cold) + "; " + phases(warm),
            both { $0.processor * 1e3 }, ratio { $0.processor }, both { ($0.report.peak ?? .nan) / 1e6 },
        ]
        return "| " + cells.joined(separator: " | ") + " |"
    }
}
