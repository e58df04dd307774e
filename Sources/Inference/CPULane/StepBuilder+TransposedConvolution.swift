import OneDNNKit

extension StepBuilder {
    /// Data N × C × spatial, weights C × M/group × kernel, bias M.
    mutating func addTransposedConvolution(_ node: Node, _ nodes: [Node]) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), let weightsShape = self.shape(of: node.inputs[1]),
            let source = try self.form(node.inputs[0]), (3...5).contains(shape.count)
        else { return false }
        let (spatial, kernel) = (Array(source.descriptor.dimensions[2...]), Array(weightsShape[2...]))
        guard let geometry = try? TransposedGeometry(node, input: spatial, kernel: kernel),
            (kernel + geometry.strides + geometry.dilations + geometry.padsBefore).allSatisfy({ $0 < 1 << 12 })
        else { return false }
        var window = Window(
            strides: geometry.strides, dilations: geometry.dilations, paddingBefore: geometry.padsBefore)
        // What is cut off at the end, or added where it is negative.
        let whole = window.transposedOutputSize(spatial, kernel: kernel)
        for axis in kernel.indices { window.paddingAfter[axis] += whole[axis] - geometry.output[axis] }
        guard window.paddingBefore.allSatisfy({ $0 >= 0 }) else { return false }
        let groups = node.int("group") ?? 1
        let channels = weightsShape[0] / groups
        let parts = (groups == 1 ? [channels] : [groups, channels]) + weightsShape[1...]
        guard var weights = try plain(node.inputs[1], as: parts),
            let followers = try self.followers(nodes, behind: Followers(behind: node), shape: shape, axis: 1)
        else { return false }
        var order = Array(parts.indices)
        order.swapAt(parts.count - kernel.count - 2, parts.count - kernel.count - 1)
        weights.descriptor = try weights.descriptor.permuted(order)
        var bias: Form?
        if node.inputs.count > 2, !node.inputs[2].isEmpty {
            bias = try plain(node.inputs[2])
            guard bias != nil else { return false }
        }
        func operation(_ layout: MemoryDescriptor.Layout) throws(OneDNNError) -> TransposedConvolution {
            TransposedConvolution(
                try source.descriptor.with(layout), weights: try weights.descriptor.with(.chosenByPrimitive),
                bias: bias?.descriptor, destination: try MemoryDescriptor(shape, .float32, layout), window: window)
        }
        let isChannelsLast = try source.descriptor == source.descriptor.with(.channelsLast)
        var primitive: Primitive?
        for layout in isChannelsLast
            ? [.channelsLast, .chosenByPrimitive] : [MemoryDescriptor.Layout.chosenByPrimitive]
        {
            primitive = try self.primitive(operation(layout), followers.attributes)
            if let primitive, !primitive.isReference { break }
        }
        guard let primitive, !primitive.isReference || nodes.isEmpty else { return false }
        var inputs = [
            try self.input(.source, source, of: primitive), try self.input(.weights, weights, of: primitive),
        ]
        if let bias { inputs.append(try self.input(.bias, bias, of: primitive)) }
        try append(primitive, inputs + self.inputs(followers, of: primitive), result: followers.result)
        return true
    }
}
