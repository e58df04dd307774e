extension Operators {
    static let arrangement: [OperatorDefinition] =
        [reshape, flatten, squeeze, unsqueeze, identity, dropout, shapeOf, size] + moving + slicing + padding

    // MARK: The same elements under another shape

    private static let reshape = OperatorDefinition(
        "Reshape", versions: [1, 5, 13, 14, 19, 21], inputs: 1...2, types: [.all, .int64],
        attributes: ["shape": .ints, "allowzero": .int, "consumed_inputs": .ints], infer: reshapeShape,
        extents: { $0.extents(0) }
    ) { call throws(ModelError) in [try call.tensor().reshaped(call.shape())] }

    @Sendable private static func reshapeShape(_ call: ShapeCall) throws(ModelError) -> [TensorType] {
        let type = call.elementType()
        let listed = call.node.ints("shape").map { $0.map { Dimension.known($0) } }
        guard call.version >= 5 || listed != nil else { throw .damaged("it has no shape") }
        guard let wanted = call.version < 5 ? listed : call.extents(1) ?? call.indices(1)?.map({ .known($0) }) else {
            guard call.version < 5 || call.has(1) else { throw .damaged("it has no shape") }
            let rank = call.shape(1)?.first?.extent
            return [TensorType(type, rank.flatMap { $0 >= 0 && $0 <= 64 ? Shapes.unknown(rank: $0) : nil })]
        }
        guard let input = call.shape(0) else {
            return [TensorType(type, wanted.map { ($0.extent ?? -1) > 0 ? $0 : .unknown })]
        }
        let keepsZero = call.node.int("allowzero") == 1
        var shape: [Dimension] = []
        var free: Int?
        for (axis, extent) in wanted.enumerated() {
            switch extent {
            case .known(0) where !keepsZero:
                guard axis < input.count else { throw .damaged("it keeps axis \(axis) of \(input.count)") }
                shape.append(input[axis])
            case .known(-1):
                guard free == nil else { throw .damaged("it leaves two extents open") }
                free = axis
                shape.append(.known(1))
            case .known(let extent) where extent < 0: throw .damaged("it asks for the extent \(extent)")
            default: shape.append(extent)
            }
        }
        if let free { shape[free] = try quotient(input, shape) }
        if let before = try Shapes.product(input).extent, let after = try Shapes.product(shape).extent, before != after
        {
            throw .damaged("\(before) elements do not fill the shape \(shape)")
        }
        return [TensorType(type, shape)]
    }

    /// The extent that is left when the elements of `all` are divided among `part`.
    private static func quotient(_ all: [Dimension], _ part: [Dimension]) throws(ModelError) -> Dimension {
        var rest = all
        var divisor: [Dimension] = []
        for dimension in part {
            if dimension.extent == nil, dimension != .unknown, let index = rest.firstIndex(of: dimension) {
                rest.remove(at: index)
            } else {
                divisor.append(dimension)
            }
        }
        guard let count = try Shapes.product(divisor).extent else { return .unknown }
        let product = try Shapes.product(rest)
        guard let elements = product.extent else { return count == 1 ? product : .unknown }
        guard count > 0, elements % count == 0 else {
            throw .damaged("\(elements) elements cannot be divided into parts of \(count)")
        }
        return .known(elements / count)
    }

    private static let flatten = OperatorDefinition(
        "Flatten", versions: [1, 9, 11, 13, 21], types: [.all], attributes: ["axis": .int],
        infer: { call throws(ModelError) in
            guard let shape = call.shape() else { return [TensorType(call.elementType(), Shapes.unknown(rank: 2))] }
            let axis = call.node.int("axis") ?? 1
            let split = axis < 0 ? axis + shape.count : axis
            guard split >= 0 && split <= shape.count else { throw .damaged("there is no axis \(axis)") }
            return [
                TensorType(
                    call.elementType(),
                    [try Shapes.product(shape[..<split]), try Shapes.product(shape[split...])])
            ]
        }
    ) { call throws(ModelError) in [try call.tensor().reshaped(call.shape())] }

    private static let squeeze = OperatorDefinition(
        "Squeeze", versions: [1, 11, 13, 21], inputs: 1...2, types: [.all, .int64], attributes: ["axes": .ints],
        infer: { call throws(ModelError) in
            guard let shape = call.shape() else { return [TensorType(call.elementType(), nil)] }
            let (isKnown, list) = call.list("axes", input: 1)
            guard isKnown else { return [TensorType(call.elementType(), nil)] }
            guard let list else {
                if shape.contains(where: { $0.extent == nil }) { return [TensorType(call.elementType(), nil)] }
                return [TensorType(call.elementType(), shape.filter { $0 != .known(1) })]
            }
            let axes = try call.axes(list, rank: shape.count)
            for axis in axes { try Shapes.same(shape[axis], .known(1), "an axis that is taken away") }
            let left = shape.indices.filter { !axes.contains($0) }.map { shape[$0] }
            return [TensorType(call.elementType(), left)]
        }, extents: { $0.extents(0) }
    ) { call throws(ModelError) in [try call.tensor().reshaped(call.shape())] }

    private static let unsqueeze = OperatorDefinition(
        "Unsqueeze", versions: [1, 11, 13, 21], inputs: 1...2, types: [.all, .int64], attributes: ["axes": .ints],
        infer: { call throws(ModelError) in
            let (isKnown, list) = call.list("axes", input: 1)
            guard let shape = call.shape(), isKnown else { return [TensorType(call.elementType(), nil)] }
            guard let list else { throw .damaged("it names no axes") }
            let axes = try call.axes(list, rank: shape.count + list.count)
            var rest = shape[...]
            let result = (0..<(shape.count + axes.count)).map {
                axes.contains($0) ? .known(1) : rest.removeFirst()
            }
            return [TensorType(call.elementType(), result)]
        }, extents: { call in (call.shape()?.count ?? 2) == 0 ? call.extents(0) : nil }
    ) { call throws(ModelError) in [try call.tensor().reshaped(call.shape())] }

    private static let identity = OperatorDefinition(
        "Identity", versions: [1, 13, 14, 16, 19, 21], types: [.all], extents: { $0.extents(0) }
    ) { call in [call.tensor()] }

    /// As at inference: everything passes. Training mode draws random numbers and is refused.
    private static let dropout = OperatorDefinition(
        "Dropout", versions: [1, 6, 7, 10, 12, 13], inputs: 1...3, outputs: 1...2, types: [.floats, .floats, .bool],
        attributes: ["ratio": .float, "is_test": .int, "seed": .int, "consumed_inputs": .ints],
        infer: { call in
            // Before version 10 the mask had the element type of the data.
            let mask = TensorType(call.version < 10 ? call.elementType() : .bool, call.shape())
            return [TensorType(call.elementType(), call.shape()), mask]
        }
    ) { call throws(ModelError) in
        let input = call.tensor()
        let ratio = call.optional(1)?.doubles().first ?? 0.5
        guard call.optional(2)?.flags().first != true || ratio == 0 else {
            throw .unsupported(["operator Dropout in training mode"])
        }
        let mask = [Int64](repeating: 1, count: input.count)
        return [input, try Tensor(call.outputTypes[1].elementType, shape: input.shape, integers: mask)]
    }

    // MARK: Shapes as values

    private static let shapeOf = OperatorDefinition(
        "Shape", versions: [1, 13, 15, 19, 21], types: [.all], attributes: ["start": .int, "end": .int],
        infer: { call in
            [TensorType(.int64, [part(call).map { .known($0.count) } ?? .unknown])]
        }, extents: { part($0) }
    ) { call throws(ModelError) in
        let shape = call.tensor().shape
        return [try Tensor(indices: Array(shape[range(call.node, rank: shape.count)]))]
    }

    private static func part(_ call: ShapeCall) -> [Dimension]? {
        call.shape().map { Array($0[range(call.node, rank: $0.count)]) }
    }

    private static func range(_ node: Node, rank: Int) -> Range<Int> {
        func clamped(_ bound: Int) -> Int { min(max(bound < 0 ? bound &+ rank : bound, 0), rank) }
        let start = clamped(node.int("start") ?? 0)
        return start..<max(start, clamped(node.int("end") ?? rank))
    }

    private static let size = OperatorDefinition(
        "Size", versions: [1, 13, 19, 21], types: [.all], infer: { _ in [TensorType(.int64, [])] },
        extents: { call in
            guard let shape = call.shape(), let product = try? Shapes.product(shape) else { return nil }
            return [product]
        }
    ) { call throws(ModelError) in [try Tensor(indices: [call.tensor().count], shape: [])] }
}
