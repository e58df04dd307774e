import Inference

/// A model as a worker runs it: prepared for the types that inputs turn out to have, the last few of them kept.
final class PreparedModels {
    /// A model for one size of batch.
    struct Prepared {
        /// Rows that go through it at once.
        var rows: Int
        var model: CompiledModel
        var run: CompiledModel.Run
    }

    private let model: Model
    private let largestBatch: Int
    private var kept: [(types: [String: TensorType], prepared: Prepared)] = []
    /// Some output does not have a row for each input: batches are not possible.
    private(set) var isSingle = false

    /// Types for which a model is kept prepared.
    private static let keptCount = 4
    /// A stop waits for the node in work: its multiply-adds, at tens of thousand millions a second, take some ten
    /// milliseconds.
    private static let heaviestNode = 400_000_000

    /// - Parameters:
    ///   - model: As it was loaded.
    ///   - extents: For names of extents that inputs leave open.
    ///   - batch: The most rows at once.
    init(_ model: Model, extents: [String: Int], batch: Int) {
        var model = model
        model.graph.inputs = model.graph.inputs.map { port in
            guard var type = port.type else { return port }
            type.shape = type.shape?.map { dimension in
                guard case .symbol(let name) = dimension, let extent = extents[name] else { return dimension }
                return .known(extent)
            }
            return Graph.Port(port.name, type)
        }
        self.model = model
        largestBatch = batch
    }

    /// Inputs of the model, in its order, with the extents that were given.
    var ports: [Graph.Port] { model.graph.inputs }
    var outputs: [String] { model.graph.outputs.map(\.name) }

    /// The model for inputs like these, each with a leading extent of 1. The same types give the same number of rows, so
    /// that a result does not depend on what else is in its batch.
    ///
    /// - Throws: As ``CompiledModel`` does.
    func prepared(for sample: [String: Tensor]) throws(ModelError) -> Prepared {
        let single = sample.mapValues { TensorType($0.elementType, extents: $0.shape) }
        if let place = kept.firstIndex(where: { $0.types == single }) {
            let found = kept.remove(at: place)
            kept.append(found)
            return found.prepared
        }
        let rows = try rows(single)
        let types = single.mapValues { type -> TensorType in
            var type = type
            if type.shape?.isEmpty == false { type.shape?[0] = .known(rows) }
            return type
        }
        let compiled = try CompiledModel(model, inputs: types)
        let prepared = Prepared(rows: rows, model: compiled, run: try CompiledModel.Run(compiled))
        kept.append((single, prepared))
        if kept.count > Self.keptCount { kept.removeFirst() }
        return prepared
    }

    /// From now on one row at a time.
    func leaveBatches() {
        isSingle = true
        kept = []
    }

    private func rows(_ single: [String: TensorType]) throws(ModelError) -> Int {
        let leading = ports.compactMap { $0.type?.shape?.first }
        if let fixed = leading.compactMap(\.extent).first { return fixed }
        guard !isSingle, largestBatch > 1, leading.count == ports.count else { return 1 }
        guard let heaviest = try model.heaviestNode(inputs: single), heaviest > 0 else { return 1 }
        return min(max(Self.heaviestNode / heaviest, 1), largestBatch)
    }
}
