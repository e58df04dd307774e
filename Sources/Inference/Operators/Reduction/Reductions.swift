import Foundation

extension Operators {
    static let reduction: [OperatorDefinition] =
        [
            reduce("ReduceSum", [1, 11, 13]) {
                $0.reduce(0, +)
            } integers: {
                $0.reduce(0, &+)
            },
            reduce("ReduceProd", [1, 11, 13, 18]) {
                $0.reduce(1, *)
            } integers: {
                $0.reduce(1, &*)
            },
            reduce("ReduceMean", [1, 11, 13, 18]) {
                $0.reduce(0, +) / Double($0.count)
            } integers: {
                $0.isEmpty ? 0 : $0.reduce(0, &+) / Int64($0.count)
            },
            reduce("ReduceMax", [1, 11, 12, 13, 18, 20], types: .fixedSize) { values in
                values.contains(where: \.isNaN) ? .nan : values.max() ?? -.infinity
            } integers: {
                $0.max() ?? .min
            },
            reduce("ReduceMin", [1, 11, 12, 13, 18, 20], types: .fixedSize) { values in
                values.contains(where: \.isNaN) ? .nan : values.min() ?? .infinity
            } integers: {
                $0.min() ?? .max
            },
            reduce("ReduceL1", [1, 11, 13, 18]) {
                $0.reduce(0) { $0 + abs($1) }
            } integers: {
                $0.reduce(0) { $0 &+ ($1 < 0 ? 0 &- $1 : $1) }
            },
            reduce("ReduceL2", [1, 11, 13, 18]) { $0.reduce(0) { $0 + $1 * $1 }.squareRoot() },
            reduce("ReduceSumSquare", [1, 11, 13, 18]) {
                $0.reduce(0) { $0 + $1 * $1 }
            } integers: {
                $0.reduce(0) { $0 &+ $1 &* $1 }
            },
            reduce("ReduceLogSum", [1, 11, 13, 18]) { log($0.reduce(0, +)) },
            reduce("ReduceLogSumExp", [1, 11, 13, 18]) { values in
                let peak = values.max() ?? -.infinity
                if !peak.isFinite { return peak }
                return peak + log(values.reduce(0) { $0 + exp($1 - peak) })
            },
            argument("ArgMax", isBetter: { $0 > $1 }), argument("ArgMin", isBetter: { $0 < $1 }), cumulativeSum,
        ] + softmaxes + losses

    // MARK: Reduction of axes

    /// Without an exact form for integers, they are computed as floats.
    private static func reduce(
        _ name: String, _ versions: [Int], types: ElementRule = .numeric,
        floats: @escaping @Sendable ([Double]) -> Double, integers: (@Sendable ([Int64]) -> Int64)? = nil
    ) -> OperatorDefinition {
        OperatorDefinition(
            name, versions: versions, inputs: 1...2, types: [types, .int64],
            attributes: ["axes": .ints, "keepdims": .int, "noop_with_empty_axes": .int], infer: reducedShape
        ) { call throws(ModelError) in
            let input = call.tensor()
            guard let axes = try reducedAxes(call.node, call.list("axes", input: 1), rank: input.shape.count) else {
                return [input]
            }
            let (outer, inner) = reducedOffsets(input.shape, axes)
            if let integers, !input.elementType.isFloat && input.elementType != .uint64 {
                let values = input.integers()
                return [
                    try Tensor(
                        input.elementType, shape: call.shape(),
                        integers: outer.map { start in
                            // The neutral elements of narrower types are theirs, not those of 64 bits.
                            inner.isEmpty
                                ? emptyReduction(name, input.elementType) ?? integers([])
                                : integers(inner.map { values[start + $0] })
                        })
                ]
            }
            let values = input.doubles()
            let results = outer.map { start in floats(inner.map { values[start + $0] }) }
            return [try Tensor(input.elementType, shape: call.shape(), doubles: results)]
        }
    }

    private static func emptyReduction(_ name: String, _ type: ElementType) -> Int64? {
        guard name == "ReduceMax" || name == "ReduceMin" else { return nil }
        let bits = Int64(type.byteCount * 8)
        if type == .bool { return name == "ReduceMax" ? 0 : 1 }
        if ElementType.unsigned.contains(type) { return name == "ReduceMax" ? 0 : (1 << bits) - 1 }
        if bits == 64 { return nil }
        return name == "ReduceMax" ? -(1 << (bits - 1)) : (1 << (bits - 1)) - 1
    }

