import OneDNNKit

extension StepBuilder {
    /// Two values that broadcast against each other.
    mutating func addBinary(_ node: Node, _ nodes: [Node]) throws(OneDNNError) -> Bool {
        guard let function = BinaryFunction(node), let shape = self.shape(of: node.result),
            let extents = self.shape(of: node.inputs[0]), let others = self.shape(of: node.inputs[1])
        else { return false }
        var names = node.inputs
        // The first should be the one that is not repeated.
        if extents != shape && others == shape && function.isCommutative { names.swapAt(0, 1) }
        return try attemptEither { (builder, isPlain) throws(OneDNNError) in
            try builder.addBinary(function, names, shape, nodes, behind: node, isPlain: isPlain)
        }
    }

    private mutating func addBinary(
        _ function: BinaryFunction, _ names: [String], _ shape: [Int], _ nodes: [Node], behind node: Node,
        isPlain: Bool
    ) throws(OneDNNError) -> Bool {
        guard let first = try operand(names[0], shape, isPlain: isPlain),
            let second = try operand(names[1], shape, isPlain: isPlain)
        else { return false }
        let dimensions = Self.dimensions(shape)
        guard
            let followers = try self.followers(
                nodes, behind: Followers(behind: node), shape: shape, axis: min(1, max(shape.count - 1, 0)))
        else { return false }
        let takesLoops = isPlain && nodes.isEmpty
        guard first.descriptor.dimensions == dimensions else {
            // Both are repeated, for which oneDNN has but its loops.
            guard takesLoops else { return false }
            return try addArithmetic(
                function, first, second, MemoryDescriptor(dimensions, .float32), followers, takesLoops: true)
        }
        return try addArithmetic(function, first, second, followers, takesLoops: takesLoops)
    }

    /// Arithmetic of a value without gaps and one that may be repeated, with what follows in the same pass.
    private mutating func addArithmetic(
        _ function: BinaryFunction, _ first: Form, _ second: Form, _ followers: Followers, takesLoops: Bool
    ) throws(OneDNNError) -> Bool {
        let dimensions = first.descriptor.dimensions
        guard let order = MergedAxes.order(of: first.descriptor) else {
            // In blocks of channels.
            let second = try second.descriptor.dimensions == dimensions ? moved(second, to: first.descriptor) : second
            return try addArithmetic(
                function, first, second, first.descriptor, followers, takesLoops: takesLoops)
        }
        var operands = [first]
        for operand in [second] + followers.operands.map(\.form) { operands.append(try laid(operand, in: order)) }
        let axes = MergedAxes(dimensions, order: order, operands.map(\.descriptor.dimensions))
        guard let leading = Self.leadingAxes(axes) else { return false }
        for number in operands.indices {
            operands[number].descriptor = try axes.descriptor(of: number, .float32, leading: leading)
        }
        return try addArithmetic(
            function, operands[0], operands[1], operands[0].descriptor, followers.with(Array(operands[2...])),
            takesLoops: takesLoops, as: first.descriptor)
    }

    // `descriptor`: dimensions and layout of the result, the destination's where it is not given.
    private mutating func addArithmetic(
        _ function: BinaryFunction, _ first: Form, _ second: Form, _ destination: MemoryDescriptor,
        _ followers: Followers, takesLoops: Bool, as descriptor: MemoryDescriptor? = nil
    ) throws(OneDNNError) -> Bool {
        let operation = Binary(function, first.descriptor, second.descriptor, destination: destination)
        guard let primitive = try self.primitive(operation, followers.attributes),
            takesLoops || !primitive.isReference
        else { return false }
        let inputs = [
            try input(.source, first, of: primitive), try input(.secondSource, second, of: primitive),
        ]
        let place = try append(primitive, inputs + self.inputs(followers, of: primitive))
        bind(followers.result, to: Form(place: place, descriptor: descriptor ?? destination))
        return true
    }

    /// The value without gaps, with its axes in that order in memory, from the outermost inwards.
    private mutating func laid(_ form: Form, in order: [Int]) throws(OneDNNError) -> Form {
        let (dimensions, type) = (form.descriptor.dimensions, form.descriptor.type)
        let strides = StridedView.dense(dimensions, order: order)
        return try moved(form, to: MemoryDescriptor(dimensions, type, strides: strides))
    }

