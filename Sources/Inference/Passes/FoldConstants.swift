/// Nodes whose results are known already become initialisers.
package struct FoldConstants: GraphPass {
    package init() {}

    package func apply(_ graph: Graph, _ facts: [String: Fact]) throws(ModelError) -> Graph {
        var result = graph
        result.nodes = []
        for node in graph.nodes {
            let outputs = node.outputs.filter { !$0.isEmpty }
            let values = outputs.compactMap { facts[$0]?.value }
            guard values.count == outputs.count, node.followers.isEmpty else {
                result.nodes.append(node)
                continue
            }
            for (name, value) in zip(outputs, values) { result.initialisers[name] = value }
        }
        return result
    }
}
