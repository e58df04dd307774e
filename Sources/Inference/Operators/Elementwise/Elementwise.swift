/// Evaluations of operators that compute each element for itself. Floats are computed in float64 and rounded once.
enum Elementwise {
    /// Reads two tensors as broadcast ones, element by element.
    static func pairs(_ left: Tensor, _ right: Tensor, shape: [Int]) -> (left: [Int], right: [Int]) {
        (
            Extents.offsets(shape, strides: Extents.broadcastStrides(left.shape, to: shape)),
            Extents.offsets(shape, strides: Extents.broadcastStrides(right.shape, to: shape))
        )
    }

    /// `function` of each element of the first input.
    static func map(_ call: OperatorCall, _ function: (Double) -> Double) throws(ModelError) -> [Tensor] {
        let input = call.tensor()
        return [try Tensor(call.elementType, shape: input.shape, doubles: input.doubles().map(function))]
    }

    /// Combines two tensors of one type under broadcasting.
    static func combine(
        _ left: Tensor, _ right: Tensor, shape: [Int], floats: (Double, Double) -> Double,
        signed: (Int64, Int64) -> Int64, unsigned: (UInt64, UInt64) -> UInt64
    ) throws(ModelError) -> Tensor {
        let type = left.elementType
        let (first, second) = pairs(left, right, shape: shape)
        if type.isFloat {
            let (a, b) = (left.doubles(), right.doubles())
            return try Tensor(
                type, shape: shape, doubles: first.indices.map { floats(a[first[$0]], b[second[$0]]) })
        }
        let (a, b) = (left.integers(), right.integers())
        if type == .uint64 {
            let values = first.indices.map {
                Int64(bitPattern: unsigned(UInt64(bitPattern: a[first[$0]]), UInt64(bitPattern: b[second[$0]])))
            }
            return try Tensor(type, shape: shape, integers: values)
        }
        return try Tensor(type, shape: shape, integers: first.indices.map { signed(a[first[$0]], b[second[$0]]) })
    }

    /// How the elements of two tensors compare under broadcasting.
    static func compare(
        _ call: OperatorCall, _ holds: (Order) -> Bool
    ) throws(ModelError) -> [Tensor] {
        let (left, right) = (call.tensor(0), call.tensor(1))
        let (first, second) = pairs(left, right, shape: call.shape())
        let orders: [Order]
        if left.elementType == .string {
            let (a, b) = (left.strings, right.strings)
            orders = first.indices.map { Order(a[first[$0]], b[second[$0]]) }
        } else if left.elementType.isFloat {
            let (a, b) = (left.doubles(), right.doubles())
            orders = first.indices.map { Order(a[first[$0]], b[second[$0]]) }
        } else if left.elementType == .uint64 {
            let (a, b) = (left.elements(as: UInt64.self), right.elements(as: UInt64.self))
            orders = first.indices.map { Order(a[first[$0]], b[second[$0]]) }
        } else {
            let (a, b) = (left.integers(), right.integers())
            orders = first.indices.map { Order(a[first[$0]], b[second[$0]]) }
        }
        return [try Tensor(shape: call.shape(), flags: orders.map(holds))]
    }

    enum Order {
        case less, equal, greater
        /// One of both is NaN.
        case unordered

        init<Value: Comparable>(_ left: Value, _ right: Value) {
            self = left < right ? .less : left == right ? .equal : left > right ? .greater : .unordered
        }
    }
}

extension OperatorDefinition {
    /// A function of one float.
    static func unary(
        _ name: String, _ versions: [Int], _ types: ElementRule = .floats,
        _ function: @escaping @Sendable (Double) -> Double
    ) -> OperatorDefinition {
        OperatorDefinition(name, versions: versions, types: [types]) { call throws(ModelError) in
            try Elementwise.map(call, function)
        }
    }

    /// A function of one float with attributes that are floats.
    static func activation(
        _ name: String, _ versions: [Int], _ defaults: KeyValuePairs<String, Double>, types: ElementRule = .floats,
        _ function: @escaping @Sendable (Double, [Double]) -> Double
    ) -> OperatorDefinition {
        let names = defaults.map(\.key)
        let standards = defaults.map(\.value)
        let kinds = Dictionary(uniqueKeysWithValues: names.map { ($0, Attribute.Kind.float) })
        return OperatorDefinition(name, versions: versions, types: [types], attributes: kinds) {
            call throws(ModelError) in
            let settings = zip(names, standards).map { call.node.float($0) ?? $1 }
            return try Elementwise.map(call) { function($0, settings) }
        }
    }
}

extension Operators {
    static let elementwise =
        arithmetic + comparisons + logic + bitwise + trigonometry + activations + rounding + casts
}
