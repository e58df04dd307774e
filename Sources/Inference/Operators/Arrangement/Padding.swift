extension Operators {
    static let padding: [OperatorDefinition] = [
        OperatorDefinition(
            "Pad", versions: [1, 2, 11, 13, 18, 19, 21], inputs: 1...4, types: [.all, .int64, .first, .index],
            attributes: ["pads": .ints, "paddings": .ints, "value": .float, "mode": .string], infer: padShape,
            evaluate: pad)
    ]

    /// Elements before and behind each axis, of the lists in attributes or inputs; nil where they are not known.
    static func pads(
        _ node: Node, _ list: [Int]?, axes: [Int]?, rank: Int
    ) throws(ModelError) -> (before: [Int], after: [Int])? {
        guard let list else { return nil }
        let axes = axes ?? Array(0..<rank)
        guard list.count == 2 * axes.count else {
            throw .damaged("\(list.count) pads are given for \(axes.count) axes")
        }
        guard list.allSatisfy({ $0.magnitude < 1 << 40 }) else { throw .tooLarge("its pads are \(list)") }
        var (before, after) = ([Int](repeating: 0, count: rank), [Int](repeating: 0, count: rank))
        for (index, axis) in axes.enumerated() {
            guard axis >= -rank && axis < rank else { throw .damaged("there is no axis \(axis) among \(rank)") }
            before[axis < 0 ? axis + rank : axis] = list[index]
            after[axis < 0 ? axis + rank : axis] = list[axes.count + index]
        }
        return (before, after)
    }

    @Sendable private static func padShape(_ call: ShapeCall) throws(ModelError) -> [TensorType] {
        let type = call.elementType()
        let mode = call.node.string("mode") ?? "constant"
        guard ["constant", "reflect", "edge", "wrap"].contains(mode) else {
            throw .damaged("there is no mode \"\(mode)\"")
        }
        guard let shape = call.shape() else { return [TensorType(type, nil)] }
        let list = call.node.ints("pads") ?? call.node.ints("paddings") ?? call.indices(1)
        guard list != nil || call.has(1) else { throw .damaged("it has no pads") }
        guard call.isKnownOrAbsent(3),
            let (before, after) = try pads(call.node, list, axes: call.indices(3), rank: shape.count)
        else { return [TensorType(type, Shapes.unknown(rank: shape.count))] }
        var result: [Dimension] = []
        for axis in shape.indices {
            guard let extent = shape[axis].extent else {
                result.append(before[axis] == 0 && after[axis] == 0 ? shape[axis] : .unknown)
                continue
            }
            let padded = try Shapes.sum([extent, before[axis], after[axis]])
            guard padded >= 0 else { throw .damaged("an axis of \(extent) is cut to \(padded)") }
            if extent == 0 && padded > 0 && mode != "constant" {
                throw .damaged("an empty axis has no elements to repeat")
            }
            result.append(.known(padded))
        }
        return [TensorType(type, result)]
    }

    @Sendable private static func pad(_ call: OperatorCall) throws(ModelError) -> [Tensor] {
        let (input, shape) = (call.tensor(), call.shape())
        let list = call.node.ints("pads") ?? call.node.ints("paddings") ?? call.optional(1)?.indices()
        guard
            let (before, _) = try pads(
                call.node, list, axes: call.optional(3)?.indices(), rank: input.shape.count)
        else { throw .damaged("it has no pads") }
        let mode = call.node.string("mode") ?? "constant"
        if mode == "constant" {
            var filler = call.optional(2)
            if let value = call.node.float("value") {
                filler = try Tensor(input.elementType, shape: [], doubles: [value])
            }
            return [try window(of: input, starts: before.map { -$0 }, shape: shape, filler: filler)]
        }
        let places = shape.indices.map { axis in
            (0..<shape[axis]).map { place($0 - before[axis], extent: input.shape[axis], mode: mode) }
        }
        let strides = Extents.strides(input.shape)
        let sources = (0..<(try Extents.count(shape))).map { number in
            let position = Extents.position(number, in: shape)
            return position.indices.reduce(0) { $0 + places[$1][position[$1]] * strides[$1] }
        }
        return [try input.gathered(sources, shape: shape)]
    }

    /// Which element stands for one outside `0 ..< extent`.
    private static func place(_ index: Int, extent: Int, mode: String) -> Int {
        switch mode {
        case "edge": return min(max(index, 0), extent - 1)
        case "wrap": return (index % extent + extent) % extent
        default:
            if extent == 1 { return 0 }
            let period = 2 * (extent - 1)
            let rest = (index % period + period) % period
            return rest < extent ? rest : period - rest
        }
    }
}
