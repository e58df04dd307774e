import ArgumentParser
import Foundation
import Glibc
import Inference

/// `bgrun-bench inference-start`: from the start of a process to the first result, and the memory that some runs take.
struct InferenceStartCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inference-start",
        abstract: "Compare the start of inference, and its memory, with ONNX Runtime in Python.")

    @Option(help: "Folder of ONNX models; Benchmarks/models/make_models.py makes one.")
    var models = ".build-models"

    @Option(help: "Only models whose name contains this.")
    var only: String?

    @Option(help: "Interpreter of an environment with ONNX Runtime.")
    var python = ".build-peers/inference/bin/python3"

    @Option(help: "Times that each process is started, in turn.")
    var rounds = 5

    @Option(help: "Batch size.")
    var batch = 1

    func run() throws {
        let files = try ModelFiles(folder: models, only: only)
        print(
            "Start to first result, one thread, batch \(batch), files in the page cache; median of \(rounds) rounds.\n")
        print(
            "| model | bgrun ms | of it load, compile, run | ONNX Runtime ms | ratio | processor ms | ratio | peak MB | ratio |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
        try ModelFiles.withFolder { folder in
            for file in files.names {
                print(try row(file, files.path(file), folder))
                fflush(nil)
            }
        }
    }

    private func row(_ file: String, _ path: String, _ folder: String) throws -> String {
        let inputs = try SampleInputs(ModelImporter().load(path: path), batch: batch, folder: folder)
        var (own, other): ([Start], [Start]) = ([], [])
        for _ in 0..<rounds {
            own.append(
                try Self.start(CommandLine.arguments[0], ["inference-once", path, "--batch", "\(batch)"]))
            other.append(
                try Self.start(
                    python, ["Benchmarks/peers/inference.py", "onnxruntime", path, "1", "1", inputs.description],
                    input: "run 5\n"))
        }
        func ratio(_ part: (Start) -> Double) -> String {
            String(format: "%.2f", median(zip(own, other).map { part($0) / part($1) }))
        }
        func middle(_ list: [Start], _ part: (Start) -> Double) -> String {
            String(format: "%.0f", median(list.map(part)))
        }
        let phases = [\Report.load, \Report.compile, \Report.run].map { part in
            middle(own) { $0.report[keyPath: part] ?? .nan }
        }
        let cells = [
            String(file.dropLast(5)), middle(own) { $0.wall * 1e3 }, phases.joined(separator: ", "),
            middle(other) { $0.wall * 1e3 }, ratio { $0.wall },
            middle(own) { $0.processor * 1e3 } + " to " + middle(other) { $0.processor * 1e3 },
            ratio { $0.processor },
            middle(own) { ($0.report.peak ?? .nan) / 1e6 } + " to "
                + middle(other) { ($0.report.peak ?? .nan) / 1e6 }, ratio { $0.report.peak ?? .nan },
        ]
        return "| " + cells.joined(separator: " | ") + " |"
    }

    /// What a process says at its end, times in milliseconds.
    struct Report: Codable {
        var peak: Double?
        var load: Double?
        var compile: Double?
        var run: Double?
    }

    struct Start {
        /// Seconds from the start to the first line that comes out.
        var wall: Double
        /// Of the whole process.
        var processor: Double
        var report: Report
    }

    static func start(_ program: String, _ arguments: [String], input: String = "") throws -> Start {
        let process = Process()
        let (requests, answers) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardInput = requests
        process.standardOutput = answers
        process.standardError = FileHandle.nullDevice
        let before = ProcessUse.endedChildrenSeconds
        let start = ContinuousClock.now
        try process.run()
        var text = answers.fileHandleForReading.availableData
        let wall = (ContinuousClock.now - start) / .seconds(1)
        try requests.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try requests.fileHandleForWriting.close()
        text += answers.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0, let last = text.split(separator: UInt8(ascii: "\n")).last else {
            throw CleanExit.message("\(program) \(arguments) ended with \(process.terminationStatus)")
        }
        let report = try JSONDecoder().decode(Report.self, from: Data(last))
        return Start(wall: wall, processor: ProcessUse.endedChildrenSeconds - before, report: report)
    }
}

/// The process that `inference-start` starts: a line when the first result is there, another after five more.
struct InferenceOnceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "inference-once", shouldDisplay: false)

    @Argument var path: String
    @Option var batch = 1
    /// Folder of caches, in which weights are looked for and, once the line is out, kept.
    @Option var cache: String?

    func run() throws {
        let start = ContinuousClock.now
        let kept = WeightCache(folder: cache)
        var known = kept?.key(files: [path], precision: "fp32", program: "bench", readsAll: false)
        let entry = known.flatMap { kept?.entry($0) }
        let laidOut = kept.map { _ in LaidOutWeights(entry) }
        let model = try ModelImporter(weights: .deferred).load(path: path)
        let loaded = ContinuousClock.now
        let inputs = try SampleInputs.tensors(model, batch: batch)
        let made = ContinuousClock.now
        let compiled = try CompiledModel(
            model, inputs: inputs.mapValues { TensorType($0.elementType, extents: $0.shape) }, laidOut: laidOut)
        let ready = ContinuousClock.now
        let run = try CompiledModel.Run(compiled)
        _ = try run.execute(inputs)
        let done = ContinuousClock.now
        print("ready")
        fflush(nil)
        if let kept, let laidOut, laidOut.madeByteCount > 0 {
            known = known ?? kept.key(files: [path], precision: "fp32", program: "bench", readsAll: true)
            if let known, let sheet = kept.sheet(for: known) {
                _ = laidOut.write(to: sheet, key: known.digest, limit: known.limitBytes)
                kept.keep(sheet, as: known)
                close(sheet)
            }
        }
        for _ in 0..<5 { _ = try run.execute(inputs) }
        let report = InferenceStartCommand.Report(
            peak: largestResidentBytes(), load: (loaded - start) / .milliseconds(1),
            compile: (ready - made) / .milliseconds(1), run: (done - ready) / .milliseconds(1))
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    }
}

/// As the kernel has it for this program alone; what `getrusage` tells includes what the process was forked from.
private func largestResidentBytes() -> Double? {
    let lines = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
    let field = lines?.first { $0.hasPrefix("VmHWM:") }?.split(whereSeparator: \.isWhitespace)
    return field.flatMap { $0.count > 1 ? Double($0[1]) : nil }.map { $0 * 1024 }
}
