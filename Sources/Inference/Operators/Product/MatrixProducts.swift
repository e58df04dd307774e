extension Operators {
    static let product: [OperatorDefinition] = [matMul, gemm, determinant, einsum]

    private static let matMul = OperatorDefinition(
        "MatMul", versions: [1, 9, 13], inputs: 2...2, types: [.numeric, .first],
        infer: { call throws(ModelError) in [TensorType(call.elementType(), try productShape(call, 0, 1))] }
    ) { call throws(ModelError) in
        let (left, right) = (call.tensor(0), call.tensor(1))
        let plan = MatrixProduct(left.shape, right.shape)
        if left.elementType.isFloat {
            return [
                try Tensor(
                    left.elementType, shape: call.shape(),
                    doubles: plan.run(left.doubles(), right.doubles(), zero: 0) { $0 + $1 * $2 })
            ]
        }
        let values = plan.run(left.integers(), right.integers(), zero: 0) { $0 &+ $1 &* $2 }
        return [try Tensor(left.elementType, shape: call.shape(), integers: values)]
    }

    /// The shape of a matrix product; axes in front are batches and broadcast, a vector is a row or column that vanishes.
    static func productShape(_ call: ShapeCall, _ left: Int, _ right: Int) throws(ModelError) -> [Dimension]? {
        guard var first = call.shape(left), var second = call.shape(right) else { return nil }
        guard !first.isEmpty && !second.isEmpty else { throw .damaged("a scalar is no matrix") }
        let (isRow, isColumn) = (first.count == 1, second.count == 1)
        if isRow { first.insert(.known(1), at: 0) }
        if isColumn { second.append(.known(1)) }
        try Shapes.same(first[first.count - 1], second[second.count - 2], "columns and rows of the factors")
        let batches = try Shapes.broadcast(Array(first.dropLast(2)), Array(second.dropLast(2)))
        return batches + (isRow ? [] : [first[first.count - 2]]) + (isColumn ? [] : [second[second.count - 1]])
    }

    private static let gemm = OperatorDefinition(
        "Gemm", versions: [1, 6, 7, 9, 11, 13], inputs: 2...3, types: [.numeric, .first],
        attributes: ["alpha": .float, "beta": .float, "transA": .int, "transB": .int, "broadcast": .int],
        infer: { call throws(ModelError) in
            try Shapes.expect(call, 0, rank: 2...2)
            try Shapes.expect(call, 1, rank: 2...2)
            guard let a = call.shape(0), let b = call.shape(1) else {
                return [TensorType(call.elementType(), Shapes.unknown(rank: 2))]
            }
            let isFirst = call.node.int("transA") ?? 0 != 0
            let isSecond = call.node.int("transB") ?? 0 != 0
            try Shapes.same(a[isFirst ? 0 : 1], b[isSecond ? 1 : 0], "columns and rows of the factors")
            let shape = [a[isFirst ? 1 : 0], b[isSecond ? 0 : 1]]
            if call.has(2), let c = call.shape(2) {
                guard try Shapes.broadcast(shape, c).count == 2 else {
                    throw .damaged("what is added has \(c.count) axes")
                }
                for (one, other) in zip(c.reversed(), shape.reversed()) where one != .known(1) {
                    try Shapes.same(one, other, "the product and what is added")
                }
            }
            return [TensorType(call.elementType(), shape)]
        }
    ) { call throws(ModelError) in
        var (a, b) = (call.tensor(0), call.tensor(1))
        if call.node.int("transA") ?? 0 != 0 { a = try a.transposed([1, 0]) }
        if call.node.int("transB") ?? 0 != 0 { b = try b.transposed([1, 0]) }
        let alpha = call.node.float("alpha") ?? 1
        var values = MatrixProduct(a.shape, b.shape).run(a.doubles(), b.doubles(), zero: 0) { $0 + $1 * $2 }
        for index in values.indices { values[index] *= alpha }
        if let c = call.optional(2) {
            let beta = call.node.float("beta") ?? 1
            for (index, value) in try c.broadcast(to: call.shape()).doubles().enumerated() {
                values[index] += beta * value
            }
        }
        return [try Tensor(call.elementType, shape: call.shape(), doubles: values)]
    }

    /// By elimination with the largest pivot of each column.
    private static let determinant = OperatorDefinition(
        "Det", versions: [11], types: [.floats],
        infer: { call throws(ModelError) in
            try Shapes.expect(call, 0, rank: 2...Int.max)
            guard let shape = call.shape() else { return [TensorType(call.elementType(), nil)] }
            try Shapes.same(shape[shape.count - 1], shape[shape.count - 2], "rows and columns")
            return [TensorType(call.elementType(), shape.dropLast(2))]
        }
    ) { call throws(ModelError) in
        let size = call.tensor().shape.last ?? 0
        let values = call.tensor().doubles()
        let count = try Extents.count(call.shape())
        let results = (0..<count).map { matrix -> Double in
            var rows = (0..<size).map {
                Array(values[((matrix * size + $0) * size)..<((matrix * size + $0 + 1) * size)])
            }
            var result = 1.0
            for column in 0..<size {
                guard let pivot = (column..<size).max(by: { abs(rows[$0][column]) < abs(rows[$1][column]) }),
                    rows[pivot][column] != 0
                else { return 0 }
                if pivot != column {
                    rows.swapAt(pivot, column)
                    result = -result
                }
                result *= rows[column][column]
                for row in (column + 1)..<max(size, column + 1) {
                    let factor = rows[row][column] / rows[column][column]
                    for place in column..<size { rows[row][place] -= factor * rows[column][place] }
                }
            }
            return result
        }
        return [try Tensor(call.elementType, shape: call.shape(), doubles: results)]
    }
}

