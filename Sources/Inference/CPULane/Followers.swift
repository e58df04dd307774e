import OneDNNKit

/// Followers of a node as post-operations of its primitive.
struct Followers {
    private(set) var attributes = Attributes()
    /// Second operands, each with the place of the post-operation that takes it.
    private(set) var operands: [(place: Int, form: Form)] = []
    /// The value that comes out.
    private(set) var result: String
    /// How it is quantised at the end, behind all post-operations; nil where it stays float32.
    private(set) var quantisation: AffineQuantisation?

    init(behind node: Node) { result = node.result }

    fileprivate mutating func append(_ function: ElementFunction) {
        attributes.postOperations.append(.elementWise(function))
    }

    mutating func append(
        _ function: BinaryFunction, _ form: Form, _ descriptor: MemoryDescriptor
    ) {
        operands.append((attributes.postOperations.count, form))
        attributes.postOperations.append(.binary(function, descriptor))
    }

    fileprivate mutating func quantise(_ quantisation: AffineQuantisation) { self.quantisation = quantisation }

    /// Multiplies the result of the first node.
    mutating func multiply(by scale: Float) { attributes.outputScale = .common(scale) }

    /// The same with the second operands as they lie elsewhere or under other dimensions, in their order.
    func with(_ forms: [Form]) -> Followers {
        var result = self
        for (number, form) in forms.enumerated() {
            let place = operands[number].place
            result.operands[number].form = form
            guard case .binary(let function, _) = attributes.postOperations[place] else {
                preconditionFailure("only binary post-operations have operands")
            }
            result.attributes.postOperations[place] = .binary(function, form.descriptor)
        }
        return result
    }

    fileprivate mutating func finish(_ node: Node) { result = node.result }
}

extension StepBuilder {
    /// - Parameters:
    ///   - nodes: Each takes the result of the one before, the first that of `start`.
    ///   - start: What goes before them, e.g. a bias.
    ///   - shape: Of the result.
    ///   - dimensions: Of the result as the primitive has it, with as many elements; same as the shape where not given.
    ///   - axis: Of the shape, along which an operand may have one number for each index; last or second dimension of the
    ///     primitive's.
    ///   - byRow: Whether an operand may have a row of its own for each index of the first of four axes.
    ///   - quantises: Whether the last node may be QuantizeLinear.
    /// - Returns: Nil where oneDNN has no such post-operation.
    /// - Throws: What descriptors do.
    mutating func followers(
        _ nodes: [Node], behind start: Followers, shape: [Int], as dimensions: [Int]? = nil, axis: Int,
        byRow: Bool = false, quantises: Bool = false
    ) throws(OneDNNError) -> Followers? {
        var chain = start
        let target = dimensions ?? shape
        for node in nodes {
            if let functions = ElementFunctions(node, initialisers) {
                for function in functions.list { chain.append(function) }
            } else if let quantisation = AffineQuantisation(node, initialisers), node.isStandard("QuantizeLinear") {
                guard quantises else { return nil }
                chain.quantise(quantisation)
            } else {
                guard let function = BinaryFunction(node), node.inputs.count == 2 else { return nil }
                let other = node.inputs[0] == chain.result ? node.inputs[1] : node.inputs[0]
                guard function.isCommutative || node.inputs[0] == chain.result else { return nil }
                guard let extents = self.shape(of: other) else { return nil }
                if extents == shape {
                    guard let form = try target == shape ? self.form(other) : plain(other, as: target) else {
                        return nil
                    }
                    chain.append(
                        function, form, try MemoryDescriptor(target, .float32, .chosenByPrimitive))
                } else {
                    guard extents.count <= shape.count else { return nil }
                    let padded = Array(repeating: 1, count: shape.count - extents.count) + extents
                    let long = padded.indices.filter { padded[$0] > 1 }
                    let hasRows = byRow && target == shape && shape.count == 4 && long == [0, 3]
                    guard long.isEmpty || long == [axis] || hasRows else { return nil }
                    var operand = hasRows ? padded : target.map { _ in 1 }
                    // The axis has the same distance from the end in both.
                    if !long.isEmpty { operand[target.count - (shape.count - axis)] = padded[axis] }
                    guard let form = try plain(other, as: operand) else { return nil }
                    chain.append(function, form, try MemoryDescriptor(operand, .float32))
                }
            }
            chain.finish(node)
        }
        return chain
    }

    /// The operands as inputs of a primitive that was made with the followers' attributes.
    mutating func inputs(_ followers: Followers, of primitive: Primitive) throws(OneDNNError) -> [StepInput] {
        var inputs: [StepInput] = []
        for (place, form) in followers.operands {
            inputs.append(try input(.postOperation(place), form, of: primitive))
        }
        return inputs
    }
}

extension BinaryFunction {
    /// Nil for nodes that are no arithmetic of two values that broadcast as they do from version 7 (Max, Min and Sum: 8) on.
    init?(_ node: Node) {
        guard node.domain.isEmpty, node.inputs.count == 2 else { return nil }
        switch (node.operatorName, node.opset) {
        case ("Add", 7...), ("Sum", 8...): self = .add
        case ("Sub", 7...): self = .subtract
        case ("Mul", 7...): self = .multiply
        case ("Div", 7...): self = .divide
        case ("Max", 8...): self = .maximum
        case ("Min", 8...): self = .minimum
        default: return nil
        }
    }

    var isCommutative: Bool { self != .subtract && self != .divide }
}
