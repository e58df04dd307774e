/// GELU that exporters write as several nodes becomes one: `x · ½ · (1 + erf(x / √2))`, with the factors in any order, and
/// its approximation `½ · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))` (Hendrycks and Gimpel, 2016).
package struct RecogniseGelu: GraphPass {
    package init() {}

    package func apply(_ graph: Graph, _ facts: [String: Fact]) throws(ModelError) -> Graph {
        let patterns = GraphPatterns(graph)
        var nodes: [Int: Node] = [:]
        var removed: Set<Int> = []
        for (place, node) in graph.nodes.enumerated() where node.followers.isEmpty && node.inputs.count == 1 {
            let match: Match?
            if node.isStandard("Erf") {
                match = erf(place, patterns)
            } else if node.isStandard("Tanh") {
                match = tanh(place, patterns)
            } else {
                match = nil
            }
            guard let match, let type = facts[match.source]?.type, facts[graph.nodes[match.last].result]?.type == type
            else { continue }
            let last = graph.nodes[match.last]
            nodes[match.last] = Node(
                "Gelu", name: last.name, opset: 20, inputs: [match.source], outputs: [last.result],
                attributes: node.isStandard("Tanh") ? ["approximate": .string("tanh")] : [:])
            removed.formUnion(match.others)
        }
        return patterns.replacing(nodes, removed: removed)
    }

    private struct Match {
        var source: String
        var last: Int
        var others: Set<Int>
    }

    private func erf(_ place: Int, _ patterns: GraphPatterns) -> Match? {
        let input = patterns.graph.nodes[place].inputs[0]
        guard patterns.uses.onlyTaker(of: input) == place,
            let inner = patterns.unscaled(input, by: 0.5.squareRoot())
        else { return nil }
        return outer(place, of: inner.source, others: [inner.place], patterns)
    }

    private func tanh(_ place: Int, _ patterns: GraphPatterns) -> Match? {
        let input = patterns.graph.nodes[place].inputs[0]
        guard patterns.uses.onlyTaker(of: input) == place,
            let inner = patterns.unscaled(input, by: (2 / Double.pi).squareRoot()),
            patterns.uses.onlyTaker(of: inner.source) != nil, let sum = patterns.maker(of: inner.source, "Add")
        else { return nil }
        for source in patterns.graph.nodes[sum].inputs {
            guard let term = patterns.other(sum, than: source), patterns.uses.onlyTaker(of: term) == sum,
                let cubed = patterns.unscaled(term, by: 0.044715), patterns.uses.onlyTaker(of: cubed.source) != nil,
                let power = patterns.maker(of: cubed.source, "Pow"),
                patterns.graph.nodes[power].inputs.first == source, patterns.number(power, besides: source) == 3
            else { continue }
            return outer(place, of: source, others: [inner.place, sum, cubed.place, power], patterns)
        }
        return nil
    }

    /// The rest of `x · ½ · (1 + function)`.
    private func outer(_ function: Int, of source: String, others: Set<Int>, _ patterns: GraphPatterns) -> Match? {
        let nodes = patterns.graph.nodes
        let value = nodes[function].result
        guard let sum = patterns.taker(of: value, "Add"), patterns.number(sum, besides: value) == 1,
            let product = patterns.taker(of: nodes[sum].result, "Mul"),
            let factor = patterns.other(product, than: nodes[sum].result)
        else { return nil }
        var match = Match(source: source, last: product, others: others.union([function, sum]))
        // The half has been multiplied before.
        if let half = patterns.unscaled(factor, by: 0.5), half.source == source,
            patterns.uses.onlyTaker(of: factor) == product
        {
            match.others.insert(half.place)
            return match
        }
        let result = nodes[product].result
        if factor == source, let last = patterns.taker(of: result, "Mul", "Div"),
            patterns.unscaled(nodes[last].result, by: 0.5)?.source == result
        {
            match.last = last
        } else if patterns.number(factor) == 0.5, let last = patterns.taker(of: result, "Mul"),
            patterns.other(last, than: result) == source
        {
            match.last = last
        } else {
            return nil
        }
        match.others.insert(product)
        return match
    }
}
