import Foundation
import Glibc

/// How an engine uses its threads.
struct PeerThreads: Hashable {
    /// That compute one batch together.
    var team = 1
    /// Batches that go on at once, each with a team of its own.
    var streams = 1

    var suffix: String { streams > 1 ? ", \(streams) streams" : team > 1 ? ", team of \(team)" : "" }
}

/// An engine in a process of its own that runs when it is told to, by lines as `Benchmarks/peers/inference.py` has them.
final class PeerContestant: InferenceContestant {
    /// It does not run the model.
    struct Trouble: Error {
        var sentence: String
    }

    private struct Answer: Decodable {
        /// Of the engine; absent in every answer but the first.
        var version: String?
        var trouble: String?
        var wall: Double?
        var processor: Double?
        var longest: Double?
    }

    private(set) var title: String
    let streams: Int
    private let process = Process()
    private let requests = Pipe()
    private let answers: UnsafeMutablePointer<FILE>
    private let folder: String

    /// Another engine, in Python.
    ///
    /// - Parameters:
    ///   - engine: As `Benchmarks/peers/inference.py` knows it.
    ///   - python: The interpreter of an environment that has it.
    ///   - model: Path of the ONNX file.
    ///   - threads: What it may use.
    ///   - inputs: Path of their description.
    ///   - folder: Where outputs are written.
    /// - Throws: ``Trouble`` where it does not run the model, other errors where it cannot be started.
    convenience init(
        _ engine: String, python: String, model: String, threads: PeerThreads, inputs: String, folder: String
    ) throws {
        try self.init(
            engine,
            [
                python, "Benchmarks/peers/inference.py", engine, model, "\(threads.team)", "\(threads.streams)", inputs,
            ], streams: threads.streams, folder: folder)
        title += threads.suffix
    }

    /// A program that speaks so; the words are its path and its arguments.
    init(_ name: String, _ words: [String], streams: Int = 1, folder: String) throws {
        title = name
        self.streams = streams
        self.folder = folder
        let output = Pipe()
        guard let answers = fdopen(dup(output.fileHandleForReading.fileDescriptor), "r") else {
            throw CocoaError(.fileReadUnknown)
        }
        self.answers = answers
        process.executableURL = URL(filePath: words[0])
        process.arguments = Array(words.dropFirst())
        process.standardInput = requests
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        // The end of the process is to end the answers.
        try output.fileHandleForWriting.close()
        if let version = try answer().version { title += " " + version.prefix { $0 != "-" } }
    }

    deinit {
        try? requests.fileHandleForWriting.close()
        process.waitUntilExit()
        fclose(answers)
    }

    func run(_ count: Int) throws -> InferenceTime {
        let answer = try ask("run \(count)")
        guard let wall = answer.wall, let processor = answer.processor, let longest = answer.longest else {
            throw CocoaError(.coderInvalidValue)
        }
        return InferenceTime(wall: wall, processor: processor, longest: longest)
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
        guard count > 0, let line else { throw Trouble(sentence: "its process ended") }
        let answer = try JSONDecoder().decode(Answer.self, from: Data(bytes: line, count: count))
        if let trouble = answer.trouble { throw Trouble(sentence: trouble) }
        return answer
    }
}
