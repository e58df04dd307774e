/// A batch normalisation of a convolution's result goes into the convolution's weights and bias:
/// `w' = w · s / sqrt(v + ε)` for each filter and `b' = (b - m) · s / sqrt(v + ε) + shift` (Ioffe and Szegedy, at
/// inference).
package struct FoldBatchNormalization: GraphPass {
    package init() {}

    package func apply(_ graph: Graph, _ facts: [String: Fact]) throws(ModelError) -> Graph {
        let uses = ValueUses(graph)
        var result = graph
        var removed: Set<Int> = []
        for (place, node) in graph.nodes.enumerated() where node.isStandard("Conv") && node.followers.isEmpty {
            guard let taker = uses.onlyTaker(of: node.result),
                let factors = ChannelFactors(graph.nodes[taker], of: node.result, uses, graph.initialisers),
                let weights = constant(node, 1, graph), weights.elementType == .float32,
                weights.shape.first == factors.scales.count
            else { continue }
            let hasBias = node.inputs.count > 2 && !node.inputs[2].isEmpty
            let given = constant(node, 2, graph)
            guard hasBias == (given != nil) else { continue }
            let bias = given?.doubles() ?? factors.scales.map { _ in 0 }
            guard bias.count == factors.scales.count else { continue }

            let size = weights.count / max(factors.scales.count, 1)
            var values = weights.elements(as: Float.self)
            for index in values.indices { values[index] = Float(Double(values[index]) * factors.scales[index / size]) }
            let shifts = bias.indices.map { bias[$0] * factors.scales[$0] + factors.shifts[$0] }
            let output = graph.nodes[taker].result
            let (weightsName, biasName) = ("\(output) folded weights", "\(output) folded bias")
            result.initialisers[weightsName] = try Tensor(.float32, shape: weights.shape, elements: values)
            result.initialisers[biasName] = try Tensor(.float32, shape: [shifts.count], doubles: shifts)
            result.nodes[place].inputs = [node.inputs[0], weightsName, biasName]
            result.nodes[place].outputs = [output]
            removed.insert(taker)
        }
        result.nodes = result.nodes.indices.filter { !removed.contains($0) }.map { result.nodes[$0] }
        return result
    }

    private func constant(_ node: Node, _ input: Int, _ graph: Graph) -> Tensor? {
        input < node.inputs.count ? graph.initialisers[node.inputs[input]] : nil
    }
}

/// A batch normalisation with constant parameters as `scale · x + shift`, one of each for each channel.
struct ChannelFactors {
    let scales: [Double]
    let shifts: [Double]

    /// Nil for other nodes, for training, and where a parameter is not constant.
    init?(_ node: Node, of input: String, _ uses: ValueUses, _ initialisers: [String: Tensor]) {
        guard node.isStandard("BatchNormalization"), node.followers.isEmpty, node.inputs.count == 5,
            node.inputs[0] == input, node.int("training_mode") ?? 0 == 0, node.hasOneUsedOutput(uses)
        else { return nil }
        let parameters = node.inputs.dropFirst().compactMap { initialisers[$0] }
        guard parameters.count == 4, Set(parameters.map(\.count)).count == 1 else { return nil }
        let lists = parameters.map { $0.doubles() }
        let epsilon = node.float("epsilon") ?? Double(Float(1e-5))
        let scales = lists[0].indices.map { lists[0][$0] / (lists[3][$0] + epsilon).squareRoot() }
        self.scales = scales
        shifts = scales.indices.map { lists[1][$0] - lists[2][$0] * scales[$0] }
    }
}
