extension Operators {
    static let comparisons: [OperatorDefinition] = [
        comparison("Equal", [7, 11, 13, 19], .all) { $0 == .equal },
        comparison("Less", [7, 9, 13], .numeric) { $0 == .less },
        comparison("LessOrEqual", [12, 16], .numeric) { $0 == .less || $0 == .equal },
        comparison("Greater", [7, 9, 13], .numeric) { $0 == .greater },
        comparison("GreaterOrEqual", [12, 16], .numeric) { $0 == .greater || $0 == .equal },
        test("IsNaN", [9, 13, 20], [:]) { value, _ in value.isNaN },
        test("IsInf", [10, 20], ["detect_negative": .int, "detect_positive": .int]) { value, node in
            value.isInfinite && (node.int(value < 0 ? "detect_negative" : "detect_positive") ?? 1) != 0
        },
    ]

    private static func comparison(
        _ name: String, _ versions: [Int], _ types: ElementRule,
        _ holds: @escaping @Sendable (Elementwise.Order) -> Bool
    ) -> OperatorDefinition {
        OperatorDefinition(
            name, versions: versions, inputs: 2...2, types: [types, .first], infer: Shapes.broadcastToBool
        ) { call throws(ModelError) in
            try Elementwise.compare(call, holds)
        }
    }

    private static func test(
        _ name: String, _ versions: [Int], _ attributes: [String: Attribute.Kind],
        _ holds: @escaping @Sendable (Double, Node) -> Bool
    ) -> OperatorDefinition {
        OperatorDefinition(
            name, versions: versions, types: [.floats], attributes: attributes, infer: Shapes.broadcastToBool
        ) { call throws(ModelError) in
            let input = call.tensor()
            return [try Tensor(shape: input.shape, flags: input.doubles().map { holds($0, call.node) })]
        }
    }
}
