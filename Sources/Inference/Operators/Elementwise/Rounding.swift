extension Operators {
    static let rounding: [OperatorDefinition] = [
        .unary("Ceil", [1, 6, 13]) { $0.rounded(.up) },
        .unary("Floor", [1, 6, 13]) { $0.rounded(.down) },
        .unary("Round", [11]) { $0.rounded(.toNearestOrEven) },
    ]
}
