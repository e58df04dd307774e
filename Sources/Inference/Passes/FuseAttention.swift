/// `softmax(Q K' · scale + mask) V` becomes one chain (Vaswani et al., Attention Is All You Need): the first product with
/// everything up to the second as its followers, where nothing else takes what lies between.
package struct FuseAttention: GraphPass {
    package init() {}

    package func apply(_ graph: Graph, _ facts: [String: Fact]) throws(ModelError) -> Graph {
        let uses = ValueUses(graph)
        // By the place of their last node.
        var chains: [Int: [Int]] = [:]
        for (place, node) in graph.nodes.enumerated() where node.isStandard("MatMul") && node.followers.isEmpty {
            var chain = [place]
            while let last = chain.last, let next = uses.onlyTaker(of: graph.nodes[last].result),
                graph.nodes[next].followers.isEmpty
            {
                let (taker, value) = (graph.nodes[next], graph.nodes[last].result)
                guard taker.domain.isEmpty, taker.inputs.count(where: { $0 == value }) == 1 else { break }
                chain.append(next)
                if taker.operatorName == "MatMul" {
                    if taker.inputs[0] == value, graph.nodes[last].operatorName == "Softmax" { chains[next] = chain }
                    break
                }
                guard ["Mul", "Div", "Add", "Softmax"].contains(taker.operatorName),
                    graph.nodes[last].operatorName != "Softmax"
                else { break }
            }
        }
        var result = graph
        result.nodes = []
        let inner = Set(chains.values.flatMap { $0.dropLast() })
        for place in graph.nodes.indices where !inner.contains(place) {
            var node = graph.nodes[place]
            // A second product that is the first one of another chain stays what that chain has it for.
            if let chain = chains[place] {
                node = graph.nodes[chain[0]]
                node.followers = chain.dropFirst().map { graph.nodes[$0] }
            }
            result.nodes.append(node)
        }
        return result
    }
}
