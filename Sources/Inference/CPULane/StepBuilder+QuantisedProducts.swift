import OneDNNKit

/// Sums of products of 8-bit data and weights, which oneDNN adds up in 32 bits.
extension StepBuilder {
    /// Operands of a product of 8-bit integers.
    struct QuantisedOperands {
        var source: Form
        var weights: QuantisedConstant
        /// `scale` of the source times those of the weights, by channel of the result.
        var scales: [Float]

        /// What a bias is in units of the sum that it is added to.
        func bias(_ tensor: Tensor) -> [Double]? {
            guard tensor.elementType == .float32, tensor.count == scales.count else { return nil }
            return zip(tensor.doubles(), scales).map { $0 / Double($1) }
        }
    }

    /// Nil where one of the values is not quantised, or the weights are not by the axis of the result's channels.
    func quantisedOperands(_ source: String, _ weights: String, axis: Int) -> QuantisedOperands? {
        guard let source = quantisedView(source), let weights = quantisedConstants[weights],
            weights.tensor.shape.indices.contains(axis), let scales = weights.scales(along: axis)
        else { return nil }
        return QuantisedOperands(source: source, weights: weights, scales: scales.map { $0 * source.scale })
    }

    /// The value of a constant as an operand of a product of 8-bit integers; nil where it is left out.
    mutating func quantisedBias(
        _ name: String, _ operands: QuantisedOperands, as dimensions: [Int]
    ) throws(OneDNNError) -> Form? {
        guard let tensor = initialisers[name], let values = operands.bias(tensor) else { return nil }
        return try constant(values, dimensions)
    }

    // MARK: Convolution

    /// As ``addConvolution(_:_:)`` with 8-bit data and weights.
    mutating func addQuantisedConvolution(
        _ node: Node, _ nodes: [Node], _ geometry: WindowGeometry, shape: [Int]
    ) throws(OneDNNError) -> Bool {
        guard let operands = quantisedOperands(node.inputs[0], node.inputs[1], axis: 0),
            let followers = try self.followers(
                nodes, behind: Followers(behind: node), shape: shape, axis: 1, quantises: true)
        else { return false }
        let (groups, extents) = (node.int("group") ?? 1, operands.weights.tensor.shape)
        let parts = groups == 1 ? extents : [groups, extents[0] / groups] + extents[1...]
        guard let weights = try constant(operands.weights.tensor, parts) else { return false }
        var bias: Form?
        if node.inputs.count > 2, !node.inputs[2].isEmpty {
            bias = try quantisedBias(node.inputs[2], operands, as: [extents[0]])
            guard bias != nil else { return false }
        }
        let operation = OneDNNKit.Convolution(
            try operands.source.descriptor.with(.chosenByPrimitive),
            weights: try weights.descriptor.with(.chosenByPrimitive), bias: bias?.descriptor,
            destination: try MemoryDescriptor(shape, followers.type, .chosenByPrimitive), window: Window(geometry))
        return try add(operation, operands, weights, bias, followers)
    }

    // MARK: Products

