import Foundation

extension Operators {
    static let activations: [OperatorDefinition] = [
        exactUnary(
            "Relu", [1, 6, 13, 14], ElementRule(types: ElementType.floats.union(ElementType.signed)),
            floats: { $0 < 0 ? 0 : $0 }
        ) { max($0, 0) },
        .unary("Sigmoid", [1, 6, 13]) { 1 / (1 + exp(-$0)) },
        .unary("Softplus", [1]) { max($0, 0) + log1p(exp(-abs($0))) },
        .unary("Softsign", [1]) { $0 / (1 + abs($0)) },
        .unary("Erf", [9, 13], .numeric) { erf($0) },
        .unary("HardSwish", [14]) { $0 * min(max($0 / 6 + 0.5, 0), 1) },
        // Of a later version than files may have: passes write it for x · Sigmoid(x).
        .activation("Swish", [24], ["alpha": 1]) { $0 / (1 + exp(-$1[0] * $0)) },
        .unary("Mish", [18]) { $0 * tanh(max($0, 0) + log1p(exp(-abs($0)))) },
        .activation("Elu", [1, 6], ["alpha": 1]) { $0 < 0 ? $1[0] * expm1($0) : $0 },
        .activation("Celu", [12], ["alpha": 1]) { max($0, 0) + min(0, $1[0] * expm1($0 / $1[0])) },
        .activation("Selu", [1, 6], ["alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875]) {
            $0 <= 0 ? $1[1] * $1[0] * expm1($0) : $1[1] * $0
        },
        .activation("LeakyRelu", [1, 6, 16], ["alpha": Double(Float(0.01))]) { $0 < 0 ? $1[0] * $0 : $0 },
        .activation("ThresholdedRelu", [10], ["alpha": 1]) { $0 > $1[0] ? $0 : 0 },
        .activation("HardSigmoid", [1, 6], ["alpha": Double(Float(0.2)), "beta": 0.5]) {
            min(max($1[0] * $0 + $1[1], 0), 1)
        },
        .activation("Shrink", [9], ["bias": 0, "lambd": 0.5], types: .numeric) {
            $0 < -$1[1] ? $0 + $1[0] : $0 > $1[1] ? $0 - $1[0] : 0
        },
        gelu, parametricRelu, clip,
    ]

    /// x Φ(x), or its approximation by tanh (Hendrycks and Gimpel, Gaussian Error Linear Units).
    private static let gelu = OperatorDefinition(
        "Gelu", versions: [20], types: [.floats], attributes: ["approximate": .string]
    ) { call throws(ModelError) in
        if call.node.string("approximate") == "tanh" {
            return try Elementwise.map(call) {
                0.5 * $0 * (1 + tanh((2 / .pi).squareRoot() * ($0 + 0.044715 * $0 * $0 * $0)))
            }
        }
        return try Elementwise.map(call) { 0.5 * $0 * (1 + erf($0 / 2.squareRoot())) }
    }

    /// A slope for negative values; before version 7 a list of slopes goes along the channels. Axes of extent 1 that a slope
    /// has in front of those of its input become axes of the result, as in ONNX Runtime: exporters write the slope [1] for a
    /// scalar too.
    private static let parametricRelu = OperatorDefinition(
        "PRelu", versions: [1, 6, 7, 9, 16], inputs: 2...2, types: [.numeric, .first],
        infer: { call throws(ModelError) in
            guard call.version >= 7, let shape = call.shape(0) else { return try Shapes.likeFirst(call) }
            guard let slope = call.shape(1) else { return [TensorType(call.elementType(), nil)] }
            let leading = slope.dropLast(shape.count)
            guard leading.allSatisfy({ ($0.extent ?? 1) == 1 }) else {
                throw .damaged("its slope has more axes than its input")
            }
            _ = try Shapes.broadcast(shape, slope)
            return [TensorType(call.elementType(), leading.map { _ in .known(1) } + shape)]
        }
    ) { call throws(ModelError) in
        let input = try call.tensor(0).reshaped(call.shape())
        var slope = call.tensor(1)
        if call.version < 7 && slope.shape.count == 1 && slope.count > 1 && input.shape.count > 1 {
            slope = try slope.reshaped(slope.shape + Array(repeating: 1, count: input.shape.count - 2))
        }
        guard slope.isBroadcastable(to: input.shape) else {
            throw .wrongValue("a slope of the shape \(slope.shape) does not fit \(input.shape)")
        }
        return [
            try Elementwise.combine(
                input, slope, shape: input.shape, floats: { $0 < 0 ? $0 * $1 : $0 }, signed: { $0 < 0 ? $0 &* $1 : $0 },
                unsigned: { left, _ in left })
        ]
    }

    private static let clip = OperatorDefinition(
        "Clip", versions: [1, 6, 11, 12, 13], inputs: 1...3, types: [.numeric, .first],
        attributes: ["min": .float, "max": .float]
    ) { call throws(ModelError) in
        let input = call.tensor()
        if call.version < 11 {
            let (low, high) = (call.node.float("min") ?? -.infinity, call.node.float("max") ?? .infinity)
            return try Elementwise.map(call) { min(max($0, low), high) }
        }
        // Where the lower bound is above the upper one, the upper one holds.
        var result = input
        for (index, isUpper) in [(1, false), (2, true)] {
            guard let bound = call.optional(index) else { continue }
            guard bound.count == 1 else { throw .wrongValue("a bound has \(bound.count) elements") }
            result = try Elementwise.combine(
                result, try bound.reshaped([]), shape: input.shape,
                floats: { $0.isNaN ? $0 : isUpper ? min($0, $1) : max($0, $1) },
                signed: { isUpper ? min($0, $1) : max($0, $1) }, unsigned: { isUpper ? min($0, $1) : max($0, $1) })
        }
        return [result]
    }
}
