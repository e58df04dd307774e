extension Operators {
    static let logic: [OperatorDefinition] = [
        connective("And") { $0 && $1 },
        connective("Or") { $0 || $1 },
        connective("Xor") { $0 != $1 },
        OperatorDefinition("Not", versions: [1], types: [.bool]) { call throws(ModelError) in
            [try Tensor(shape: call.shape(), flags: call.tensor().flags().map { !$0 })]
        },
        selection,
    ]

    private static func connective(
        _ name: String, _ function: @escaping @Sendable (Bool, Bool) -> Bool
    ) -> OperatorDefinition {
        OperatorDefinition(
            name, versions: [7], inputs: 2...2, types: [.bool, .bool], infer: Shapes.broadcastToBool
        ) { call throws(ModelError) in
            let (left, right) = (call.tensor(0).flags(), call.tensor(1).flags())
            let (first, second) = Elementwise.pairs(call.tensor(0), call.tensor(1), shape: call.shape())
            let flags = first.indices.map { function(left[first[$0]], right[second[$0]]) }
            return [try Tensor(shape: call.shape(), flags: flags)]
        }
    }

    /// The second input where the first holds, the third elsewhere.
    private static let selection = OperatorDefinition(
        "Where", versions: [9, 16], inputs: 3...3, types: [.bool, .all, .all],
        infer: { call throws(ModelError) in
            guard call.elementType(1) == call.elementType(2) else {
                throw .damaged("it chooses between \(call.elementType(1).rawValue) and \(call.elementType(2).rawValue)")
            }
            return [TensorType(call.elementType(1), try Shapes.broadcastShape(call))]
        },
        extents: { call in
            guard let flags = call.value(0)?.flags(), let first = call.extents(1), let second = call.extents(2),
                flags.count == first.count, flags.count == second.count
            else { return nil }
            return flags.indices.map { flags[$0] ? first[$0] : second[$0] }
        }
    ) { call throws(ModelError) in
        let shape = call.shape()
        let flags = try call.tensor(0).broadcast(to: shape).flags()
        let (first, second) = Elementwise.pairs(call.tensor(1), call.tensor(2), shape: shape)
        let count = call.tensor(1).count
        let sources = flags.indices.map { flags[$0] ? first[$0] : count + second[$0] }
        return [try Tensor.joined([call.tensor(1), call.tensor(2)]).gathered(sources, shape: shape)]
    }
}
