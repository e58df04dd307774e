import OneDNNKit

/// Models that are quantised to 8 bits keep their operators in float32, with DequantizeLinear before and QuantizeLinear
/// behind each. Here a dequantised value stays what it is, and is made float32 for who needs that; convolutions, products,
/// sums of two and what moves elements take it as it lies.
extension StepBuilder {
    /// A value that is quantised at the end of no other step.
    mutating func addQuantisation(_ node: Node) throws(OneDNNError) -> Bool {
        guard let quantisation = AffineQuantisation(node, initialisers), shape(of: node.inputs[0]) != nil,
            stepType(of: node.result) != nil
        else { return false }
        guard let source = try quantisedOrFloat(node.inputs[0]),
            var result = try quantised(source, as: quantisation)
        else { return false }
        (result.scale, result.zeroPoint) = (1, 0)
        bind(node.result, to: result)
        return true
    }

    /// The value as 8-bit integers where it lies like that without gaps, else as float32.
    private mutating func quantisedOrFloat(_ name: String) throws(OneDNNError) -> Form? {
        if let form = quantisedView(name), !form.hasGaps { return form }
        return try form(name)
    }

    /// Float32 or 8-bit integers as such of another scale and zero point; nil where oneDNN cannot do it.
    private mutating func quantised(
        _ source: Form, as quantisation: AffineQuantisation
    ) throws(OneDNNError) -> Form? {
        if source.isQuantised(quantisation) { return source }
        var attributes = Attributes()
        attributes.sourceZeroPoint = source.zeroPoint
        attributes.outputScale = .common(source.scale / quantisation.scale)
        attributes.destinationZeroPoint = quantisation.zeroPoint
        let target = try source.dense(quantisation.type)
        guard let primitive = try self.primitive(Reorder(source.descriptor, to: target), attributes) else { return nil }
        var result = try resultForm(primitive, [input(.source, source, of: primitive)])
        (result.scale, result.zeroPoint) = (quantisation.scale, quantisation.zeroPoint)
        return result
    }

    /// The same bytes, with what they have yet to be multiplied by.
    mutating func addDequantisation(_ node: Node) throws(OneDNNError) -> Bool {
        guard let quantisation = AffineQuantisation(node, initialisers), shape(of: node.result) != nil,
            initialisers[node.inputs[0]] == nil, var form = try view(node.inputs[0]),
            form.descriptor.type == quantisation.type
        else { return false }
        (form.scale, form.zeroPoint) = (quantisation.scale, quantisation.zeroPoint)
        bind(node.result, toQuantised: form)
        return true
    }

    // MARK: Sum of two

    /// `a + b` of 8-bit integers to such: `(sa · a + sb · b + c) / s + z`, where c is what the zero points make.
    mutating func addQuantisedSum(_ node: Node, _ nodes: [Node]) throws(OneDNNError) -> Bool {
        guard node.isStandard("Add"), node.opset >= 7, let last = nodes.last, last.isStandard("QuantizeLinear"),
            let result = AffineQuantisation(last, initialisers), let shape = self.shape(of: node.result),
            node.inputs.allSatisfy({ self.shape(of: $0) == shape }), let first = quantisedView(node.inputs[0]),
            var second = quantisedView(node.inputs[1]), !first.hasGaps,
            // Numbers below zero are left out by the rounding.
            nodes.dropLast().allSatisfy({ $0.isStandard("Relu") && result.startsAtZero }),
            let target = try first.descriptor.retyped(result.type)
        else { return false }
        second = try moved(second, to: first.dense(second.descriptor.type))
        let offsets = first.scale * Float(first.zeroPoint) + second.scale * Float(second.zeroPoint)
        var attributes = Attributes([
            .elementWise(.linear(scale: 1, shift: Float(result.zeroPoint) - offsets / result.scale))
        ])
        attributes.operandScales = (first.scale / result.scale, second.scale / result.scale)
        guard
            let primitive = try self.primitive(
                Binary(
                    .add, first.descriptor.inOneRow(), second.descriptor.inOneRow(), destination: target.inOneRow()),
                attributes),
            !primitive.isReference
        else { return false }
        let inputs = [(Argument.source, first), (.secondSource, second)].map {
            StepInput(argument: $0, place: $1.place, offset: $1.offset)
        }
        bind(last.result, to: Form(place: append(primitive, inputs), descriptor: target))
        return true
    }

    // MARK: Other shapes and places

    /// The largest 8-bit integers under a window stand for the largest values.
    mutating func addQuantisedMaximum(
        _ node: Node, kernel: [Int], _ window: Window, shape: [Int]
    ) throws(OneDNNError) -> Bool {
        guard let source = quantisedView(node.inputs[0]), !source.hasGaps,
            let primitive = try self.primitive(
                Pooling(
                    .maximum, source.descriptor,
                    destination: try MemoryDescriptor(shape, source.descriptor.type, .chosenByPrimitive),
                    kernel: kernel, window: window)), !primitive.isReference
        else { return false }
        try bindQuantised(primitive, [input(.source, source, of: primitive)], as: source, node.result)
        return true
    }

    /// Values that were quantised alike one after the other; or each quantised first, as their result is next.
    mutating func addQuantisedConcatenation(_ node: Node, axis: Int, shape: [Int]) throws(OneDNNError) -> Bool {
        let wanted: AffineQuantisation
        if let taker = uses.onlyTaker(of: node.result), nodes[taker].isStandard("QuantizeLinear"),
            let next = AffineQuantisation(nodes[taker], initialisers)
        {
            wanted = next
        } else {
            guard let first = node.inputs.first.flatMap({ quantisedView($0) }).flatMap(AffineQuantisation.init),
                node.inputs.allSatisfy({ quantisedView($0)?.isQuantised(first) ?? false })
            else { return false }
            wanted = first
        }
        var sources: [Form] = []
        for name in node.inputs {
            guard self.shape(of: name)?.count == shape.count,
                let source = try quantisedOrFloat(name),
                let form = try quantised(source, as: wanted)
            else { return false }
            sources.append(form)
        }
        let operation = Concatenation(
            sources.map(\.descriptor), axis: axis,
            destination: try MemoryDescriptor(shape, wanted.type, .chosenByPrimitive))
        guard let first = sources.first, let primitive = try self.primitive(operation), !primitive.isReference else {
            return false
        }
        var inputs: [StepInput] = []
        for (place, source) in sources.enumerated() { inputs.append(try input(.source(place), source, of: primitive)) }
        try bindQuantised(primitive, inputs, as: first, node.result)
        return true
    }

    private mutating func bindQuantised(
        _ primitive: Primitive, _ inputs: [StepInput], as source: Form, _ name: String
    ) throws(OneDNNError) {
        var form = try resultForm(primitive, inputs)
        (form.scale, form.zeroPoint) = (source.scale, source.zeroPoint)
        bind(name, toQuantised: form)
    }
}
