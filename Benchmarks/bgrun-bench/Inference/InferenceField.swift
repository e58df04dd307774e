import Foundation
import Inference

/// The engines of a comparison, on one model and one size of batch.
struct InferenceField {
    /// bgrun comes first.
    private(set) var contestants: [any InferenceContestant] = []
    /// Names of the same, without versions.
    private(set) var names: [String] = []
    /// Engines that do not run the model, with the reason.
    private(set) var absent: [(name: String, reason: String)] = []

    /// Engines beside bgrun, and where they are; how bgrun runs.
    struct Peers {
        var python: String
        var engines: [String]
        /// Whether bgrun is there in bfloat16 too.
        var bfloat16 = false
        /// Whether bgrun has a process for each stream, as its workers are, instead of a thread.
        var workers = false
    }

    /// - Parameters:
    ///   - path: The model.
    ///   - inputs: For one batch.
    ///   - threads: For each engine. With several, bgrun has as many streams of batches, and the others are there twice: with
    ///     a team of threads for each batch, and with as many streams.
    ///   - peers: Engines beside bgrun.
    ///   - folder: For files that are passed between processes.
    /// - Throws: Where bgrun does not run the model, or an engine cannot be started.
    init(_ path: String, inputs: SampleInputs, threads: Int, peers: Peers, folder: String) throws {
        add(
            "bgrun",
            peers.workers
                ? try WorkerContestant(path, batch: inputs.batch, streams: threads, folder: folder)
                : try LaneContestant(path, inputs: inputs.tensors, streams: threads))
        if peers.bfloat16 {
            add(
                "bgrun bfloat16",
                try LaneContestant(path, inputs: inputs.tensors, streams: threads, precision: .bfloat16))
        }
        let ways =
            threads == 1 ? [PeerThreads()] : [PeerThreads(team: threads), PeerThreads(streams: threads)]
        for engine in peers.engines {
            for way in ways {
                do {
                    add(
                        engine + way.suffix,
                        try PeerContestant(
                            engine, python: peers.python, model: path, threads: way, inputs: inputs.description,
                            folder: folder))
                } catch let trouble as PeerContestant.Trouble {
                    absent.append((engine + way.suffix, trouble.sentence))
                }
            }
        }
    }

    private mutating func add(_ name: String, _ contestant: any InferenceContestant) {
        names.append(name)
        contestants.append(contestant)
    }
}

/// The models of a comparison.
struct ModelFiles {
    /// With the ending `.onnx`.
    let names: [String]
    private let folder: String

    /// - Throws: Where there is no such folder.
    init(folder: String, only: String?) throws {
        self.folder = folder
        names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted().filter {
            $0.hasSuffix(".onnx") && (only.map($0.contains) ?? true)
        }
    }

    func path(_ name: String) -> String { folder + "/" + name }

    /// Calls `body` with a folder that is removed afterwards.
    static func withFolder(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "bgrun-bench-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }
}
