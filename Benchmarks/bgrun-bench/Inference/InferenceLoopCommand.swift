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

    /// As `bgrun infer` has it.
    private static let batch = 8

    @Argument(help: "A model with one input.")
    var model: String

    @Argument(help: "A .npy file whose rows are its inputs.")
    var array: String

    @Option(help: "Folder for the outputs.")
    var out: String

    func run() throws {
        let model = try ModelImporter().load(path: model)
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
        let atOnce = try model.rowsAtOnce(inputs: [port.name: type], most: Self.batch)
        type.shape?[0] = .known(atOnce)
        let compiled = try CompiledModel(model, inputs: [port.name: type])
        let streams = ProcessInfo.processInfo.activeProcessorCount
        let (next, troubles) = (Lock(0), Lock<[String]>([]))
        let files = Lock<[String: (assembly: NPYAssembly, descriptor: Int32)]>([:])
        DispatchQueue.concurrentPerform(iterations: streams) { _ in
            do {
                let run = try CompiledModel.Run(compiled)
                while true {
                    let start = next.withLock { next in
                        defer { next += Self.batch }
                        return next
                    }
                    guard start < rows.rowCount else { return }
                    let end = min(start + Self.batch, rows.rowCount)
                    for first in stride(from: start, to: end, by: atOnce) {
                        let range = first..<min(first + atOnce, end)
                        let outputs = try run.execute([port.name: try Self.filled(rows, range, to: atOnce)])
                        try write(outputs, range, files)
                    }
                }
            } catch {
                troubles.withLock { $0.append("\(error)") }
            }
        }
        if let trouble = troubles.withLock(\.first) { throw ProcessError(description: trouble) }
        for (_, file) in files.withLock({ $0 }) {
            try file.assembly.finish(rowCount: rows.rowCount, to: file.descriptor)
        }
    }

    /// Filled up with repetitions of the first row.
    private static func filled(_ file: NPYFile, _ range: Range<Int>, to count: Int) throws -> Tensor {
        let rows = try file.rows(range)
        guard range.count < count else { return rows }
        let first = try Batch.rows(0..<1, of: rows)
        return try Batch.joined([rows] + (range.count..<count).map { _ in first })
    }

    private func write(
        _ outputs: [String: Tensor], _ range: Range<Int>,
        _ files: Lock<[String: (assembly: NPYAssembly, descriptor: Int32)]>
    ) throws {
        for (name, tensor) in outputs {
            let file = try files.withLock { files -> (assembly: NPYAssembly, descriptor: Int32) in
                if let file = files[name] { return file }
                let descriptor = open("\(out)/\(files.count).npy", O_WRONLY | O_CREAT | O_TRUNC, 0o644)
                guard descriptor >= 0 else { throw ProcessError(description: "no file can be made in \(out)") }
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
