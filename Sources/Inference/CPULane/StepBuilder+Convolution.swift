import OneDNNKit

extension StepBuilder {
    /// Data N × C × spatial, weights M × C/group × kernel, bias M.
    mutating func addConvolution(_ node: Node, _ nodes: [Node]) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), let weightsShape = self.shape(of: node.inputs[1]),
            let input = self.shape(of: node.inputs[0]), shape.count >= 3, shape.count <= 5
        else { return false }
        let kernel = Array(weightsShape[2...])
        guard let geometry = try? WindowGeometry(node, input: Array(input[2...]), kernel: kernel), geometry.isSmall
        else {
            return false
        }
        if try attempt({ (builder) throws(OneDNNError) in
            try builder.addQuantisedConvolution(node, nodes, geometry, shape: shape)
        }) {
            return true
        }
        guard let source = try self.form(node.inputs[0]) else { return false }
        let groups = node.int("group") ?? 1
        let parts = groups == 1 ? weightsShape : [groups, weightsShape[0] / groups] + weightsShape[1...]
        guard let weights = try plain(node.inputs[1], as: parts) else { return false }
        var bias: Form?
        if node.inputs.count > 2, !node.inputs[2].isEmpty {
            bias = try plain(node.inputs[2])
            guard bias != nil else { return false }
        }
        if let convolution = try winograd(geometry, source, weights, output: shape) {
            return try addWinograd(convolution, node, nodes, source, weights, bias)
        }
        guard let followers = try self.followers(nodes, behind: Followers(behind: node), shape: shape, axis: 1) else {
            return false
        }
        let window = Window(geometry)
        func operation(_ layout: MemoryDescriptor.Layout) throws(OneDNNError) -> OneDNNKit.Convolution {
            OneDNNKit.Convolution(
                try source.descriptor.with(layout, operandType),
                weights: try weights.descriptor.with(.chosenByPrimitive, operandType),
                bias: bias?.descriptor, destination: try MemoryDescriptor(shape, .float32, layout), window: window)
        }
        let primitive = try direct(operation, source.descriptor, followers.attributes)
        // Followers apart from plain loops are faster than within.
        if primitive.isReference && (!nodes.isEmpty || operandType != .float32) { return false }
        var inputs = [
            try self.input(.source, source, of: primitive), try self.input(.weights, weights, of: primitive),
        ]
        if let bias { inputs.append(try self.input(.bias, bias, of: primitive)) }
        try append(primitive, inputs + self.inputs(followers, of: primitive), result: followers.result)
        return true
    }

    /// The direct form for values that lie like `source`.
    private func direct(
        _ operation: (MemoryDescriptor.Layout) throws(OneDNNError) -> OneDNNKit.Convolution,
        _ source: MemoryDescriptor, _ attributes: Attributes
    ) throws(OneDNNError) -> Primitive {
        func kept(_ layout: MemoryDescriptor.Layout) throws(OneDNNError) -> Primitive? {
            guard try source == source.with(layout), let kept = try self.primitive(operation(layout), attributes),
                kept.implementation.hasPrefix("jit") || kept.implementation.hasPrefix("brg")
            else { return nil }
            return kept
        }
        // Behind Winograd's form values lie in blocks, and are as fast there.
        if let kept = try kept(.channelBlocks(of: engine.channelBlock)) { return kept }
        let primitive = try Primitive(operation(.chosenByPrimitive), attributes, on: engine)
        // With a residual oneDNN may choose blocks, and values would be moved into them and back.
        if primitive.descriptor(of: .source)?.hasPlacesOf(source) == false, let kept = try kept(.channelsLast) {
            return kept
        }
        return primitive
    }
}

extension Window {
    init(_ geometry: WindowGeometry) {
        self.init(
            strides: geometry.strides, dilations: geometry.dilations, paddingBefore: geometry.padsBefore,
            paddingAfter: geometry.padsAfter)
    }
}

extension WindowGeometry {
    /// Far above what networks have, and far below where products of these would leave 32 bits.
    var isSmall: Bool {
        (kernel + strides + dilations + padsBefore + padsAfter).allSatisfy { $0 < 1 << 12 }
    }
}