    /// Nil where nothing is reduced.
    private static func reducedAxes(_ node: Node, _ list: [Int]?, rank: Int) throws(ModelError) -> [Int]? {
        guard let list, !list.isEmpty else {
            return node.int("noop_with_empty_axes") == 1 ? nil : Array(0..<rank)
        }
        var axes: Set<Int> = []
        for axis in list {
            guard axis >= -rank && axis < rank else { throw .damaged("there is no axis \(axis) among \(rank)") }
            axes.insert(axis < 0 ? axis + rank : axis)
        }
        return axes.sorted()
    }

    @Sendable private static func reducedShape(_ call: ShapeCall) throws(ModelError) -> [TensorType] {
        guard let shape = call.shape() else { return [TensorType(call.elementType(), nil)] }
        let keeps = (call.node.int("keepdims") ?? 1) != 0
        let (isKnown, list) = call.list("axes", input: 1)
        guard isKnown else {
            return [TensorType(call.elementType(), keeps ? Shapes.unknown(rank: shape.count) : nil)]
        }
        guard let axes = try reducedAxes(call.node, list, rank: shape.count) else { return try Shapes.likeFirst(call) }
        return [TensorType(call.elementType(), reduced(shape, axes, keeps: keeps))]
    }

    static func reduced(_ shape: [Dimension], _ axes: [Int], keeps: Bool) -> [Dimension] {
        shape.indices.compactMap { axes.contains($0) ? (keeps ? .known(1) : nil) : shape[$0] }
    }

    /// Offsets of the first elements of what is reduced, in the order of the results, and offsets within.
    static func reducedOffsets(_ shape: [Int], _ axes: [Int]) -> (outer: [Int], inner: [Int]) {
        let strides = Extents.strides(shape)
        let kept = shape.indices.filter { !axes.contains($0) }
        return (
            Extents.offsets(kept.map { shape[$0] }, strides: kept.map { strides[$0] }),
            Extents.offsets(axes.map { shape[$0] }, strides: axes.map { strides[$0] })
        )
    }

    // MARK: Positions of extremes

    private static func argument(
        _ name: String, isBetter: @escaping @Sendable (Double, Double) -> Bool
    ) -> OperatorDefinition {
        OperatorDefinition(
            name, versions: [1, 11, 12, 13], types: [.numeric],
            attributes: ["axis": .int, "keepdims": .int, "select_last_index": .int],
            infer: { call throws(ModelError) in
                guard let shape = call.shape() else { return [TensorType(.int64, nil)] }
                let axis = try call.axis(call.node.int("axis") ?? 0, rank: shape.count)
                if shape[axis].extent == 0 { throw .damaged("an empty axis has no extreme") }
                return [TensorType(.int64, reduced(shape, [axis], keeps: (call.node.int("keepdims") ?? 1) != 0))]
            }
        ) { call throws(ModelError) in
            let input = call.tensor()
            let (outer, inner) = reducedOffsets(input.shape, [call.axis()])
            let values = input.doubles()
            let takesLast = call.node.int("select_last_index") == 1
            let results = outer.map { start in
                var best = 0
                for place in inner.indices.dropFirst() {
                    let (new, old) = (values[start + inner[place]], values[start + inner[best]])
                    if isBetter(new, old) || takesLast && new == old { best = place }
                }
                return best
            }
            return [try Tensor(indices: results, shape: call.shape())]
        }
    }

    private static let cumulativeSum = OperatorDefinition(
        "CumSum", versions: [11, 14], inputs: 2...2, types: [.numeric, .index],
        attributes: ["exclusive": .int, "reverse": .int],
        infer: { call throws(ModelError) in
            if let axis = call.indices(1), let rank = call.shape()?.count {
                guard axis.count == 1 else { throw .damaged("it sums along \(axis.count) axes") }
                _ = try call.axis(axis[0], rank: rank)
            }
            return try Shapes.likeFirst(call)
        }
    ) { call throws(ModelError) in
        let input = call.tensor()
        let named = call.tensor(1).indices()[0]
        let axis = named < 0 ? named + input.shape.count : named
        let (outer, extent, inner) = Extents.split(input.shape, at: axis)
        let isExclusive = call.node.int("exclusive") == 1
        let isReverse = call.node.int("reverse") == 1
        func summed<Value: AdditiveArithmetic>(_ values: [Value], _ add: (Value, Value) -> Value) -> [Value] {
            var result = values
            for block in 0..<outer {
                for place in 0..<inner {
                    var sum = Value.zero
                    for step in 0..<extent {
                        let row = isReverse ? extent - 1 - step : step
                        let index = (block * extent + row) * inner + place
                        let next = add(sum, values[index])
                        result[index] = isExclusive ? sum : next
                        sum = next
                    }
                }
            }
            return result
        }
        if input.elementType.isFloat {
            return [try Tensor(input.elementType, shape: input.shape, doubles: summed(input.doubles(), +))]
        }
        return [try Tensor(input.elementType, shape: input.shape, integers: summed(input.integers(), &+))]
    }
}
