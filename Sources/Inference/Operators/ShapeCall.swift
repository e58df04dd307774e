/// What is known of a value: its type, and its elements where they follow from the model alone.
package struct Fact: Sendable {
    package var type: TensorType
    package var value: Tensor?
    /// Elements of an integer tensor of up to one axis that hold extents, of which some may be unknown.
    package var extents: [Dimension]?

    package init(_ type: TensorType, value: Tensor? = nil, extents: [Dimension]? = nil) {
        self.type = type
        self.value = value
        self.extents = extents
    }

    package init(_ value: Tensor) {
        self.init(TensorType(value.elementType, extents: value.shape), value: value)
    }
}

/// A node with what is known of its inputs: the material of a shape rule.
package struct ShapeCall: Sendable {
    package let node: Node
    /// The version of the operator, see ``OperatorDefinition/versions``.
    package let version: Int
    /// Nil for inputs that are left out.
    package let facts: [Fact?]
    /// Types of a subgraph's outputs for given inputs; nil where they cannot be known.
    package let inferSubgraph: @Sendable (Graph, [Fact?]) throws(ModelError) -> [Fact?]

    func has(_ input: Int) -> Bool { input < facts.count && facts[input] != nil }

    private func fact(_ input: Int) -> Fact {
        guard has(input), let fact = facts[input] else { preconditionFailure("input \(input) was checked before") }
        return fact
    }

    func elementType(_ input: Int = 0) -> ElementType { fact(input).type.elementType }
    /// Nil where the number of axes is unknown.
    func shape(_ input: Int = 0) -> [Dimension]? { fact(input).type.shape }
    /// The elements, where they are known; nil for inputs that are left out.
    func value(_ input: Int) -> Tensor? { has(input) ? fact(input).value : nil }
    /// The elements of an integer input, where they are known.
    func indices(_ input: Int) -> [Int]? { value(input)?.indices() }

    /// The elements of an input that holds extents, known or not.
    func extents(_ input: Int) -> [Dimension]? {
        guard has(input) else { return nil }
        if let extents = fact(input).extents { return extents }
        guard let value = value(input), value.elementType == .int64 || value.elementType == .int32,
            value.shape.count <= 1, value.count <= 64
        else { return nil }
        return value.indices().map { .known($0) }
    }

    /// Whether there are facts on the elements, or none are asked for.
    func isKnownOrAbsent(_ input: Int) -> Bool { !has(input) || value(input) != nil }

    /// The list that is an attribute in older versions and an input in newer ones. Nil where it is left out.
    ///
    /// - Returns: `isKnown` false where it is an input whose elements are not known.
    func list(_ attribute: String, input: Int) -> (isKnown: Bool, list: [Int]?) {
        if let list = node.ints(attribute) { return (true, list) }
        guard has(input) else { return (true, nil) }
        return (value(input) != nil, indices(input))
    }

    /// An axis counted from the front.
    ///
    /// - Throws: `damaged` outside `-rank ..< rank`.
    func axis(_ axis: Int, rank: Int) throws(ModelError) -> Int {
        guard axis >= -rank && axis < rank else { throw .damaged("there is no axis \(axis) among \(rank)") }
        return axis < 0 ? axis + rank : axis
    }

    func axes(_ axes: [Int], rank: Int) throws(ModelError) -> [Int] {
        let positive = try axes.map { axis throws(ModelError) in try self.axis(axis, rank: rank) }
        guard Set(positive).count == positive.count else { throw .damaged("an axis is named twice: \(axes)") }
        return positive
    }
}
