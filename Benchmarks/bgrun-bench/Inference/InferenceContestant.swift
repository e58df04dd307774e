import Foundation
import Glibc
import Inference

/// What a number of runs took.
struct InferenceTime {
    /// Seconds.
    var wall: Double
    /// Seconds of user and system time.
    var processor: Double
}

/// An engine that has loaded a model and its inputs, and has run it once.
protocol InferenceContestant: AnyObject {
    var title: String { get }
    func run(_ count: Int) throws -> InferenceTime
    /// Of the last run, as float32 by name.
    func outputs() throws -> [String: [Float]]
}

/// bgrun's own CPU lane, in this process and on the thread that asks.
final class LaneContestant: InferenceContestant {
    let title: String
    let model: CompiledModel
    private let run: CompiledModel.Run
    private let inputs: [String: Tensor]
    private var results: [String: Tensor] = [:]

    init(_ path: String, inputs: [String: Tensor], precision: Precision = .float32) throws {
        title = if case .bfloat16 = precision { "bgrun bfloat16" } else { "bgrun" }
        let model = try ModelImporter().load(path: path)
        let types = inputs.mapValues { TensorType($0.elementType, extents: $0.shape) }
        self.model = try CompiledModel(model, inputs: types, precision: precision)
        run = try CompiledModel.Run(self.model)
        self.inputs = inputs
        results = try run.execute(inputs)
    }

    func run(_ count: Int) throws -> InferenceTime {
        let (wall, processor) = (seconds(CLOCK_MONOTONIC), seconds(CLOCK_THREAD_CPUTIME_ID))
        for _ in 0..<count { results = try run.execute(inputs) }
        return InferenceTime(
            wall: seconds(CLOCK_MONOTONIC) - wall, processor: seconds(CLOCK_THREAD_CPUTIME_ID) - processor)
    }

    /// Lines for the steps that take most, of some runs.
    func profile(lines count: Int) throws -> [String] {
        let profile = RunProfile()
        for _ in 0..<5 { _ = try run.execute(inputs, profile: profile) }
        let times = model.times(profile)
        let whole = times.reduce(Duration.zero) { $0 + $1.total }
        return times.sorted { $0.total > $1.total }.prefix(count).map { time in
            let each = time.total / max(time.runs, 1)
            let rate = Double(time.floatingPointOperations) / (each / .nanoseconds(1))
            let share = 100 * (time.total / whole)
            return String(format: "%7.0f us %5.1f %% %6.1f Gflop/s  ", each / .microseconds(1), share, rate) + time.line
        }
    }

    func outputs() throws -> [String: [Float]] {
        results.mapValues { $0.elementType == .float32 ? $0.elements(as: Float.self) : $0.doubles().map { Float($0) } }
    }

    private func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

/// Another engine, in a Python process of its own that runs when it is told to.
final class PeerContestant: InferenceContestant {
    private struct Answer: Decodable {
        var version: String?
        var wall: Double?
        var processor: Double?
        var peak: Double?
    }

    private(set) var title: String
    /// Largest resident size of its process so far, in bytes.
    private(set) var peak = 0.0
    private let process = Process()
    private let requests = Pipe()
    private let answers: UnsafeMutablePointer<FILE>
    private let folder: String

    /// - Parameters:
    ///   - engine: As `Benchmarks/peers/inference.py` knows it.
    ///   - python: The interpreter of an environment that has it.
    ///   - model: Path of the ONNX file.
    ///   - threads: How many it may use.
    ///   - inputs: Path of their description.
    ///   - folder: Where outputs are written.
    /// - Throws: Where it cannot be started or does not load the model.
    init(_ engine: String, python: String, model: String, threads: Int, inputs: String, folder: String) throws {
        title = engine
        self.folder = folder
        let output = Pipe()
        guard let answers = fdopen(dup(output.fileHandleForReading.fileDescriptor), "r") else {
            throw CocoaError(.fileReadUnknown)
        }
        self.answers = answers
        process.executableURL = URL(filePath: python)
        process.arguments = ["Benchmarks/peers/inference.py", engine, model, "\(threads)", inputs]
        process.standardInput = requests
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        // The end of the process is to end the answers.
        try output.fileHandleForWriting.close()
        if let version = try answer().version { title += " \(version)" }
    }

    deinit {
        try? requests.fileHandleForWriting.close()
        process.waitUntilExit()
        fclose(answers)
    }

    func run(_ count: Int) throws -> InferenceTime {
        let answer = try ask("run \(count)")
        peak = answer.peak ?? peak
        guard let wall = answer.wall, let processor = answer.processor else { throw CocoaError(.coderInvalidValue) }
        return InferenceTime(wall: wall, processor: processor)
    }

    func outputs() throws -> [String: [Float]] {
        let own = folder + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
        _ = try ask("outputs \(own)")
        var result: [String: [Float]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: own) {
            let data = try Data(contentsOf: URL(filePath: own).appending(path: name))
            result[name] = data.withUnsafeBytes { [Float]($0.bindMemory(to: Float.self)) }
        }
        return result
    }

    private func ask(_ line: String) throws -> Answer {
        try requests.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
        return try answer()
    }

    private func answer() throws -> Answer {
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        let count = getline(&line, &capacity, answers)
        guard count > 0, let line else { throw CocoaError(.fileReadUnknown) }
        return try JSONDecoder().decode(Answer.self, from: Data(bytes: line, count: count))
    }
}
