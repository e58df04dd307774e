/// Layer normalisation that exporters write as single operators becomes one node: with d = x - mean(x) over the last axes
/// `d / sqrt(mean(d²) + ε) · scale + shift` (Ba, Kiros and Hinton, Layer Normalization, 2016).
package struct RecogniseLayerNormalization: GraphPass {
    package init() {}

    package func apply(_ graph: Graph, _ facts: [String: Fact]) throws(ModelError) -> Graph {
        let patterns = GraphPatterns(graph)
        var nodes: [Int: Node] = [:]
        var removed: Set<Int> = []
        for (place, node) in graph.nodes.enumerated() where node.isStandard("Sqrt") && node.followers.isEmpty {
            guard let (last, replacement, others) = match(place, patterns, facts) else { continue }
            nodes[last] = replacement
            removed.formUnion(others)
        }
        return patterns.replacing(nodes, removed: removed)
    }

    private func match(
        _ root: Int, _ patterns: GraphPatterns, _ facts: [String: Fact]
    ) -> (last: Int, node: Node, others: Set<Int>)? {
        let nodes = patterns.graph.nodes
        // sqrt(mean(d²) + ε), each for nothing else.
        let sum = nodes[root].inputs[0]
        guard patterns.uses.onlyTaker(of: sum) == root, let addition = patterns.maker(of: sum, "Add"),
            let variance = nodes[addition].inputs.first(where: { patterns.number(addition, besides: $0) != nil }),
            let epsilon = patterns.number(addition, besides: variance), epsilon > 0, epsilon < 1,
            patterns.uses.onlyTaker(of: variance) == addition,
            let mean = patterns.maker(of: variance, "ReduceMean"),
            let square = nodes[mean].inputs.first, patterns.uses.onlyTaker(of: square) == mean
        else { return nil }
        let squaring: Int
        if let power = patterns.maker(of: square, "Pow"), patterns.number(nodes[power].inputs[1]) == 2 {
            squaring = power
        } else if let product = patterns.maker(of: square, "Mul"), nodes[product].inputs[0] == nodes[product].inputs[1]
        {
            squaring = product
        } else {
            return nil
        }
        // Division by it, of the same difference or of an equal one.
        guard let division = patterns.taker(of: nodes[root].result, "Div"),
            nodes[division].inputs[1] == nodes[root].result,
            let (source, centre, differences) = difference(
                nodes[squaring].inputs[0], nodes[division].inputs[0], takers: [squaring, division], patterns),
            let type = facts[source]?.type, let shape = type.extents, type.elementType == .float32,
            let axis = reducedAxis(mean, shape, patterns), axis == reducedAxis(centre, shape, patterns)
        else { return nil }
        // Scale and shift of the reduced axes.
        let inner = Array(shape[axis...])
        let quotient = nodes[division].result
        guard let product = patterns.taker(of: quotient, "Mul"), let scale = patterns.other(product, than: quotient),
            let shifting = patterns.taker(of: nodes[product].result, "Add"),
            let shift = patterns.other(shifting, than: nodes[product].result),
            [scale, shift].allSatisfy({ patterns.graph.initialisers[$0]?.shape == inner }),
            facts[nodes[shifting].result]?.type == type
        else { return nil }
        let node = Node(
            "LayerNormalization", name: nodes[shifting].name, opset: 17, inputs: [source, scale, shift],
            outputs: [nodes[shifting].result],
            attributes: ["axis": .int(axis - shape.count), "epsilon": .float(Float(epsilon))])
        return (
            shifting, node,
            differences.union([root, addition, mean, squaring, division, product, centre])
        )
    }

    /// The value from which the same mean is subtracted on both sides, where nothing else takes that.
    private func difference(
        _ one: String, _ other: String, takers: Set<Int>, _ patterns: GraphPatterns
    ) -> (source: String, mean: Int, subtractions: Set<Int>)? {
        let nodes = patterns.graph.nodes
        let places = [one, other].compactMap { patterns.maker(of: $0, "Sub") }
        guard places.count == 2, nodes[places[0]].inputs == nodes[places[1]].inputs,
            [one, other].allSatisfy({ patterns.uses.takers(of: $0)?.isSubset(of: takers) ?? false })
        else { return nil }
        let (source, mean) = (nodes[places[0]].inputs[0], nodes[places[0]].inputs[1])
        guard let place = patterns.maker(of: mean, "ReduceMean"), nodes[place].inputs.first == source,
            patterns.uses.takers(of: mean)?.isSubset(of: Set(places)) ?? false
        else { return nil }
        return (source, place, Set(places))
    }

    /// The first of the axes that a mean is taken over, where they are the last ones and stay with one element.
    private func reducedAxis(_ place: Int, _ shape: [Int], _ patterns: GraphPatterns) -> Int? {
        let node = patterns.graph.nodes[place]
        let list =
            node.ints("axes")
            ?? (node.inputs.count > 1 ? patterns.graph.initialisers[node.inputs[1]]?.indices() : nil)
        guard node.int("keepdims") ?? 1 == 1, let list, !list.isEmpty else { return nil }
        let axes = Set(list.map { $0 < 0 ? $0 + shape.count : $0 })
        let first = shape.count - axes.count
        return axes == Set(first..<shape.count) ? first : nil
    }
}
