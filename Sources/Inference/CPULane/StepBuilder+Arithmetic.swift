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
            var second = try operand(names[1], shape, isPlain: isPlain)
        else { return false }
        let dimensions = Self.dimensions(shape)
        let isFull = first.descriptor.dimensions == dimensions
        let destination = try isFull ? first.descriptor : MemoryDescriptor(dimensions, .float32)
        if second.descriptor.dimensions == dimensions {
            second = try moved(second, to: destination)
        }
        guard
            let followers = try self.followers(
                nodes, behind: Followers(behind: node), shape: shape, axis: min(1, max(shape.count - 1, 0))),
            let primitive = try self.primitive(
                Binary(function, first.descriptor, second.descriptor, destination: destination), followers.attributes)
        else { return false }
        if primitive.isReference && (!isPlain || !nodes.isEmpty) { return false }
        let inputs = [
            try input(.source, first, of: primitive), try input(.secondSource, second, of: primitive),
        ]
        try append(primitive, inputs + self.inputs(followers, of: primitive), result: followers.result)
        return true
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
        let operation = Binary(
            .multiply, source.descriptor, scales.descriptor, destination: source.descriptor)
        let primitive = try Primitive(operation, followers.attributes, on: engine)
        if primitive.isReference && (!isPlain || !nodes.isEmpty) { return false }
        let inputs = [
            try input(.source, source, of: primitive), try input(.secondSource, scales, of: primitive),
        ]
        try append(primitive, inputs + self.inputs(followers, of: primitive), result: followers.result)
        return true
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
            self.shape(of: node.inputs[functions.input]) == shape, let last = functions.list.last
        else { return false }
        if case .linear(let scale, 0) = last, functions.list.count == 1, isMultiplied(node.result),
            var view = try view(node.inputs[functions.input])
        {
            view.scale *= scale
            bind(node.result, to: view)
            return true
        }
        guard var form = try self.form(node.inputs[functions.input]) else { return false }
        for function in functions.list.dropLast() {
            let primitive = try Primitive(ElementWise(function, form.descriptor), on: engine)
            form.place = append(primitive, [try input(.source, form, of: primitive)])
            form.offset = 0
        }
        let primitive = try Primitive(ElementWise(last, form.descriptor), on: engine)
        try append(primitive, [input(.source, form, of: primitive)], result: node.result)
        return true
    }
}
