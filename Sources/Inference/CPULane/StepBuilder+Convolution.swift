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
        guard let weights = try plain(node.inputs[1], as: parts),
            let followers = try self.followers(nodes, behind: Followers(behind: node), shape: shape, axis: 1)
        else { return false }
        var bias: Form?
        if node.inputs.count > 2, !node.inputs[2].isEmpty {
            bias = try plain(node.inputs[2])
            guard bias != nil else { return false }
        }
        let window = Window(geometry)
        func operation(
            _ layout: MemoryDescriptor.Layout, _ operandType: DataType
        ) throws(OneDNNError) -> OneDNNKit.Convolution {
            OneDNNKit.Convolution(
                try source.descriptor.with(layout, operandType),
                weights: try weights.descriptor.with(.chosenByPrimitive, operandType),
                bias: bias?.descriptor, destination: try MemoryDescriptor(shape, .float32, layout), window: window)
        }
        // It is of float32 alone, and faster than the direct form of bfloat16 where that has no AMX.
        let winogradType = engine.instructionSet.hasAMX ? operandType : .float32
        let primitive: Primitive
        if let winograd = try winograd(operation(.chosenByPrimitive, winogradType), weights) {
            // It knows few followers. The others cost less apart than the direct form does.
            guard let made = try self.primitive(winograd, followers.attributes) else { return false }
            primitive = made
        } else {
            primitive = try direct(
                { (layout) throws(OneDNNError) in try operation(layout, operandType) }, source.descriptor,
                followers.attributes)
        }
        // Followers apart from plain loops are faster than within.
        if primitive.isReference && (!nodes.isEmpty || operandType != .float32) { return false }
        var inputs = [
            try self.input(.source, source, of: primitive), try self.input(.weights, weights, of: primitive),
        ]
        if let bias { inputs.append(try self.input(.bias, bias, of: primitive)) }
        try append(primitive, inputs + self.inputs(followers, of: primitive), result: followers.result)
        return true
    }

    /// The same in Winograd's form, where that is faster; nil elsewhere.
    private func winograd(
        _ convolution: OneDNNKit.Convolution, _ weights: Form
    ) throws(OneDNNError) -> OneDNNKit.Convolution? {
        guard convolution.gainsFromWinograd, case .constant = weights.place else { return nil }
        var winograd = convolution
        winograd.algorithm = .winograd
        guard let made = try primitive(winograd), made.scratchpadByteCount <= Self.largestScratchpad else { return nil }
        return winograd
    }

    /// What transformed values may take, some twice as much as the values: those of large pictures are not to take the place
    /// of the pictures.
    private static var largestScratchpad: Int { 256 << 20 }

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
        if let kept = try kept(.channelBlocks) { return kept }
        let primitive = try Primitive(operation(.chosenByPrimitive), attributes, on: engine)
        // With a residual oneDNN may choose blocks, and values would be moved into them and back.
        if primitive.descriptor(of: .source)?.hasPlacesOf(source) == false, let kept = try kept(.channelsLast) {
            return kept
        }
        return primitive
    }
}

extension OneDNNKit.Convolution {
    /// With vectors of channels and filters, and from some 10 × 10 results on, Winograd's form takes 0.3 to 0.8 of the time
    /// (oneDNN 2.6.3, one thread of an AMD EPYC with AVX-512). With fewer, weights that are up to four times as large are
    /// fetched for little.
    fileprivate var gainsFromWinograd: Bool {
        let places = destination.dimensions[0] * destination.dimensions[2...].reduce(1, *)
        return weights.rank == 4 && weights.dimensions[2...] == [3, 3] && source.type == .float32
            && window.strides == [1, 1] && window.dilations == [1, 1]
            && weights.dimensions[..<2].allSatisfy { $0.isMultiple(of: 16) } && places >= 100
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