    /// Rows of 8-bit integers times a constant matrix.
    mutating func addQuantisedProduct(_ node: Node, _ nodes: [Node]) throws(OneDNNError) -> Bool {
        let isTransposed = node.isStandard("Gemm") && node.int("transB") ?? 0 != 0
        guard let shape = self.shape(of: node.result), shape.count >= 2,
            let operands = quantisedOperands(node.inputs[0], node.inputs[1], axis: isTransposed ? 0 : 1),
            operands.weights.tensor.shape.count == 2, let columns = shape.last
        else { return false }
        var (start, rest, addend) = (Followers(behind: node), nodes[...], String?.none)
        if node.isStandard("Gemm") {
            guard node.int("transA") ?? 0 == 0, node.float("alpha") ?? 1 == 1, node.float("beta") ?? 1 == 1 else {
                return false
            }
            if node.inputs.count > 2, !node.inputs[2].isEmpty { addend = node.inputs[2] }
        } else if let first = nodes.first, first.isStandard("Add"),
            let other = first.inputs.first(where: { $0 != node.result }), initialisers[other]?.shape == [columns]
        {
            (start, rest, addend) = (Followers(behind: first), nodes.dropFirst(), other)
        }
        let rows = shape.dropLast().reduce(1, *)
        let target = [rows, columns]
        guard
            let followers = try self.followers(
                Array(rest), behind: start, shape: shape, as: target, axis: shape.count - 1, quantises: true),
            var weights = try constant(operands.weights.tensor, operands.weights.tensor.shape)
        else { return false }
        if isTransposed { weights.descriptor = try weights.descriptor.transposed() }
        var bias: Form?
        if let addend {
            bias = try quantisedBias(addend, operands, as: [1, columns])
            guard bias != nil else { return false }
        }
        var flat = operands
        flat.source = try plain(operands.source, as: [rows, weights.descriptor.dimensions[0]])
        let operation = OneDNNKit.MatrixProduct(
            flat.source.descriptor, weights: try weights.descriptor.with(.chosenByPrimitive), bias: bias?.descriptor,
            destination: try MemoryDescriptor(target, followers.type))
        return try add(operation, flat, weights, bias, followers)
    }

    private mutating func add(
        _ operation: some PrimitiveOperation, _ operands: QuantisedOperands, _ weights: Form, _ bias: Form?,
        _ followers: Followers
    ) throws(OneDNNError) -> Bool {
        let attributes = followers.attributes(of: operands.scales, sourceZeroPoint: operands.source.zeroPoint)
        guard let primitive = try self.primitive(operation, attributes), !primitive.isReference else { return false }
        var inputs = [
            try input(.source, operands.source, of: primitive), try input(.weights, weights, of: primitive),
        ]
        if let bias { inputs.append(try input(.bias, bias, of: primitive)) }
        try append(primitive, inputs + self.inputs(followers, of: primitive), result: followers.result)
        return true
    }
}

extension Followers {
    /// What the primitive writes.
    var type: DataType { quantisation?.type ?? .float32 }

    /// For sums of products of 8-bit integers.
    ///
    /// - Parameters:
    ///   - scales: What one of them stands for, by channel of the result.
    ///   - sourceZeroPoint: Of the data.
    /// - Returns: Attributes with the post-operations in units of the result, where that is quantised and they have such.
    func attributes(of scales: [Float], sourceZeroPoint: Int32) -> Attributes {
        var result = attributes
        var factor: Float = 1
        if let quantisation {
            let inverse = 1 / quantisation.scale
            var scaled: [PostOperation]? = []
            for operation in attributes.postOperations {
                if operation.isRelu && quantisation.startsAtZero { continue }
                guard let next = operation.scaled(by: inverse) else {
                    scaled = nil
                    break
                }
                scaled?.append(next)
            }
            if let scaled {
                (result.postOperations, factor) = (scaled, inverse)
            } else {
                result.postOperations.append(.elementWise(.linear(scale: inverse, shift: 0)))
            }
            result.destinationZeroPoint = quantisation.zeroPoint
        }
        result.sourceZeroPoint = sourceZeroPoint
        let isCommon = scales.allSatisfy { $0 == scales[0] }
        result.outputScale = isCommon ? .common(scales[0] * factor) : .perChannel(scales.map { $0 * factor })
        return result
    }
}

extension PostOperation {
    fileprivate var isRelu: Bool { if case .elementWise(.relu(0)) = self { true } else { false } }

    /// What gives `factor` times its result from `factor` times its operand; nil where there is none here.
    fileprivate func scaled(by factor: Float) -> PostOperation? {
        switch self {
        case .elementWise(.relu): self
        case .elementWise(.clip(let low, let high)): .elementWise(.clip(low * factor, high * factor))
        default: nil
        }
    }
}
