/// A model prepared for batches of one size on the CPU, which go through it a few rows at a time where that gives the same
/// and is faster.
package struct BatchModel: Sendable {
    /// The model for the rows that go through it at once.
    package let compiled: CompiledModel
    /// How often it is run for a batch.
    package let partCount: Int

    /// - Parameters:
    ///   - model: As the importer gives it.
    ///   - extents: For names of extents that the inputs leave open.
    ///   - types: Of the inputs of a batch.
    ///   - precision: Of convolutions and products.
    ///   - laidOut: As ``CompiledModel`` has it.
    /// - Throws: As ``CompiledModel`` does.
    package init(
        _ model: Model, extents: [String: Int] = [:], inputs types: [String: TensorType],
        precision: Precision = .float32, laidOut: LaidOutWeights? = nil
    ) throws(ModelError) {
        let rows = types.values.first?.extents?.first ?? 1
        // Samples of that choice are whole batches.
        let few = if case .automatic = precision { rows } else { try Self.fewRows(model, extents, types) }
        let parts = few < rows ? types.mapValues { $0.withRows(few) } : types
        partCount = few < rows ? rows / few : 1
        compiled = try CompiledModel(model, extents: extents, inputs: parts, precision: precision, laidOut: laidOut)
    }

    /// Rows that go through the model at once: a divisor of the batch, and the whole batch where rows may not be parted.
    private static func fewRows(
        _ model: Model, _ extents: [String: Int], _ types: [String: TensorType]
    ) throws(ModelError) -> Int {
        let rows = types.values.first?.extents?.first ?? 1
        guard rows > 1, types.values.allSatisfy({ $0.extents?.first == rows }),
            model.graph.inputs.allSatisfy({ isOpen($0.type?.shape?.first, extents) })
        else { return rows }
        // A graph that was traced for so many rows has no shapes for one.
        guard let most = try? model.rowsAtOnce(inputs: types.mapValues { $0.withRows(1) }, most: rows),
            let few = (1...most).last(where: { rows % $0 == 0 }), few < rows,
            try RowIndependence.holds(for: model.graph, inputs: types, few: few)
        else { return rows }
        return few
    }

    /// Neither the file nor who runs it says how large the batch is.
    private static func isOpen(_ leading: Dimension?, _ extents: [String: Int]) -> Bool {
        switch leading {
        case .symbol(let name)?: extents[name] == nil
        case .unknown?: true
        case .known?, nil: false
        }
    }

    /// Memory to run it in, for one thread at a time.
    package final class Run {
        private let run: CompiledModel.Run
        private let partCount: Int

        /// - Throws: `engine`.
        package init(_ model: BatchModel) throws(ModelError) {
            run = try CompiledModel.Run(model.compiled)
            partCount = model.partCount
        }

        /// As ``CompiledModel/Run/execute(_:profile:shouldStop:)``.
        package func execute(
            _ inputs: [String: Tensor], profile: RunProfile? = nil, shouldStop: () -> Bool = { false }
        ) throws(ModelError) -> [String: Tensor] {
            guard partCount > 1 else { return try run.execute(inputs, profile: profile, shouldStop: shouldStop) }
            var parts: [String: [Tensor]] = [:]
            for part in 0..<partCount {
                var some: [String: Tensor] = [:]
                for (name, tensor) in inputs { some[name] = try tensor.part(part, of: partCount) }
                for (name, tensor) in try run.execute(some, profile: profile, shouldStop: shouldStop) {
                    parts[name, default: []].append(tensor)
                }
            }
            var outputs: [String: Tensor] = [:]
            for (name, parts) in parts {
                let rows = parts.reduce(0) { $0 + ($1.shape.first ?? 0) }
                outputs[name] = try Tensor.joined(parts).reshaped([rows] + (parts.first?.shape.dropFirst() ?? []))
            }
            return outputs
        }
    }
}

extension Tensor {
    /// One of `count` parts of the same number of rows.
    fileprivate func part(_ number: Int, of count: Int) throws(ModelError) -> Tensor {
        guard let rows = shape.first, rows % count == 0 else {
            throw .wrongInput("a batch of \(shape.first ?? 0) rows has no \(count) parts")
        }
        let partShape = [rows / count] + shape.dropFirst()
        if elementType == .string {
            let length = self.count / count
            return try Tensor(strings: Array(strings[(number * length)..<((number + 1) * length)]), shape: partShape)
        }
        return try Tensor(unset: elementType, shape: partShape) { target throws(ModelError) in
            try withBytes { source in
                target.copyBytes(from: source[(number * target.count)..<((number + 1) * target.count)])
            }
        }
    }
}
