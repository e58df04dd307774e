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
        "BitShift", versions: [11], inputs: 2...2, types: [ElementRule(types: ElementType.unsigned), .first],
        attributes: ["direction": .string],
        infer: { call throws(ModelError) in
            guard let direction = call.node.string("direction"), direction == "LEFT" || direction == "RIGHT" else {
                throw .damaged("it does not say LEFT or RIGHT")
            }
            return try Shapes.broadcast(call)
        }
    ) { call throws(ModelError) in
        let isLeft = call.node.string("direction") == "LEFT"
        // Swift's shifts give 0 for distances beyond the width; narrower types keep their lowest bits.
        let shifted: @Sendable (UInt64, UInt64) -> UInt64 = { isLeft ? $0 << $1 : $0 >> $1 }
        return [
            try Elementwise.combine(
                call.tensor(0), call.tensor(1), shape: call.shape(), floats: { left, _ in left },
                signed: { Int64(bitPattern: shifted(UInt64(bitPattern: $0), UInt64(bitPattern: $1))) },
                unsigned: shifted)
        ]
    }
}
