/// A node with its inputs: the material of an evaluation.
package struct OperatorCall {
    package let node: Node
    /// The version of the operator, see ``OperatorDefinition/versions``.
    package let version: Int
    /// Nil for inputs that are left out.
    package let inputs: [Tensor?]
    /// What the shape rule found; unknown extents depend on the values.
    package let outputTypes: [TensorType]
    /// The most iterations of one loop.
    package var largestIterations = Int.max
    /// Runs a subgraph with given inputs.
    package let runSubgraph: (Graph, [Tensor]) throws(ModelError) -> [Tensor]

    func tensor(_ input: Int = 0) -> Tensor {
        guard let tensor = optional(input) else { preconditionFailure("input \(input) was checked before") }
        return tensor
    }

    func optional(_ input: Int) -> Tensor? { input < inputs.count ? inputs[input] : nil }

    var given: [Tensor] { inputs.compactMap { $0 } }

    var elementType: ElementType { outputTypes[0].elementType }

    /// The shape of an output; the shape rule knows it for all operators but those whose values decide.
    func shape(_ output: Int = 0) -> [Int] {
        guard let extents = outputTypes[output].extents else {
            preconditionFailure("the shape of an output of \(node.place) depends on values")
        }
        return extents
    }

    func list(_ attribute: String, input: Int) -> [Int]? { node.ints(attribute) ?? optional(input)?.indices() }

    /// An axis counted from the front; shape rules have checked it.
    func axis(_ attribute: String = "axis", default standard: Int = 0, rank: Int? = nil) -> Int {
        let axis = node.int(attribute) ?? standard
        return axis < 0 ? axis + (rank ?? tensor().shape.count) : axis
    }
}
