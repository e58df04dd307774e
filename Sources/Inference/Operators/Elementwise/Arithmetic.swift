import Foundation

extension Operators {
    static let arithmetic: [OperatorDefinition] =
        [
            binary("Add", floats: { $0 + $1 }, signed: { $0 &+ $1 }, unsigned: { $0 &+ $1 }),
            binary("Sub", floats: { $0 - $1 }, signed: { $0 &- $1 }, unsigned: { $0 &- $1 }),
            binary("Mul", floats: { $0 * $1 }, signed: { $0 &* $1 }, unsigned: { $0 &* $1 }),
            division,
            power,
            modulo,
            variadic(
                "Max", versions: [6, 8, 12, 13], types: .numeric, floats: largest, signed: { max($0, $1) },
                unsigned: { max($0, $1) }),
            variadic(
                "Min", versions: [6, 8, 12, 13], types: .numeric, floats: smallest, signed: { min($0, $1) },
                unsigned: { min($0, $1) }),
            variadic(
                "Sum", versions: [6, 8, 13], types: .floats, floats: { $0 + $1 }, signed: { $0 &+ $1 },
                unsigned: { $0 &+ $1 }),
            mean,
            exactUnary("Abs", [1, 6, 13], .numeric, floats: abs) { $0 < 0 ? 0 &- $0 : $0 },
            exactUnary(
                "Neg", [1, 6, 13], ElementRule(types: ElementType.floats.union(ElementType.signed)), floats: { -$0 }
            ) { 0 &- $0 },
            exactUnary("Sign", [9, 13], .numeric, floats: { $0.isNaN ? $0 : $0 > 0 ? 1 : $0 < 0 ? -1 : 0 }) {
                $0.signum()
            },
            .unary("Sqrt", [1, 6, 13]) { $0.squareRoot() },
            .unary("Reciprocal", [1, 6, 13]) { 1 / $0 },
            .unary("Exp", [1, 6, 13]) { exp($0) },
            .unary("Log", [1, 6, 13]) { log($0) },
        ]

    // MARK: Two inputs

    private static func binary(
        _ name: String, floats: @escaping @Sendable (Double, Double) -> Double,
        signed: @escaping @Sendable (Int64, Int64) -> Int64,
        unsigned: @escaping @Sendable (UInt64, UInt64) -> UInt64
    ) -> OperatorDefinition {
        OperatorDefinition(
            name, versions: [1, 6, 7, 13, 14], inputs: 2...2, types: [.numeric, .first],
            attributes: ["axis": .int, "broadcast": .int, "consumed_inputs": .ints], infer: arithmeticShape,
            extents: { arithmeticExtents($0, name) }
        ) { call throws(ModelError) in
            let right = try legacyOperand(call)
            return [
                try Elementwise.combine(
                    call.tensor(0), right, shape: call.shape(), floats: floats, signed: signed, unsigned: unsigned)
            ]
        }
    }

    private static let division: OperatorDefinition = {
        var definition = binary(
            "Div", floats: { $0 / $1 }, signed: { $0.dividedReportingOverflow(by: $1).partialValue },
            unsigned: { $0 / $1 })
        let evaluate = definition.evaluate
        definition.evaluate = { call throws(ModelError) in
            try checkDivisor(call)
            return try evaluate(call)
        }
        return definition
    }()

    private static func checkDivisor(_ call: OperatorCall) throws(ModelError) {
        let divisor = call.tensor(1)
        if !divisor.elementType.isFloat && call.tensor(0).count > 0 && divisor.integers().contains(0) {
            throw .wrongValue("an integer is divided by zero")
        }
    }

    /// Before version 7 the second input is placed at an axis of the first and repeated.
    @Sendable private static func arithmeticShape(_ call: ShapeCall) throws(ModelError) -> [TensorType] {
        guard call.version < 7 else { return try Shapes.broadcast(call) }
        guard let left = call.shape(0), let right = call.shape(1) else {
            return [TensorType(call.elementType(), call.shape(0))]
        }
        let shape = try Shapes.broadcast(left, legacyShape(call.node, left.count, right, filler: .known(1)))
        guard shape.count == left.count else { throw .damaged("the shapes \(left) and \(right) do not broadcast") }
        return [TensorType(call.elementType(), shape)]
    }

    static func legacyShape<Extent>(_ node: Node, _ rank: Int, _ shape: [Extent], filler: Extent) -> [Extent] {
        guard node.int("broadcast") == 1, let axis = node.int("axis"), axis >= -rank, axis < rank else { return shape }
        let trailing = rank - (axis < 0 ? axis + rank : axis) - shape.count
        return shape + Array(repeating: filler, count: max(trailing, 0))
    }

    static func legacyOperand(_ call: OperatorCall) throws(ModelError) -> Tensor {
        let right = call.tensor(1)
        guard call.version < 7 else { return right }
        return try right.reshaped(legacyShape(call.node, call.tensor(0).shape.count, right.shape, filler: 1))
    }

    /// Extents that are multiplied, added and so on, where both are known or one has no effect.
    private static func arithmeticExtents(_ call: ShapeCall, _ name: String) -> [Dimension]? {
        guard call.elementType() == .int64, let left = call.extents(0), let right = call.extents(1),
            left.count == right.count || left.count == 1 || right.count == 1
        else { return nil }
        let count = left.isEmpty || right.isEmpty ? 0 : max(left.count, right.count)
        return (0..<count).map { index in
            let (first, second) = (left[left.count == 1 ? 0 : index], right[right.count == 1 ? 0 : index])
            switch (name, first, second) {
            case ("Add", .known(let one), .known(let other)): return .known(one &+ other)
            case ("Sub", .known(let one), .known(let other)): return .known(one &- other)
            case ("Mul", .known(let one), .known(let other)): return .known(one &* other)
            case ("Div", .known(let one), .known(let other)) where other > 0: return .known(one / other)
            case ("Mul", .known(1), let other), ("Mul", let other, .known(1)), ("Div", let other, .known(1)),
                ("Add", let other, .known(0)), ("Add", .known(0), let other), ("Sub", let other, .known(0)):
                return other
            default: return .unknown
            }
        }
    }

