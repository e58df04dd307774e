extension Operators {
    static let generation: [OperatorDefinition] = [constant, constantOfShape, range, eyeLike]

    private static let constant = OperatorDefinition(
        "Constant", versions: [1, 9, 11, 12, 13, 19, 21], inputs: 0...0,
        attributes: [
            "value": .tensor, "value_float": .float, "value_floats": .floats, "value_int": .int, "value_ints": .ints,
            "value_string": .string, "value_strings": .strings,
        ],
        infer: { call throws(ModelError) in
            let value = try constantValue(call.node)
            return [TensorType(value.elementType, extents: value.shape)]
        }
    ) { call throws(ModelError) in [try constantValue(call.node)] }

    private static func constantValue(_ node: Node) throws(ModelError) -> Tensor {
        guard node.attributes.count == 1, let value = node.attributes.values.first else {
            throw .damaged("it has \(node.attributes.count) values")
        }
        switch value {
        case .tensor(let tensor): return tensor
        case .float(let value): return try Tensor(.float32, shape: [], elements: [value])
        case .floats(let values): return try Tensor(.float32, shape: [values.count], elements: values)
        case .int(let value): return try Tensor(indices: [value], shape: [])
        case .ints(let values): return try Tensor(indices: values)
        case .string(let value): return try Tensor(strings: [value], shape: [])
        case .strings(let values): return try Tensor(strings: values, shape: [values.count])
        case .graph: throw .damaged("its value is a graph")
        }
    }

    private static let constantOfShape = OperatorDefinition(
        "ConstantOfShape", versions: [9, 20, 21], types: [.int64], attributes: ["value": .tensor],
        infer: { call throws(ModelError) in
            let value = call.node.tensor("value")
            if let value, value.count != 1 { throw .damaged("its value has \(value.count) elements") }
            let type = value?.elementType ?? .float32
            guard let extents = call.extents(0) ?? call.indices(0)?.map({ .known($0) }) else {
                let rank = call.shape()?.first?.extent
                return [TensorType(type, rank.flatMap { $0 <= 64 ? Shapes.unknown(rank: $0) : nil })]
            }
            _ = try Extents.count(extents.compactMap(\.extent))
            return [TensorType(type, extents)]
        }
    ) { call throws(ModelError) in
        let value = if let named = call.node.tensor("value") { named } else { try Tensor(.float32, shape: []) }
        return [try Tensor.filled(with: value, shape: call.shape())]
    }

    private static let range = OperatorDefinition(
        "Range", versions: [11], inputs: 3...3, types: [.numeric, .first], attributes: ["stash_type": .int],
        infer: { call throws(ModelError) in
            for input in 0..<3 {
                if let count = call.value(input)?.count, count != 1 {
                    throw .damaged("input \(input) has \(count) elements")
                }
            }
            guard let start = call.value(0), let limit = call.value(1), let step = call.value(2) else {
                return [TensorType(call.elementType(), [.unknown])]
            }
            return [TensorType(call.elementType(), extents: [try rangeCount(start, limit, step)])]
        }
    ) { call throws(ModelError) in
        let count = call.shape()[0]
        if call.elementType.isFloat {
            let (start, step) = (call.tensor(0).doubles()[0], call.tensor(2).doubles()[0])
            let values = (0..<count).map { start + Double($0) * step }
            return [try Tensor(call.elementType, shape: [count], doubles: values)]
        }
        let (start, step) = (call.tensor(0).integers()[0], call.tensor(2).integers()[0])
        return [try Tensor(call.elementType, shape: [count], integers: (0..<count).map { start &+ Int64($0) &* step })]
    }

    private static func rangeCount(_ start: Tensor, _ limit: Tensor, _ step: Tensor) throws(ModelError) -> Int {
        let width = step.doubles()[0]
        guard width != 0 && !width.isNaN else { throw .damaged("its step is \(width)") }
        let count = ((limit.doubles()[0] - start.doubles()[0]) / width).rounded(.up)
        guard count < 0x1p62 else { throw .tooLarge("it has \(count) elements") }
        return max(Int(clampingTruncated: count), 0)
    }

    private static let eyeLike = OperatorDefinition(
        "EyeLike", versions: [9], types: [.fixedSize], attributes: ["dtype": .int, "k": .int],
        infer: { call throws(ModelError) in
            try Shapes.expect(call, 0, rank: 2...2)
            let type = try call.node.int("dtype").map { number throws(ModelError) in try elementType(number) }
            return [TensorType(type ?? call.elementType(), call.shape())]
        }
    ) { call throws(ModelError) in
        let shape = call.shape()
        let shift = call.node.int("k") ?? 0
        let values = (0..<(try Extents.count(shape))).map { Int64($0 % shape[1] &- $0 / shape[1] == shift ? 1 : 0) }
        return [try Tensor(call.elementType, shape: shape, integers: values)]
    }
}
