/// Activations and arithmetic behind a convolution, matrix product, normalisation or sum become followers of that node,
/// where nothing else takes what lies between: so a residual and what follows it are computed before the result is
/// written once. Where wanted, the quantisation of the result is the last of them.
package struct FuseFollowers: GraphPass {
    private static let products: Set<String> = ["Conv", "ConvTranspose", "Gemm", "MatMul"]
    private static let sums: Set<String> = ["BatchNormalization", "Add", "Sum", "Mul", "Sub"]
    /// Of each element by itself; these have followers where the last is the quantisation of the result.
    private static let functions: Set<String> = ["Div", "Erf", "Gelu", "Mul", "Sigmoid", "Swish", "Tanh"]
    private static let arithmetic: Set<String> = ["Add", "Sum", "Mul", "Sub"]

    private let quantises: Bool

    package init(quantises: Bool = false) { self.quantises = quantises }

    package func apply(_ graph: Graph, _ facts: [String: Fact]) throws(ModelError) -> Graph {
        let uses = ValueUses(graph)
        // By the place of their last node.
        var chains: [Int: [Int]] = [:]
        var isTaken = graph.nodes.map { !$0.followers.isEmpty }
        // Products first, so that a sum of two follows one of them rather than standing alone.
        for heads in [Self.products, Self.sums, quantises ? Self.functions : []] {
            for (place, node) in graph.nodes.enumerated()
            where !isTaken[place] && node.domain.isEmpty && heads.contains(node.operatorName) {
                var chain = [place]
                while let last = chain.last, let next = follower(of: graph.nodes[last], graph, uses, facts),
                    !isTaken[next], chain.count < 5
                {
                    chain.append(next)
                }
                guard chain.count > 1, let last = chain.last,
                    heads != Self.functions || graph.nodes[last].isStandard("QuantizeLinear")
                else { continue }
                for place in chain { isTaken[place] = true }
                chains[last] = chain
            }
        }
        var result = graph
        result.nodes = []
        let inner = Set(chains.values.flatMap { $0.dropLast() })
        for place in graph.nodes.indices where !inner.contains(place) {
            var node = graph.nodes[place]
            if let chain = chains[place] {
                node = graph.nodes[chain[0]]
                node.followers = chain.dropFirst().map { graph.nodes[$0] }
            }
            result.nodes.append(node)
        }
        return result
    }

    private func follower(
        of node: Node, _ graph: Graph, _ uses: ValueUses, _ facts: [String: Fact]
    ) -> Int? {
        let value = node.outputs.first ?? ""
        guard node.hasOneUsedOutput(uses), let place = uses.onlyTaker(of: value) else { return nil }
        let next = graph.nodes[place]
        guard next.domain.isEmpty, let output = next.outputs.first, next.inputs.count(where: { $0 == value }) == 1,
            let type = facts[value]?.type, type.elementType == .float32, type.extents != nil,
            quantises && next.isStandard("QuantizeLinear") && next.inputs[0] == value || facts[output]?.type == type
        else { return nil }
        if next.isStandard("QuantizeLinear") || quantises && next.isStandard("Erf") { return place }
        if let functions = ElementFunctions(next, graph.initialisers), next.inputs[functions.input] == value {
            return place
        }
        guard Self.arithmetic.contains(next.operatorName), next.opset >= 7, next.inputs.count == 2,
            next.operatorName != "Sub" || next.inputs[0] == value
        else { return nil }
        return place
    }
}
