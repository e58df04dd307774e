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
        guard var weights = try plain(node.inputs[1], as: parts) else { return false }
        if groups == 1, geometry.strides == kernel, geometry.dilations.allSatisfy({ $0 == 1 }),
            (window.paddingBefore + window.paddingAfter).allSatisfy({ $0 == 0 }),
            try attempt({ (builder) throws(OneDNNError) in
                try builder.addSeparateWindows(node, nodes, source, weights, shape)
            })
        {
            return true
        }
        guard
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

    /// Where windows do not overlap: a product whose filters are those of all places of a window, and a step that puts results
    /// where they belong. oneDNN's own form takes twice as long.
    ///
    /// - Parameters:
    ///   - node: The convolution.
    ///   - nodes: Its followers.
    ///   - source: Its data.
    ///   - weights: C × M × kernel, row-major.
    ///   - shape: Of the result.
    /// - Returns: False where channels fill no vectors, for other than two spatial axes, and where something is not constant.
    /// - Throws: What primitives do.
    private mutating func addSeparateWindows(
        _ node: Node, _ nodes: [Node], _ source: Form, _ weights: Form, _ shape: [Int]
    ) throws(OneDNNError) -> Bool {
        let (input, taps, block) = (source.descriptor.dimensions, weights.descriptor.dimensions, engine.channelBlock)
        guard shape.count == 4, shape[1].isMultiple(of: block), input[1].isMultiple(of: block),
            nodes.allSatisfy({ ElementFunctions($0, initialisers) != nil }),
            let followers = try self.followers(nodes, behind: Followers(behind: node), shape: shape, axis: 1)
        else { return false }
        let (rows, columns) = (taps[2], taps[3])
        let filters = [rows * columns * shape[1], input[1], 1, 1]
        var bias: Form?
        if node.inputs.count > 2, !node.inputs[2].isEmpty {
            guard let numbers = initialisers[node.inputs[2]]?.elements(as: Float.self) else { return false }
            bias = try constant(
                (0..<(rows * columns)).flatMap { _ in numbers.map(Double.init) }, [filters[0]])
        }
        let layout = MemoryDescriptor.Layout.channelBlocks(of: block)
        let operation = OneDNNKit.Convolution(
            try source.descriptor.with(layout, operandType),
            weights: try MemoryDescriptor(filters, operandType, .chosenByPrimitive), bias: bias?.descriptor,
            destination: try MemoryDescriptor([input[0], filters[0], input[2], input[3]], .float32, layout),
            window: Window(strides: [1, 1]))
        guard let product = try primitive(operation, followers.attributes), !product.isReference,
            let wanted = product.descriptor(of: .weights)
        else { return false }
        let stream = stream
        var places = weights
        places.descriptor = try weights.descriptor.permuted([2, 3, 1, 0])
        guard
            let packed = try packed(
                places, as: wanted,
                { [places] (bytes) throws(OneDNNError) in
                    let rows = try PackedWeights(
                        packing: bytes, places.descriptor, as: places.descriptor.with(.plain), on: stream)
                    return try PackedWeights(
                        packing: rows.heldBytes, MemoryDescriptor(filters, .float32), as: wanted, on: stream)
                })
        else { return false }
        var inputs = [
            try self.input(.source, source, of: product), StepInput(argument: .weights, place: packed),
        ]
        if let bias { inputs.append(try self.input(.bias, bias, of: product)) }
        let place = append(product, inputs)

        // By image, row and column in a window, block of filters, row and column of the source, and filter of the block.
        let parts = [input[0], rows, columns, shape[1] / block, input[2], input[3], block]
        let (plane, line) = (shape[2] * shape[3] * block, shape[3] * block)
        let target = [
            shape[1] * shape[2] * shape[3], line, block, plane, rows * line, columns * block, 1,
        ]
        let moves = try Primitive(
            Reorder(MemoryDescriptor(parts, .float32), to: MemoryDescriptor(parts, .float32, strides: target)),
            on: engine)
        let moved = append(moves, [StepInput(argument: .source, place: place)])
        bind(followers.result, to: Form(place: moved, descriptor: try MemoryDescriptor(shape, .float32, layout)))
        return true
    }
}
