/// Activations that exporters write as several nodes become one: HardSwish as `x · HardSigmoid(x)` with 1/6 and 1/2 or as
/// `x · Clip(x + 3, 0, 6) / 6`, and Swish (also called SiLU) as `x · Sigmoid(x)`.
package struct RecogniseActivations: GraphPass {
    package init() {}

    package func apply(_ graph: Graph, _ facts: [String: Fact]) throws(ModelError) -> Graph {
        let uses = ValueUses(graph)
        let makers = Dictionary(
            graph.nodes.enumerated().flatMap { place, node in node.outputs.map { ($0, place) } },
            uniquingKeysWith: { first, _ in first })
        var result = graph
        var removed: Set<Int> = []
        for (place, node) in graph.nodes.enumerated() where node.isStandard("Mul") && node.followers.isEmpty {
            for (x, gate) in [(0, 1), (1, 0)] where node.inputs.count == 2 && node.opset >= 7 {
                let (input, factor) = (node.inputs[x], node.inputs[gate])
                guard let inner = makers[factor], uses.onlyTaker(of: factor) == place else { continue }
                if let name = gateName(graph.nodes[inner], input) {
                    let output = node.result
                    result.nodes[place] = activation(name, node, input: input, output: output)
                    removed.insert(inner)
                    break
                }
                // x · Clip(x + 3, 0, 6) and then / 6 (or · 1/6).
                guard let sum = shiftedClip(graph.nodes[inner], input, graph, makers, uses),
                    let last = uses.onlyTaker(of: node.result), isSixth(graph.nodes[last], of: node.result, graph),
                    // Integers have all these operators, but no HardSwish.
                    let type = facts[input]?.type, type.elementType.isFloat,
                    facts[graph.nodes[last].result]?.type == type
                else { continue }
                result.nodes[last] = activation(
                    "HardSwish", graph.nodes[last], input: input, output: graph.nodes[last].result)
                removed.formUnion([place, inner, sum])
                break
            }
        }
        result.nodes = result.nodes.indices.filter { !removed.contains($0) }.map { result.nodes[$0] }
        return result
    }

    private func activation(_ name: String, _ node: Node, input: String, output: String) -> Node {
        Node(
            name, name: node.name, opset: name == "Swish" ? 24 : 14, inputs: [input], outputs: [output])
    }

    /// What `input` times the result of the node is called.
    private func gateName(_ node: Node, _ input: String) -> String? {
        guard node.inputs == [input], node.followers.isEmpty else { return nil }
        if node.isStandard("Sigmoid") { return "Swish" }
        guard node.isStandard("HardSigmoid"), let alpha = node.float("alpha"), abs(alpha - 1 / 6) < 1e-6,
            node.float("beta") ?? 0.5 == 0.5
        else { return nil }
        return "HardSwish"
    }

    /// The place of the sum, where the node is `Clip(input + 3, 0, 6)`.
    private func shiftedClip(
        _ node: Node, _ input: String, _ graph: Graph, _ makers: [String: Int], _ uses: ValueUses
    ) -> Int? {
        guard node.isStandard("Clip"), node.followers.isEmpty,
            let bounds = ClipBounds(node, graph.initialisers), bounds.low == 0,
            bounds.high == 6, let place = makers[node.inputs[0]], uses.onlyTaker(of: node.inputs[0]) != nil
        else { return nil }
        let sum = graph.nodes[place]
        guard sum.isStandard("Add"), sum.followers.isEmpty, sum.opset >= 7,
            number(sum, besides: input, graph) == 3
        else { return nil }
        return place
    }

    private func isSixth(_ node: Node, of input: String, _ graph: Graph) -> Bool {
        guard node.followers.isEmpty, node.opset >= 7, let number = number(node, besides: input, graph) else {
            return false
        }
        if node.isStandard("Div") { return node.inputs[0] == input && number == 6 }
        return node.isStandard("Mul") && abs(number - 1 / 6) < 1e-6
    }

    /// The constant that is the other input of a node with two, where it has one element and at most as many axes as one.
    private func number(_ node: Node, besides input: String, _ graph: Graph) -> Double? {
        guard node.inputs.count == 2, let index = node.inputs.firstIndex(of: input),
            let tensor = graph.initialisers[node.inputs[1 - index]], tensor.count == 1, tensor.shape.count <= 1
        else { return nil }
        return tensor.doubles().first
    }
}

/// The constant bounds of a Clip node.
struct ClipBounds {
    let low: Double
    let high: Double

    /// Nil where a bound is not constant, or the lower one is above the upper one.
    init?(_ node: Node, _ initialisers: [String: Tensor]) {
        var bounds = [node.float("min") ?? -.infinity, node.float("max") ?? .infinity]
        if node.opset >= 11 {
            bounds = [-.infinity, .infinity]
            for (index, name) in node.inputs.dropFirst().enumerated() where !name.isEmpty {
                guard let tensor = initialisers[name], tensor.count == 1,
                    let bound = tensor.doubles().first
                else { return nil }
                bounds[index] = bound
            }
        }
        guard bounds[0] <= bounds[1] else { return nil }
        (low, high) = (bounds[0], bounds[1])
    }
}
