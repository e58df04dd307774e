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

    /// How many rows of a batch go through the model at once, so that no node holds up a stop for long.
    ///
    /// - Parameters:
    ///   - single: Types of inputs with a leading extent of 1.
    ///   - most: The size of the batch.
    /// - Returns: From 1 to `most`.
    /// - Throws: `damaged` where shapes do not fit together.
    package func rowsAtOnce(inputs single: [String: TensorType], most: Int) throws(ModelError) -> Int {
        guard most > 1, let heaviest = try heaviestNode(inputs: single), heaviest > 0 else { return 1 }
        return min(max(Self.heaviestNode / heaviest, 1), most)
    }

    /// A stop waits for the node in work: its multiply-adds, at tens of thousand millions a second, take some ten
    /// milliseconds.
    private static var heaviestNode: Int { 400_000_000 }
}
