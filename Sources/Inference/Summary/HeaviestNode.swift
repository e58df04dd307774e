extension Model {
    /// The multiply-adds of the node that has most of them: what runs between two moments at which a run can be stopped.
    ///
    /// - Parameter inputs: Types to be computed with.
    /// - Returns: nil where they do not say enough.
    /// - Throws: `damaged` where shapes do not fit together.
    package func heaviestNode(inputs: [String: TensorType]) throws(ModelError) -> Int? {
        var facts: [String: Fact] = [:]
        for port in graph.inputs {
            if let type = inputs[port.name] ?? port.type { facts[port.name] = Fact(type) }
        }
        let inferred = try ShapeInference().infer(graph, inputs: facts).facts
        var heaviest = 0
        for node in graph.nodes {
            guard let count = MultiplyAdds.count(node, inferred) else { return nil }
            heaviest = max(heaviest, count)
        }
        return heaviest
    }
}