    private static let power = OperatorDefinition(
        "Pow", versions: [1, 7, 12, 13, 15], inputs: 2...2, types: [.numeric, .numeric],
        attributes: ["axis": .int, "broadcast": .int], infer: arithmeticShape
    ) { call throws(ModelError) in
        let (base, exponent) = (call.tensor(0), try legacyOperand(call))
        let (first, second) = Elementwise.pairs(base, exponent, shape: call.shape())
        if base.elementType.isInteger && exponent.elementType.isInteger {
            let (a, b) = (base.integers(), exponent.integers())
            return [
                try Tensor(
                    base.elementType, shape: call.shape(),
                    integers: first.indices.map { integerPower(a[first[$0]], b[second[$0]]) })
            ]
        }
        let (a, b) = (base.doubles(), exponent.doubles())
        return [
            try Tensor(
                base.elementType, shape: call.shape(), doubles: first.indices.map { pow(a[first[$0]], b[second[$0]]) })
        ]
    }

    /// Wraps around as multiplication does; a negative exponent leaves 0 but for bases of 1 and -1.
    private static func integerPower(_ base: Int64, _ exponent: Int64) -> Int64 {
        if exponent < 0 { return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0 }
        var (result, square, rest) = (Int64(1), base, exponent)
        while rest > 0 {
            if rest & 1 == 1 { result = result &* square }
            square = square &* square
            rest >>= 1
        }
        return result
    }

    private static let modulo = OperatorDefinition(
        "Mod", versions: [10, 13], inputs: 2...2, types: [.numeric, .first], attributes: ["fmod": .int],
        infer: { call throws(ModelError) in
            if call.node.int("fmod") ?? 0 == 0 && call.elementType().isFloat && call.version < 28 {
                throw .damaged("floats need fmod = 1")
            }
            return try Shapes.broadcast(call)
        }
    ) { call throws(ModelError) in
        try checkDivisor(call)
        let truncates = call.node.int("fmod") == 1
        return [
            try Elementwise.combine(
                call.tensor(0), call.tensor(1), shape: call.shape(),
                floats: { left, right in
                    let rest = fmod(left, right)
                    if truncates || rest.isNaN { return rest }
                    // It has the sign of the divisor, a zero too.
                    if rest == 0 { return right < 0 ? -0.0 : 0 }
                    return (rest < 0) == (right < 0) ? rest : rest + right
                },
                signed: { left, right in
                    let rest = left.remainderReportingOverflow(dividingBy: right).partialValue
                    return truncates || rest == 0 || (rest < 0) == (right < 0) ? rest : rest &+ right
                }, unsigned: { $0 % $1 })
        ]
    }

    // MARK: Any number of inputs

    /// NaN where one of them is.
    @Sendable static func largest(_ left: Double, _ right: Double) -> Double {
        left.isNaN || right.isNaN ? .nan : max(left, right)
    }

    /// NaN where one of them is.
    @Sendable static func smallest(_ left: Double, _ right: Double) -> Double {
        left.isNaN || right.isNaN ? .nan : min(left, right)
    }

    private static func variadic(
        _ name: String, versions: [Int], types: ElementRule, floats: @escaping @Sendable (Double, Double) -> Double,
        signed: @escaping @Sendable (Int64, Int64) -> Int64,
        unsigned: @escaping @Sendable (UInt64, UInt64) -> UInt64
    ) -> OperatorDefinition {
        OperatorDefinition(
            name, versions: versions, inputs: 1...Int.max, types: [types, .first], infer: Shapes.broadcast
        ) { call throws(ModelError) in
            var result = try call.tensor(0).broadcast(to: call.shape())
            for tensor in call.given.dropFirst() {
                result = try Elementwise.combine(
                    result, tensor, shape: call.shape(), floats: floats, signed: signed, unsigned: unsigned)
            }
            return [result]
        }
    }

    private static let mean = OperatorDefinition(
        "Mean", versions: [6, 8, 13], inputs: 1...Int.max, types: [.floats, .first], infer: Shapes.broadcast
    ) { call throws(ModelError) in
        var sum = [Double](repeating: 0, count: try Extents.count(call.shape()))
        for tensor in call.given {
            let values = try tensor.broadcast(to: call.shape()).doubles()
            for index in sum.indices { sum[index] += values[index] }
        }
        let count = Double(call.given.count)
        return [try Tensor(call.elementType, shape: call.shape(), doubles: sum.map { $0 / count })]
    }

    // MARK: One input

    /// A function that keeps the element type, exact for integers.
    static func exactUnary(
        _ name: String, _ versions: [Int], _ types: ElementRule, floats: @escaping @Sendable (Double) -> Double,
        integers: @escaping @Sendable (Int64) -> Int64
    ) -> OperatorDefinition {
        OperatorDefinition(name, versions: versions, types: [types]) { call throws(ModelError) in
            let input = call.tensor()
            if input.elementType.isFloat { return try Elementwise.map(call, floats) }
            if input.elementType == .uint64 && name != "Sign" { return [input] }
            let values =
                input.elementType == .uint64 ? input.integers().map { $0 == 0 ? 0 : 1 } : input.integers().map(integers)
            return [try Tensor(input.elementType, shape: input.shape, integers: values)]
        }
    }
}
