/// 8-bit weights w with `scale · w` for the float32 values that a node makes of them.
struct QuantisedConstant: Sendable {
    /// Of int8, less its zero points.
    let tensor: Tensor
    /// One for all, or one for each index of the axis.
    let scales: [Float]
    let axis: Int

    /// Of DequantizeLinear with constant inputs; nil for other nodes, and where the integers less their zero points leave
    /// 8 bits.
    private init?(_ node: Node, _ facts: [String: Fact]) {
        guard node.isStandard("DequantizeLinear"), node.inputs.count >= 2, node.int("block_size") ?? 0 == 0,
            let values = facts[node.inputs[0]]?.value, [.int8, .uint8].contains(values.elementType),
            let scales = facts[node.inputs[1]]?.value, scales.elementType == .float32, scales.shape.count <= 1
        else { return nil }
        let axis = node.int("axis") ?? 1
        self.axis = scales.count == 1 ? 0 : axis < 0 ? axis + values.shape.count : axis
        self.scales = scales.elements(as: Float.self)
        guard scales.count == 1 || values.shape.indices.contains(self.axis) && values.shape[self.axis] == scales.count,
            self.scales.allSatisfy({ $0.isNormal && (1 / $0).isNormal })
        else { return nil }
        let zeroPoints = node.inputs.count > 2 ? facts[node.inputs[2]]?.value?.indices() : [0]
        guard let zeroPoints, !zeroPoints.isEmpty else { return nil }
        if values.elementType == .int8, zeroPoints.allSatisfy({ $0 == 0 }) {
            tensor = values
            return
        }
        let inner = values.shape.isEmpty ? 1 : values.shape[(self.axis + 1)...].reduce(1, *)
        let integers = values.integers().enumerated().map { place, value in
            value - Int64(zeroPoints[zeroPoints.count == 1 ? 0 : place / inner % zeroPoints.count])
        }
        guard integers.allSatisfy({ Int8(exactly: $0) != nil }),
            let tensor = try? Tensor(.int8, shape: values.shape, integers: integers)
        else { return nil }
        self.tensor = tensor
    }

    /// By the name of the float32 value.
    static func all(in graph: Graph, _ facts: [String: Fact]) -> [String: QuantisedConstant] {
        var result: [String: QuantisedConstant] = [:]
        for node in graph.nodes { result[node.result] = QuantisedConstant(node, facts) }
        return result
    }

    /// The scales by index of one axis: all the same where there is one scale. Nil where they go by another axis.
    func scales(along axis: Int) -> [Float]? {
        if scales.count == 1 { return [Float](repeating: scales[0], count: tensor.shape[axis]) }
        return self.axis == axis ? scales : nil
    }
}
