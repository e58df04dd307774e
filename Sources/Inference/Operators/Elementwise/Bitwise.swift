extension Operators {
    static let bitwise: [OperatorDefinition] = [
        combination("BitwiseAnd") { $0 & $1 },
        combination("BitwiseOr") { $0 | $1 },
        combination("BitwiseXor") { $0 ^ $1 },
        OperatorDefinition("BitwiseNot", versions: [18], types: [.integers]) { call throws(ModelError) in
            [try Tensor(call.elementType, shape: call.shape(), integers: call.tensor().integers().map { ~$0 })]
        },
        shift,
    ]

    private static func combination(
        _ name: String, _ function: @escaping @Sendable (Int64, Int64) -> Int64
    ) -> OperatorDefinition {
        OperatorDefinition(
            name, versions: [18], inputs: 2...2, types: [.integers, .first], infer: Shapes.broadcast
        ) { call throws(ModelError) in
            [
                try Elementwise.combine(
                    call.tensor(0), call.tensor(1), shape: call.shape(), floats: { left, _ in left }, signed: function,
                    unsigned: { UInt64(bitPattern: function(Int64(bitPattern: $0), Int64(bitPattern: $1))) })
            ]
        }
    }

    private static let shift = OperatorDefinition(
        "BitShift", versions: [11], inputs: 2...2, types: [.integers, .first],
        attributes: ["direction": .string],
        infer: { call throws(ModelError) in
            guard let direction = call.node.string("direction"), direction == "LEFT" || direction == "RIGHT" else {
                throw .damaged("it does not say LEFT or RIGHT")
            }
            return try Shapes.broadcast(call)
        }
    ) { call throws(ModelError) in
        let isLeft = call.node.string("direction") == "LEFT"
        // Swift's shifts by the width or more leave the sign alone, or 0; narrower types keep their lowest bits. A distance
        // below 0 counts as one beyond the width.
        return [
            try Elementwise.combine(
                call.tensor(0), call.tensor(1), shape: call.shape(), floats: { left, _ in left },
                signed: { left, right in
                    let distance = right < 0 ? Int64(Int64.bitWidth) : right
                    return isLeft ? left << distance : left >> distance
                },
                unsigned: { isLeft ? $0 << $1 : $0 >> $1 })
        ]
    }
}