    /// How many axes of one element have to stand in front, so that what has one number for each index of an axis has them
    /// for the second, which oneDNN takes for channels; nil where that cannot be. The axes are of the first operand, the
    /// second, and those of what follows.
    private static func leadingAxes(_ axes: MergedAxes) -> Int? {
        var channels: Int?
        for number in axes.isLong.indices.dropFirst(2) where !axes.isFull(number) && !axes.isRepeatedWholly(number) {
            guard let axis = axes.onlyAxis(of: number), axis <= 1, axis == channels ?? axis else { return nil }
            channels = axis
        }
        if let channels {
            guard axes.isFull(1) || axes.isRepeatedWholly(1) || axes.onlyAxis(of: 1) == channels else { return nil }
            return 1 - channels
        }
        return axes.isLong[1] == [true, false] ? 1 : 0
    }

    /// As it lies where it is not repeated, else row-major with axes of 1 in front.
    private mutating func operand(_ name: String, _ shape: [Int], isPlain: Bool) throws(OneDNNError) -> Form? {
        guard let extents = self.shape(of: name), extents.count <= shape.count else { return nil }
        if extents == shape && !isPlain { return try form(name) }
        return try plain(name, as: Array(repeating: 1, count: shape.count - extents.count) + extents)
    }

    /// With constant parameters: a product and a sum by channel.
    mutating func addBatchNormalization(_ node: Node, _ nodes: [Node]) throws(OneDNNError) -> Bool {
        // In blocks of eight channels, oneDNN has but its plain loops for operands of one number a channel.
        return try attemptEither { (builder, isPlain) throws(OneDNNError) in
            try builder.addBatchNormalization(node, nodes, isPlain: isPlain)
        }
    }

    private mutating func addBatchNormalization(
        _ node: Node, _ nodes: [Node], isPlain: Bool
    ) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), shape.count >= 2,
            let source = try isPlain ? plain(node.inputs[0]) : form(node.inputs[0]),
            let factors = ChannelFactors(node, of: node.inputs[0], uses, initialisers),
            factors.scales.count == shape[1]
        else { return false }
        var dimensions = shape.map { _ in 1 }
        dimensions[1] = shape[1]
        guard let scales = try constant(factors.scales, dimensions),
            let shifts = try constant(factors.shifts, dimensions)
        else { return false }
        var start = Followers(behind: node)
        start.append(.add, shifts, shifts.descriptor)
        guard let followers = try self.followers(nodes, behind: start, shape: shape, axis: 1) else { return false }
        return try addArithmetic(.multiply, source, scales, followers, takesLoops: isPlain && nodes.isEmpty)
    }

    /// Whether a value goes into one product only, where a factor costs nothing, perhaps under another shape.
    private func isMultiplied(_ name: String) -> Bool {
        var value = name
        for _ in 0..<4 {
            guard let place = uses.onlyTaker(of: value) else { return false }
            let node = nodes[place]
            if node.isStandard("MatMul") { return node.inputs.count(where: { $0 == value }) == 1 }
            guard node.isStandard("Transpose") || node.isStandard("Reshape"), node.followers.isEmpty else {
                return false
            }
            value = node.result
        }
        return false
    }

    /// A function of each element.
    mutating func addElementFunctions(_ node: Node) throws(OneDNNError) -> Bool {
        guard let functions = ElementFunctions(node, initialisers), let shape = self.shape(of: node.result),
            self.shape(of: node.inputs[functions.input]) == shape
        else { return false }
        if case .linear(let scale, 0)? = functions.list.last, functions.list.count == 1, isMultiplied(node.result),
            var view = try view(node.inputs[functions.input])
        {
            view.scale *= scale
            bind(node.result, to: view)
            return true
        }
        guard var form = try self.form(node.inputs[functions.input]) else { return false }
        let result = form.descriptor
        form.descriptor = try result.inOneRow()
        for function in functions.list {
            let primitive = try Primitive(ElementWise(function, form.descriptor), on: engine)
            form.place = append(primitive, [try input(.source, form, of: primitive)])
            form.offset = 0
        }
        form.descriptor = result
        bind(node.result, to: form)
        return true
    }
}
