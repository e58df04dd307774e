import Foundation
import Inference
import SeededNumbers

/// Inputs of a model from a seed, for engines in this process and in others.
struct SampleInputs {
    let tensors: [String: Tensor]
    let batch: Int
    /// A description of the same in files.
    let description: String

    private struct Entry: Encodable {
        var name: String
        var type: String
        var shape: [Int]
        var file: String
    }

    /// Inputs as ``tensors(_:batch:)`` makes them, in memory and in files of that folder.
    init(_ model: Model, batch: Int, folder: String) throws {
        self.batch = batch
        tensors = try Self.tensors(model, batch: batch)
        var entries: [Entry] = []
        for (place, port) in model.graph.inputs.enumerated() {
            guard let tensor = tensors[port.name] else { continue }
            let file = folder + "/input-\(batch)-\(place)"
            try tensor.withBytes { bytes in try? Data(bytes).write(to: URL(filePath: file)) }
            entries.append(
                Entry(name: port.name, type: tensor.elementType.rawValue, shape: tensor.shape, file: file))
        }
        description = folder + "/inputs-\(batch).json"
        try JSONEncoder().encode(entries).write(to: URL(filePath: description))
    }

    /// Inputs by name. Floats are uniform in ±1; integers are 1 in masks, 0 in types, and below 1000 else.
    static func tensors(_ model: Model, batch: Int) throws -> [String: Tensor] {
        var generator = SeededGenerator(seed: 1)
        var tensors: [String: Tensor] = [:]
        for port in model.graph.inputs {
            guard let type = port.type, let shape = type.shape?.map({ $0.extent ?? batch }) else {
                throw CocoaError(.coderInvalidValue)
            }
            let count = shape.reduce(1, *)
            if type.elementType == .int64 {
                let limit: Int64 = port.name.contains("mask") || port.name.contains("type") ? 1 : 1000
                let base: Int64 = port.name.contains("mask") ? 1 : 0
                tensors[port.name] = try Tensor(
                    .int64, shape: shape,
                    elements: (0..<count).map { _ in base + Int64.random(in: 0..<limit, using: &generator) })
            } else {
                tensors[port.name] = try Tensor(
                    .float32, shape: shape,
                    elements: (0..<count).map { _ in Float.random(in: -1...1, using: &generator) })
            }
        }
        return tensors
    }
}
