/// Runs graphs node by node with the plain evaluation of each operator: slow and exact, the oracle of faster lanes.
package struct ReferenceRunner: Sendable {
    /// The largest tensor that is made, in bytes of memory.
    package var largestTensorBytes = 1 << 33
    /// The most iterations of one loop of the model.
    package var largestIterations = Int.max

    package init() {}

    /// - Parameters:
    ///   - model: A model whose operators are all implemented, as the importer gives them.
    ///   - inputs: One tensor for each input of the graph, by name; initialisers may be replaced as well.
    /// - Returns: The outputs of the graph in their order.
    /// - Throws: `wrongInput` where inputs are missing or do not fit, `wrongValue` where values have no result,
    ///   `tooLarge`, and `unsupported` for element types that turn up on the way.
    package func run(_ model: Model, inputs: [String: Tensor]) throws(ModelError) -> [Tensor] {
        try check(inputs, of: model.graph)
        return try run(model.graph, scope: inputs) { _ in false }
    }

    func check(_ inputs: [String: Tensor], of graph: Graph) throws(ModelError) {
        var symbols: [String: Int] = [:]
        for port in graph.inputs {
            guard let tensor = inputs[port.name] else { throw .wrongInput("the input \"\(port.name)\" is missing") }
            guard let type = port.type else { continue }
            guard type.permits(tensor.elementType, tensor.shape) else {
                throw .wrongInput(
                    "the input \"\(port.name)\" is \(tensor.elementType.rawValue)\(tensor.shape), and the model takes \(type)"
                )
            }
            for (dimension, extent) in zip(type.shape ?? [], tensor.shape) {
                guard case .symbol(let name) = dimension else { continue }
                guard symbols.updateValue(extent, forKey: name) ?? extent == extent else {
                    throw .wrongInput("the input \"\(port.name)\" has another \(name) than the one before")
                }
            }
        }
        let strays = inputs.keys.filter { name in
            graph.initialisers[name] == nil && !graph.inputs.contains { $0.name == name }
        }
        if let stray = strays.min() {
            throw .wrongInput("the model has no input \"\(stray)\"")
        }
    }

    private func run(
        _ graph: Graph, scope: [String: Tensor], shouldStopAt: (RunPoint) -> Bool
    ) throws(ModelError) -> [Tensor] {
        var values = scope
        for (name, tensor) in graph.initialisers where values[name] == nil { values[name] = tensor }
        for node in graph.nodes.flatMap(\.chain) {
            do throws(ModelError) {
                try evaluate(node, &values, shouldStopAt: shouldStopAt)
            } catch {
                throw error.at(node.place)
            }
        }
        return try graph.outputs.map { output throws(ModelError) in
            guard let value = values[output.name] else { throw .damaged("the output \"\(output.name)\" was not made") }
            return value
        }
    }

    /// Adds the outputs of a node without followers to the values. `shouldStopAt` is asked before each run of a subgraph.
    func evaluate(
        _ node: Node, _ values: inout [String: Tensor], shouldStopAt: (RunPoint) -> Bool = { _ in false }
    ) throws(ModelError) {
        let outputs = try results(of: node, values, shouldStopAt)
        for (name, tensor) in zip(node.outputs, outputs) where !name.isEmpty { values[name] = tensor }
    }

    private func results(
        of node: Node, _ values: [String: Tensor], _ shouldStopAt: (RunPoint) -> Bool
    ) throws(ModelError) -> [Tensor] {
        let definition = Operators.definition(of: node)
        let inputs = try node.inputs.map { name throws(ModelError) -> Tensor? in
            if name.isEmpty { return nil }
            guard let value = values[name] else { throw .damaged("its input \"\(name)\" was not made") }
            return value
        }
        let call = try ShapeInference.call(node, definition, inputs.map { $0.map { Fact($0) } }) { graph, _ in
            // Subgraphs are checked node by node when they run.
            graph.outputs.map { _ in nil }
        }
        let types = try definition.infer(call)
        for type in types {
            guard let extents = type.extents else { continue }
            let (bytes, overflow) = try Extents.count(extents).multipliedReportingOverflow(by: 8)
            guard !overflow, bytes <= largestTensorBytes else {
                throw .tooLarge("its result \(type) is larger than was allowed")
            }
        }
        let ends = Operators.ends(node, inputs)
        return try withoutActuallyEscaping(shouldStopAt) { shouldStopAt throws(ModelError) in
            try definition.values(
                OperatorCall(
                    node: node, version: call.version, inputs: inputs, outputTypes: types,
                    largestIterations: largestIterations
                ) {
                    graph, given throws(ModelError) in
                    if shouldStopAt(.subgraph(ends: ends)) {
                        throw ModelError(code: .stopped, sentence: "the run was told to stop before its subgraph")
                    }
                    var scope = values
                    for (port, tensor) in zip(graph.inputs, given) { scope[port.name] = tensor }
                    return try self.run(graph, scope: scope) { point in
                        // What lies in a loop without a known end shows no end of it.
                        shouldStopAt(ends ? point : .subgraph(ends: false))
                    }
                })
        }
    }
}
