import ArgumentParser
import Foundation
import Glibc
import Inference
import InferenceData
import Locking

/// `bgrun-bench inference-loop`: a model over the rows of an array in a plain loop, without scheduler, workers, progress,
/// chunks and journal. The rows go through the model as `bgrun infer` sends them by default.
///
/// What `bgrun infer` takes beyond this is what those cost.
struct InferenceLoopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inference-loop", abstract: "Run a model over an array in a plain loop.", shouldDisplay: false)

    /// The most rows at once, as `bgrun infer` has it.
    static let usual = 8

    @Argument(help: "A model with one input.")
    var model: String

    @Argument(help: "A .npy file whose rows are its inputs.")
    var array: String

    @Option(help: "Folder for the outputs.")
    var out: String

    @Option(help: "Processes with one thread each, in place of a thread for each processor.")
    var processes: Int?

    @Option(help: "Folder of caches: the weights that bgrun has laid out there are used, where they are of one model.")
    var weights: String?

    @Flag(help: "Take the places of batches, 4 bytes each, from standard input.")
    var placesFromInput = false

    func run() throws {
        let model = try ModelImporter(weights: weights == nil ? .read : .deferred).load(path: model)
        try withOpenFile(array) { file throws(DataError) in
            do {
                try run(model, NPYFile(file))
            } catch {
                throw DataError.mismatch("\(error)")
            }
        }
    }

    private func run(_ model: Model, _ rows: NPYFile) throws {
        guard let port = model.graph.inputs.first, model.graph.inputs.count == 1 else {
            throw ProcessError(description: "the model has \(model.graph.inputs.count) inputs")
        }
        var type = TensorType(rows.header.elementType, extents: [1] + rows.header.rowShape)
        let atOnce = try model.rowsAtOnce(inputs: [port.name: type], most: Self.usual)
        type.shape?[0] = .known(atOnce)
        if let processes {
            let words =
                [Executables.own, "inference-loop", self.model, array, "--out", out, "--places-from-input"]
                + (weights.map { ["--weights", $0] } ?? [])
            let places = (rows.rowCount + atOnce - 1) / atOnce
            return try ProcessTeam.run(words, processes: processes, places: places)
        }
        let compiled = try CompiledModel(model, inputs: [port.name: type], laidOut: LaidOutWeights(try weightEntry()))
        let loop = Loop(
            compiled: compiled, rows: rows, input: port.name, atOnce: atOnce, folder: out,
            isOfTeam: placesFromInput)
        let threads = placesFromInput ? 1 : ProcessInfo.processInfo.activeProcessorCount
        DispatchQueue.concurrentPerform(iterations: threads) { _ in loop.runBatches() }
        // Where there are several processes, each leaves the same.
        try loop.finish()
    }

    /// - Throws: ``ProcessError`` where a folder has entries of no model, or of several.
    private func weightEntry() throws -> WeightEntry? {
        guard let folder = weights.map({ $0 + "/weights" }) else { return nil }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let keys = names.compactMap { Digest(hexadecimal: $0) }
        guard keys.count == 1, let key = keys.first else {
            throw ProcessError(description: "\(folder) has laid out weights of \(keys.count) models")
        }
        let file = open("\(folder)/\(key.hexadecimal)", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        return WeightEntry(descriptor: file, key: key)
    }
}

/// What the threads of the loop share.
private struct Loop: Sendable {
    let compiled: CompiledModel
    let rows: NPYFile
    let input: String
    let atOnce: Int
    let folder: String
    /// It takes the places of its batches from its standard input.
    let isOfTeam: Bool
    private let next = Lock(0)
    private let troubles = Lock<[String]>([])
    private let files = Lock<[String: (assembly: NPYAssembly, descriptor: Int32)]>([:])

    init(compiled: CompiledModel, rows: NPYFile, input: String, atOnce: Int, folder: String, isOfTeam: Bool) {
        self.compiled = compiled
        self.rows = rows
        self.input = input
        self.atOnce = atOnce
        self.folder = folder
        self.isOfTeam = isOfTeam
    }

    /// Runs batches until there are no more.
    func runBatches() {
        do {
            let run = try CompiledModel.Run(compiled)
            while let batch = nextBatch() {
                try write(try run.execute([input: try filled(batch)]), batch)
            }
        } catch {
            troubles.withLock { $0.append("\(error)") }
        }
    }

    /// - Throws: ``ProcessError`` with the first trouble of any thread.
    func finish() throws {
        if let trouble = troubles.withLock(\.first) { throw ProcessError(description: trouble) }
        for (_, file) in files.withLock({ $0 }) {
            try file.assembly.finish(rowCount: rows.rowCount, to: file.descriptor)
        }
    }

    private func nextBatch() -> Range<Int>? {
        let start: Int
        if isOfTeam {
            guard let place = ProcessTeam.nextPlace() else { return nil }
            start = place * atOnce
        } else {
            start = next.withLock { next in
                defer { next += atOnce }
                return next
            }
        }
        return start < rows.rowCount ? start..<min(start + atOnce, rows.rowCount) : nil
    }

    /// Filled up with repetitions of the first row.
    private func filled(_ range: Range<Int>) throws -> Tensor {
        let given = try rows.rows(range)
        guard range.count < atOnce else { return given }
        let first = try Batch.rows(0..<1, of: given)
        return try Batch.joined([given] + (range.count..<atOnce).map { _ in first })
    }

    private func write(_ outputs: [String: Tensor], _ range: Range<Int>) throws {
        for (name, tensor) in outputs.sorted(by: { $0.key < $1.key }) {
            let file = try files.withLock { files -> (assembly: NPYAssembly, descriptor: Int32) in
                if let file = files[name] { return file }
                let descriptor = open("\(folder)/\(files.count).npy", O_WRONLY | O_CREAT, 0o644)
                guard descriptor >= 0 else { throw ProcessError(description: "no file can be made in \(folder)") }
                let assembly = try NPYAssembly(
                    elementType: tensor.elementType, rowShape: Array(tensor.shape.dropFirst()))
                files[name] = (assembly, descriptor)
                return (assembly, descriptor)
            }
            _ = try file.assembly.write(
                try Batch.rows(0..<range.count, of: tensor), firstRow: range.lowerBound, to: file.descriptor)
        }
    }
}
