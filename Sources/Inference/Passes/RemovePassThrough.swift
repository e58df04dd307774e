/// Identity and Dropout (as at inference) are taken out, and who took their result takes their input.
///
/// Those that give an output of the graph, or a value that a subgraph takes by its name, stay.
package struct RemovePassThrough: GraphPass {
    package init() {}

    package func apply(_ graph: Graph, _ facts: [String: Fact]) throws(ModelError) -> Graph {
        let uses = ValueUses(graph)
        var result = graph
        result.nodes = []
        var sources: [String: String] = [:]
        for var node in graph.nodes {
            node.inputs = node.inputs.map { sources[$0] ?? $0 }
            if isPassThrough(node, uses, facts), let input = node.inputs.first, let output = node.outputs.first {
                sources[output] = input
            } else {
                result.nodes.append(node)
            }
        }
        return result
    }

    private func isPassThrough(_ node: Node, _ uses: ValueUses, _ facts: [String: Fact]) -> Bool {
        guard let output = node.outputs.first, !uses.fixed.contains(output), node.followers.isEmpty else {
            return false
        }
        if node.isStandard("Identity") { return true }
        guard node.isStandard("Dropout"), node.hasOneUsedOutput(uses) else { return false }
        // In training mode it is refused when it runs.
        guard node.inputs.count > 2, !node.inputs[2].isEmpty else { return true }
        return facts[node.inputs[2]]?.value?.flags().first == false
    }
}
