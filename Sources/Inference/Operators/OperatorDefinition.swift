/// An operator of the standard: what it takes, what shape comes out, and a plain evaluation that is the oracle for faster
/// ones.
package struct OperatorDefinition: Sendable {
    package var name: String
    package var domain = ""
    /// Versions of the domain in which the operator changed, ascending, as far as they are implemented.
    package var versions: [Int]
    /// How many inputs there may be; those below the lower bound must be given.
    package var inputs: ClosedRange<Int>
    /// Inputs that may be left out all the same.
    package var optionalInputs: Set<Int>
    package var outputs: ClosedRange<Int>
    /// Element types by input; the last entry holds for all further ones.
    package var types: [ElementRule]
    package var attributes: [String: Attribute.Kind]
    /// Types of the outputs.
    package var infer: @Sendable (ShapeCall) throws(ModelError) -> [TensorType]
    /// The elements of the first output where it holds extents of which some are not known yet.
    package var extents: (@Sendable (ShapeCall) -> [Dimension]?)?
    /// Values of the outputs. ``infer`` has accepted the inputs before, with their values.
    package var evaluate: @Sendable (OperatorCall) throws(ModelError) -> [Tensor]

    init(
        _ name: String, versions: [Int], inputs: ClosedRange<Int> = 1...1, optionalInputs: Set<Int> = [],
        outputs: ClosedRange<Int> = 1...1, types: [ElementRule] = [.all], attributes: [String: Attribute.Kind] = [:],
        infer: @escaping @Sendable (ShapeCall) throws(ModelError) -> [TensorType] = Shapes.likeFirst,
        extents: (@Sendable (ShapeCall) -> [Dimension]?)? = nil,
        evaluate: @escaping @Sendable (OperatorCall) throws(ModelError) -> [Tensor]
    ) {
        self.name = name
        self.versions = versions
        self.inputs = inputs
        self.optionalInputs = optionalInputs
        self.outputs = outputs
        self.types = types
        self.attributes = attributes
        self.infer = infer
        self.extents = extents
        self.evaluate = evaluate
    }

    /// The version that holds in an operator set, nil before the first that is implemented.
    package func version(in opset: Int) -> Int? { versions.last { $0 <= opset } }

    /// Values of the outputs. Where all are empty no element is looked at: the other extents may be beyond any loop.
    func values(_ call: OperatorCall) throws(ModelError) -> [Tensor] {
        let shapes = call.outputTypes.compactMap(\.extents)
        guard shapes.count == call.outputTypes.count, !shapes.isEmpty, shapes.allSatisfy({ $0.contains(0) }),
            call.node.subgraphs.isEmpty
        else { return try evaluate(call) }
        return try zip(call.outputTypes, shapes).map { type, shape throws(ModelError) in
            try Tensor.empty(type.elementType, shape: shape)
        }
    }

    /// Numbers of inputs and outputs and kinds of attributes.
    ///
    /// - Throws: `damaged`.
    func check(_ node: Node) throws(ModelError) {
        let leftOut = node.inputs.indices.filter { node.inputs[$0].isEmpty && !optionalInputs.contains($0) }
        guard inputs.contains(node.inputs.count), leftOut.allSatisfy({ $0 >= inputs.lowerBound }) else {
            throw .damaged("it has \(node.inputs.filter { !$0.isEmpty }.count) inputs")
        }
        // Where there may be any number of inputs, none of the others is optional.
        if inputs.upperBound == .max && !leftOut.isEmpty { throw .damaged("an input among many is left out") }
        guard outputs.contains(node.outputs.count) else { throw .damaged("it has \(node.outputs.count) outputs") }
        for (name, attribute) in node.attributes {
            guard let kind = attributes[name], kind != attribute.kind else { continue }
            throw .damaged("the attribute \"\(name)\" is of the kind \(attribute.kind.rawValue), not \(kind.rawValue)")
        }
    }
}

/// What the elements of an input may be.
package struct ElementRule: Sendable {
    package var types: Set<ElementType>
    /// The same as those of the first input.
    var isLikeFirst = false

    static let all = ElementRule(types: ElementType.all)
    static let floats = ElementRule(types: ElementType.floats)
    static let numeric = ElementRule(types: ElementType.numeric)
    static let fixedSize = ElementRule(types: ElementType.fixedSize)
    static let integers = ElementRule(types: ElementType.integers)
    static let bool = ElementRule(types: [.bool])
    static let int64 = ElementRule(types: [.int64])
    static let index = ElementRule(types: [.int32, .int64])
    static let bytes = ElementRule(types: [.int8, .uint8])
    static let first = ElementRule(types: ElementType.all, isLikeFirst: true)

    static func only(_ types: ElementType...) -> ElementRule { ElementRule(types: Set(types)) }
}
