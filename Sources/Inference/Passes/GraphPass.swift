/// A change to a graph that leaves its results what they are.
///
/// Names of values stay, so that facts on them hold for the changed graph as well.
package protocol GraphPass: Sendable {
    /// - Parameters:
    ///   - graph: The graph of a model; subgraphs of its nodes are left alone.
    ///   - facts: What shape inference knows of its values.
    /// - Returns: The changed graph.
    /// - Throws: `tooLarge` for constants that cannot be made.
    func apply(_ graph: Graph, _ facts: [String: Fact]) throws(ModelError) -> Graph
}

/// Who takes the values of a graph.
struct ValueUses {
    /// Nodes that take a value, by its name, each once; those whose subgraphs take it included.
    private let nodes: [String: [Int]]
    /// Values that no pass may rename or leave out: outputs of the graph, and what subgraphs take.
    let fixed: Set<String>

    init(_ graph: Graph) {
        var nodes: [String: [Int]] = [:]
        var fixed = Set(graph.outputs.map(\.name))
        for (place, node) in graph.nodes.enumerated() {
            for name in node.requiredNames { nodes[name, default: []].append(place) }
            for part in node.chain { for graph in part.subgraphs { fixed.formUnion(graph.captures) } }
        }
        self.nodes = nodes
        self.fixed = fixed
    }

    /// The place of the only node that takes the value, which nothing else does.
    func onlyTaker(of name: String) -> Int? {
        guard let takers = nodes[name], takers.count == 1, !fixed.contains(name) else { return nil }
        return takers[0]
    }

    /// The places of all nodes that take the value; nil where something else does too.
    func takers(of name: String) -> Set<Int>? {
        guard let takers = nodes[name], !fixed.contains(name) else { return nil }
        return Set(takers)
    }

    func isUsed(_ name: String) -> Bool { nodes[name] != nil || fixed.contains(name) }
}

extension Node {
    /// One of the standard's own operators.
    func isStandard(_ name: String) -> Bool { domain.isEmpty && operatorName == name }

    /// Whether no output but the first is made for anything.
    func hasOneUsedOutput(_ uses: ValueUses) -> Bool {
        outputs.dropFirst().allSatisfy { $0.isEmpty || !uses.isUsed($0) }
    }
}