/// Products of matrices, or of stacks of them that broadcast against each other.
struct MatrixProduct {
    let rows: Int
    let inner: Int
    let columns: Int
    /// Offsets of the factors by batch.
    let lefts: [Int]
    let rights: [Int]

    /// The shapes fit together.
    init(_ left: [Int], _ right: [Int]) {
        rows = left.count == 1 ? 1 : left[left.count - 2]
        inner = left[left.count - 1]
        columns = right.count == 1 ? 1 : right[right.count - 1]
        let (first, second) = (Array(left.dropLast(2)), Array(right.dropLast(2)))
        let rank = max(first.count, second.count)
        let batches = (0..<rank).map { axis in
            let one = axis < rank - first.count ? 1 : first[axis - (rank - first.count)]
            let other = axis < rank - second.count ? 1 : second[axis - (rank - second.count)]
            return one == 1 ? other : one
        }
        let (leftSize, rightSize) = (rows * inner, inner * columns)
        lefts = Extents.offsets(batches, strides: Extents.broadcastStrides(first, to: batches)).map { $0 * leftSize }
        rights = Extents.offsets(batches, strides: Extents.broadcastStrides(second, to: batches)).map { $0 * rightSize }
    }

    /// The product; `add` is the sum of its first and the product of its others.
    @inline(__always)
    func run<Value: BitwiseCopyable>(
        _ left: [Value], _ right: [Value], zero: Value, _ add: (Value, Value, Value) -> Value
    ) -> [Value] {
        var result = [Value](repeating: zero, count: lefts.count * rows * columns)
        result.withUnsafeMutableBufferPointer { result in
            left.withUnsafeBufferPointer { left in
                right.withUnsafeBufferPointer { right in
                    for batch in lefts.indices {
                        for row in 0..<rows {
                            let target = (batch * rows + row) * columns
                            for place in 0..<inner {
                                let factor = left[lefts[batch] + row * inner + place]
                                let source = rights[batch] + place * columns
                                for column in 0..<columns {
                                    result[target + column] = add(
                                        result[target + column], factor, right[source + column])
                                }
                            }
                        }
                    }
                }
            }
        }
        return result
    }
}
