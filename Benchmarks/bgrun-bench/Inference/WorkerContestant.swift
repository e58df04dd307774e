import ArgumentParser
import Foundation
import Inference
import Locking

/// bgrun's own CPU lane as its workers have it: a process and a session for each stream of batches.
final class WorkerContestant: InferenceContestant {
    let title: String
    var streams: Int { workers.count }
    private let workers: [Worker]

    /// Unchecked: one thread at a time speaks to it.
    private struct Worker: @unchecked Sendable {
        let process: PeerContestant
    }

    init(_ path: String, batch: Int, streams: Int, folder: String) throws {
        title = "bgrun, \(streams) workers"
        workers = try (0..<streams).map { _ in
            // A process that leads a group cannot begin a session; this one starts another then.
            let words = ["/usr/bin/setsid", "--wait", Executables.own, InferenceWorkerCommand.name, path]
            return Worker(process: try PeerContestant("bgrun", words + ["--batch", "\(batch)"], folder: folder))
        }
    }

    func run(_ count: Int) throws -> InferenceTime {
        let results = Lock<[Result<InferenceTime, any Error>]>([])
        DispatchQueue.concurrentPerform(iterations: workers.count) { [workers] place in
            let share = count / workers.count + (place < count % workers.count ? 1 : 0)
            let result = Result { try workers[place].process.run(share) }
            results.withLock { $0.append(result) }
        }
        let times = try results.withLock { $0 }.map { try $0.get() }
        return InferenceTime(
            wall: times.map(\.wall).max() ?? 0, processor: times.reduce(0) { $0 + $1.processor },
            longest: times.map(\.longest).max() ?? 0)
    }

    func outputs() throws -> [String: [Float]] { try workers[0].process.outputs() }
}

/// The process of a ``WorkerContestant``. It speaks as `Benchmarks/peers/inference.py` does.
struct InferenceWorkerCommand: ParsableCommand {
    static let name = "inference-worker"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @Argument var path: String
    @Option var batch = 1

    private struct Answer: Encodable {
        var wall: Double?
        var processor: Double?
        var longest: Double?
    }

    func run() throws {
        let inputs = try SampleInputs.tensors(ModelImporter(weights: .leftOut).load(path: path), batch: batch)
        let lane = try LaneContestant(path, inputs: inputs, streams: 1)
        try say(Answer())
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 2 else { throw ProcessError(description: "what is \"\(line)\"?") }
            if words[0] == "run", let count = Int(words[1]) {
                let time = try lane.run(count)
                try say(Answer(wall: time.wall, processor: time.processor, longest: time.longest))
            } else {
                for (name, values) in try lane.outputs() {
                    try values.withUnsafeBytes { Data($0) }.write(to: URL(filePath: words[1]).appending(path: name))
                }
                try say(Answer())
            }
        }
    }

    private func say(_ answer: Answer) throws {
        print(String(decoding: try JSONEncoder().encode(answer), as: UTF8.self))
        fflush(nil)
    }
}
