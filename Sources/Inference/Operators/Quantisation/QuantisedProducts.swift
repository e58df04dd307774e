extension Operators {
    static let quantisedProducts: [OperatorDefinition] = [matMulInteger, qLinearMatMul, convInteger, qLinearConv]

    /// Values less their zero point, which is one for all or one by position of `axis`.
    private static func centred(_ tensor: Tensor, _ zero: Tensor?, axis: Int) throws(ModelError) -> [Double] {
        let values = tensor.doubles()
        guard let zero else { return values }
        let (points, numbers) = (zero.doubles(), try places(zero, on: tensor, axis: axis))
        return values.indices.map { values[$0] - points[numbers[$0]] }
    }

    /// For each element of `tensor`, which element of a list along `axis` holds for it; the list may have all axes but
    /// one of extent 1.
    private static func places(_ list: Tensor, on tensor: Tensor, axis: Int) throws(ModelError) -> [Int] {
        if list.count == 1 { return [Int](repeating: 0, count: tensor.count) }
        if list.shape.count > 1 {
            let offsets = try Tensor(indices: Array(0..<list.count), shape: list.shape)
            return try offsets.broadcast(to: tensor.shape).indices()
        }
        let position = axis < 0 ? max(axis + tensor.shape.count, 0) : axis
        let inner = Extents.strides(tensor.shape)[position]
        return (0..<tensor.count).map { $0 / inner % tensor.shape[position] }
    }

    /// Scales and zero points of a factor: one, as many as rows or columns, or a shape that broadcasts.
    private static func checkLists(
        _ call: ShapeCall, _ lists: [Int], of input: Int, axis: Int
    ) throws(ModelError) {
        guard let shape = call.shape(input) else { return }
        for list in lists where call.has(list) {
            guard let own = call.shape(list) else { continue }
            if own.isEmpty || own == [.known(1)] { continue }
            if own.count == 1 {
                let position = axis < 0 ? max(axis + shape.count, 0) : axis
                guard shape.indices.contains(position) else { throw .damaged("input \(list) has no place") }
                try Shapes.same(own[0], shape[position], "inputs \(input) and \(list)")
            } else {
                let joined = try Shapes.broadcast(shape, own)
                guard joined.count == shape.count else { throw .damaged("input \(list) has more axes than \(input)") }
                for (one, other) in zip(joined, shape) { try Shapes.same(one, other, "inputs \(input) and \(list)") }
            }
        }
    }

    private static func checkSingle(_ call: ShapeCall, _ inputs: Int...) throws(ModelError) {
        for input in inputs where call.has(input) {
            guard let shape = call.shape(input) else { continue }
            guard shape.isEmpty || shape == [.known(1)] || shape == [.unknown] else {
                throw .unsupported(["operator \(call.node.operatorName) with several values of input \(input)"])
            }
        }
    }

    // MARK: Matrices

    private static let matMulInteger = OperatorDefinition(
        "MatMulInteger", versions: [10], inputs: 2...4, types: [.bytes],
        infer: { call throws(ModelError) in
            try checkLists(call, [2], of: 0, axis: -2)
            try checkLists(call, [3], of: 1, axis: -1)
            return [TensorType(.int32, try productShape(call, 0, 1))]
        }
    ) { call throws(ModelError) in
        let (left, right) = (call.tensor(0), call.tensor(1))
        let values = MatrixProduct(left.shape, right.shape).run(
            try centred(left, call.optional(2), axis: -2), try centred(right, call.optional(3), axis: -1), zero: 0
        ) { $0 + $1 * $2 }
        return [try Tensor(.int32, shape: call.shape(), doubles: values)]
    }

    /// Inputs: a, its scale and zero point, b, its scale and zero point, scale and zero point of the result.
    private static let qLinearMatMul = OperatorDefinition(
        "QLinearMatMul", versions: [10, 21], inputs: 8...8,
        types: [.bytes, .floats, .bytes, .bytes, .floats, .bytes, .floats, .bytes],
        infer: { call throws(ModelError) in
            try checkLists(call, [1, 2], of: 0, axis: -2)
            try checkLists(call, [4, 5], of: 3, axis: -1)
            try checkSingle(call, 1, 4, 6, 7)
            return [TensorType(call.elementType(7), try productShape(call, 0, 3))]
        }
    ) { call throws(ModelError) in
        let (left, right) = (call.tensor(0), call.tensor(3))
        let sums = MatrixProduct(left.shape, right.shape).run(
            try centred(left, call.tensor(2), axis: -2), try centred(right, call.tensor(5), axis: -1), zero: 0
        ) { $0 + $1 * $2 }
        let scale = call.tensor(1).doubles()[0] * call.tensor(4).doubles()[0]
        let (resultScale, zero) = (call.tensor(6).doubles()[0], call.tensor(7).doubles()[0])
        return [
            try Tensor(
                call.elementType, shape: call.shape(),
                doubles: sums.map { quantise($0 * scale, scale: resultScale, zero: zero, call.elementType) })
        ]
    }

    // MARK: Convolutions

    private static let convInteger = OperatorDefinition(
        "ConvInteger", versions: [10], inputs: 2...4, types: [.bytes],
        attributes: windowAttributes.merging(["group": .int]) { $1 },
        infer: { call throws(ModelError) in
            try checkSingle(call, 2)
            try checkLists(call, [3], of: 1, axis: 0)
            return [TensorType(.int32, try convolutionShape(call, weights: 1, bias: nil))]
        }
    ) { call throws(ModelError) in
        let plan = try Convolution(call.node, input: call.tensor(0).shape, weights: call.tensor(1).shape)
        let values = plan.run(
            try centred(call.tensor(0), call.optional(2), axis: 0),
            try centred(call.tensor(1), call.optional(3), axis: 0), bias: nil)
        return [try Tensor(.int32, shape: call.shape(), doubles: values)]
    }

    /// Inputs: data, its scale and zero point, weights, theirs, scale and zero point of the result, bias.
    private static let qLinearConv = OperatorDefinition(
        "QLinearConv", versions: [10], inputs: 8...9,
        types: [.bytes, .floats, .bytes, .bytes, .floats, .bytes, .floats, .bytes, .only(.int32)],
        attributes: windowAttributes.merging(["group": .int]) { $1 },
        infer: { call throws(ModelError) in
            try checkSingle(call, 1, 2, 6, 7)
            // One for all filters, or one for each.
            for list in [4, 5] { try Shapes.expect(call, list, rank: 0...1) }
            try checkLists(call, [4, 5], of: 3, axis: 0)
            return [TensorType(call.elementType(7), try convolutionShape(call, weights: 3, bias: 8))]
        }
    ) { call throws(ModelError) in
        let (input, weights, shape) = (call.tensor(0), call.tensor(3), call.shape())
        let plan = try Convolution(call.node, input: input.shape, weights: weights.shape)
        let sums = plan.run(
            try centred(input, call.tensor(2), axis: 0), try centred(weights, call.tensor(5), axis: 0),
            bias: call.optional(8)?.doubles())
        let (inputScale, weightScales) = (call.tensor(1).doubles()[0], call.tensor(4).doubles())
        let (resultScale, zero) = (call.tensor(6).doubles()[0], call.tensor(7).doubles()[0])
        let inner = shape[2...].reduce(1, *)
        let results = sums.indices.map { index in
            let filter = index / inner % shape[1]
            let scale = inputScale * weightScales[weightScales.count == 1 ? 0 : filter]
            return quantise(sums[index] * scale, scale: resultScale, zero: zero, call.elementType)
        }
        return [try Tensor(call.elementType, shape: shape, doubles: results)]
    }
}
