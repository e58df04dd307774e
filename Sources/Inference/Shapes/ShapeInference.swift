/// Types and shapes of all values of a graph before any of them is computed. Shape arithmetic is carried out on the way:
/// values that follow from the model alone are computed, extents that are only named are carried along.
package struct ShapeInference {
    package struct Result: Sendable {
        /// By value name; values of whose type nothing is known are missing.
        package var facts: [String: Fact]
        /// Element types that operators are not implemented for.
        package var unsupported: [String]
        /// Bytes that values computed from here on may take.
        var roomBytes: Int
    }

    /// The largest value that is computed here.
    package var foldedElements = 1 << 16
    /// Bytes that all of them may take together, beyond four times what the model holds: its weights may be bytes of
    /// which float32 is made. What finds no room is left to runs, which let go of it again.
    package var foldedBytes = 1 << 30

    /// Operators that may work far longer than their inputs and outputs are large; shapes never depend on them.
    private static let costly: Set<String> = [
        "Conv", "ConvTranspose", "DFT", "DeformConv", "Einsum", "RoiAlign", "STFT",
    ]

    package init() {}

    /// What is known of `graph`, where `inputs` are better than the declared types, e.g. the extents of one run.
    ///
    /// - Throws: `damaged` where shapes or types do not fit together, with the node.
    package func infer(_ graph: Graph, inputs: [String: Fact] = [:]) throws(ModelError) -> Result {
        var result = Result(facts: [:], unsupported: [], roomBytes: foldedBytes)
        for port in graph.inputs {
            if let fact = inputs[port.name] ?? port.type.map({ Fact($0) }) { result.facts[port.name] = fact }
        }
        try infer(graph, into: &result)
        return result
    }

    private func infer(_ graph: Graph, into result: inout Result) throws(ModelError) {
        for (name, tensor) in graph.initialisers {
            result.facts[name] = Fact(tensor)
            result.roomBytes += 4 * tensor.byteCount
        }
        for node in graph.nodes.flatMap(\.chain) {
            do throws(ModelError) {
                let facts = try self.facts(node, known: &result)
                for (name, fact) in zip(node.outputs, facts) where !name.isEmpty { result.facts[name] = fact }
            } catch  where error.code == .unsupported {
                for phrase in error.unsupported where !result.unsupported.contains(phrase) {
                    result.unsupported.append(phrase)
                }
            } catch {
                throw error.at(node.place)
            }
        }
    }

    private func facts(_ node: Node, known: inout Result) throws(ModelError) -> [Fact?] {
        let definition = Operators.definition(of: node)
        var inputs: [Fact?] = []
        for name in node.inputs {
            if name.isEmpty {
                inputs.append(nil)
            } else {
                guard let fact = known.facts[name] else { return [] }
                inputs.append(fact)
            }
        }
        let (outer, roomBytes) = (known.facts, known.roomBytes)
        let call = try Self.call(node, definition, inputs) { graph, given throws(ModelError) in
            var inner = Result(facts: outer, unsupported: [], roomBytes: roomBytes)
            for (port, fact) in zip(graph.inputs, given) { inner.facts[port.name] = fact }
            try self.infer(graph, into: &inner)
            if !inner.unsupported.isEmpty { throw .unsupported(inner.unsupported) }
            return graph.outputs.map { inner.facts[$0.name] }
        }
        let types = try definition.infer(call)
        let values = try folded(node, definition, call, types, &known.roomBytes)
        if let values { return values.map { Fact($0) } }
        var facts = types.map { Fact($0) }
        if let extents = definition.extents?(call), !facts.isEmpty {
            facts[0].extents = extents
            let known = extents.compactMap(\.extent)
            // Extents that are all known are a value like any other.
            if known.count == extents.count, types[0].elementType == .int64, let shape = types[0].extents,
                try Extents.count(shape) == known.count
            {
                facts[0].value = try Tensor(indices: known, shape: shape)
            }
        }
        return facts
    }

    /// A node whose element types have been checked.
    ///
    /// - Throws: `unsupported` for types that the operator is not implemented for, `damaged` for those that differ.
    static func call(
        _ node: Node, _ definition: OperatorDefinition, _ facts: [Fact?],
        inferSubgraph: @escaping @Sendable (Graph, [Fact?]) throws(ModelError) -> [Fact?]
    ) throws(ModelError) -> ShapeCall {
        guard let version = definition.version(in: node.opset), let last = definition.types.last else {
            preconditionFailure("a version of \(node.operatorName) that no importer lets pass")
        }
        for (index, fact) in facts.enumerated() {
            guard let type = fact?.type.elementType else { continue }
            let rule = index < definition.types.count ? definition.types[index] : last
            if rule.isLikeFirst, let first = facts[0]?.type.elementType, first != type {
                throw .damaged("its inputs have the element types \(first.rawValue) and \(type.rawValue)")
            }
            guard rule.types.contains(type) else {
                throw .unsupported(["\(type.rawValue) for input \(index) of operator \(node.operatorName)"])
            }
        }
        return ShapeCall(node: node, version: version, facts: facts, inferSubgraph: inferSubgraph)
    }

    /// The outputs, where all inputs are known, the outputs are small, and there is room for them.
    private func folded(
        _ node: Node, _ definition: OperatorDefinition, _ call: ShapeCall, _ types: [TensorType],
        _ roomBytes: inout Int
    ) throws(ModelError) -> [Tensor]? {
        guard node.subgraphs.isEmpty, !Self.costly.contains(node.operatorName) else { return nil }
        // The model's own, as initialisers are.
        let own = node.tensor("value")
        roomBytes += 4 * (own?.byteCount ?? 0)
        var (count, byteCount) = (0, 0)
        for type in types {
            guard let extents = type.extents else { return nil }
            let elements = try Extents.count(extents)
            guard elements <= foldedElements else { return nil }
            count += elements
            byteCount += elements * type.elementType.heldByteCount
        }
        guard byteCount <= roomBytes else { return nil }
        var values: [Tensor?] = []
        for fact in call.facts {
            if fact != nil && fact?.value == nil { return nil }
            values.append(fact?.value)
            count += fact?.value?.count ?? 0
        }
        guard count <= 2 * foldedElements else { return nil }
        let results = try definition.values(
            OperatorCall(node: node, version: call.version, inputs: values, outputTypes: types) { _, _ in [] })
        // What only has another name or shape takes no memory.
        let given = (values + [own]).compactMap { $0 }
        for result in results where !given.contains(where: { result.isCopy(of: $0) }) {
            roomBytes -= result.count * result.elementType.heldByteCount
        }
        return results
    }
}

extension ElementType {
    /// Bytes that one element takes where it is held; those of a long string may be another's too.
    fileprivate var heldByteCount: Int { self == .string ? MemoryLayout<String>.stride : byteCount }
}
