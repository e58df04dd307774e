extension Model {
    /// How many rows of a batch go through the model at once: few, so that no node holds up a stop for long and what nodes pass on
    /// stays in the processor's caches, but enough for weights that are fetched to be of use.
    ///
    /// - Parameters:
    ///   - single: Types of inputs with a leading extent of 1.
    ///   - most: The size of the batch.
    /// - Returns: From 1 to `most`.
    /// - Throws: `damaged` where shapes do not fit together.
    package func rowsAtOnce(inputs single: [String: TensorType], most: Int) throws(ModelError) -> Int {
        guard most > 1, let work = try work(inputs: single), let heaviest = work.map(\.multiplyAdds).max(), heaviest > 0
        else { return 1 }
        let limit = min(max(Self.heaviestNode / heaviest, 1), most)
        let choices = (0..<Int.bitWidth - 1).map { 1 << $0 }.prefix { $0 < limit } + [limit]
        let costs = choices.map { rows in work.reduce(0) { $0 + $1.cost(rows: rows) } }
        let least = costs.min() ?? 0
        return zip(choices, costs).first { $1 <= least * Self.tolerance }?.0 ?? limit
    }

    /// A stop waits for the node in work: its multiply-adds, at tens of thousand millions a second, take some ten
    /// milliseconds.
    private static var heaviestNode: Int { 400_000_000 }
    /// What more rows have to save. MobileNetV2 takes a fifth less time for each row by one or two than by eight (batch of 8,
    /// one thread of an AMD EPYC with 32 MiB of third-level cache), ViT-S/16 and MiniLM a twentieth.
    private static var tolerance: Double { 1.1 }

    /// The work of each node for a batch of one; nil where types do not say enough.
    private func work(inputs: [String: TensorType]) throws(ModelError) -> [NodeWork]? {
        var given: [String: Fact] = [:]
        for port in graph.inputs {
            if let type = inputs[port.name] ?? port.type { given[port.name] = Fact(type) }
        }
        let facts = try ShapeInference().infer(graph, inputs: given).facts
        var work: [NodeWork] = []
        for node in graph.nodes {
            guard let count = MultiplyAdds.count(node, facts) else { return nil }
            let weights = count == 0 ? [] : node.inputs.compactMap { graph.initialisers[$0]?.count }
            work.append(NodeWork(multiplyAdds: count, weights: weights.reduce(0, +)))
        }
        return work
    }
}

/// What a node has to do for one row.
private struct NodeWork {
    var multiplyAdds: Int
    /// Numbers that are the same for all rows.
    var weights: Int

    /// A core multiplies and adds so often, in the vectors of AVX-512, while a number comes from memory.
    private static let multiplyAddsForFetch = 32.0
    /// What it does in the time that it takes to begin with a node.
    private static let multiplyAddsForStart = 100_000.0

    /// Multiply-adds for each row that would take as long, where so many go through at once.
    func cost(rows: Int) -> Double {
        max(Double(multiplyAdds), Double(weights) * Self.multiplyAddsForFetch / Double(rows))
            + Self.multiplyAddsForStart / Double(rows)
    }
}
