/// Zeros that are put around what a convolution takes become padding of that convolution.
package struct FoldPadding: GraphPass {
    package init() {}

    package func apply(_ graph: Graph, _ facts: [String: Fact]) throws(ModelError) -> Graph {
        let patterns = GraphPatterns(graph)
        var nodes: [Int: Node] = [:]
        var removed: Set<Int> = []
        for (place, node) in graph.nodes.enumerated() where node.isStandard("Pad") && node.followers.isEmpty {
            guard let taker = patterns.taker(of: node.result, "Conv"), graph.nodes[taker].inputs[0] == node.result,
                let added = zeros(node, graph, facts)
            else { continue }
            var convolution = graph.nodes[taker]
            let automatic = convolution.string("auto_pad") ?? "NOTSET"
            guard automatic == "NOTSET" || automatic == "VALID" else { continue }
            let own = automatic == "VALID" ? nil : convolution.ints("pads")
            let pads = own ?? added.map { _ in 0 }
            guard pads.count == added.count else { continue }
            convolution.attributes["auto_pad"] = nil
            convolution.attributes["pads"] = .ints(zip(pads, added).map { $0 + $1 })
            convolution.inputs[0] = node.inputs[0]
            nodes[taker] = convolution
            removed.insert(place)
        }
        return patterns.replacing(nodes, removed: removed)
    }

    /// The numbers before and behind each axis from the third on; nil where others are padded, or not with zeros.
    private func zeros(_ node: Node, _ graph: Graph, _ facts: [String: Fact]) -> [Int]? {
        func isGiven(_ place: Int) -> Bool { node.inputs.count > place && !node.inputs[place].isEmpty }
        func known(_ place: Int) -> Tensor? {
            isGiven(place) ? graph.initialisers[node.inputs[place]] ?? facts[node.inputs[place]]?.value : nil
        }
        guard node.string("mode") ?? "constant" == "constant", node.float("value") ?? 0 == 0 else { return nil }
        if isGiven(2) { guard known(2)?.doubles() == [0] else { return nil } }
        if isGiven(3) { guard known(3) != nil else { return nil } }
        guard let rank = facts[node.inputs[0]]?.type.shape?.count, rank > 2,
            let list = node.ints("pads") ?? node.ints("paddings") ?? known(1)?.indices(),
            let pads = try? Operators.pads(node, list, axes: known(3)?.indices(), rank: rank)
        else { return nil }
        let sides = [pads.before, pads.after]
        guard sides.allSatisfy({ $0[0] == 0 && $0[1] == 0 && $0.allSatisfy { $0 >= 0 } }) else { return nil }
        return sides.flatMap { $0[2...] }
    }
}
