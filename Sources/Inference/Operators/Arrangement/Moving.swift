extension Operators {
    static let moving: [OperatorDefinition] = [
        transpose, concat, split, expand, tile, depthToSpace, spaceToDepth, reverseSequence, triangle,
    ]

    private static let transpose = OperatorDefinition(
        "Transpose", versions: [1, 13, 21], types: [.all], attributes: ["perm": .ints],
        infer: { call throws(ModelError) in
            guard let shape = call.shape() else { return [TensorType(call.elementType(), nil)] }
            let order = call.node.ints("perm") ?? shape.indices.reversed()
            guard order.sorted() == Array(shape.indices) else {
                throw .damaged("\(order) is no order of \(shape.count) axes")
            }
            return [TensorType(call.elementType(), order.map { shape[$0] })]
        }
    ) { call throws(ModelError) in
        [try call.tensor().transposed(call.node.ints("perm") ?? call.tensor().shape.indices.reversed())]
    }

    private static let concat = OperatorDefinition(
        "Concat", versions: [1, 4, 11, 13], inputs: 1...Int.max, types: [.all, .first], attributes: ["axis": .int],
        infer: { call throws(ModelError) in
            // Version 1 had a default; later ones must name the axis.
            guard let wanted = call.node.int("axis") ?? (call.version == 1 ? 1 : nil) else {
                throw .damaged("it names no axis")
            }
            let shapes = call.facts.indices.compactMap { call.shape($0) }
            guard shapes.count == call.facts.count else { return [TensorType(call.elementType(), nil)] }
            guard shapes.allSatisfy({ $0.count == shapes[0].count }) else {
                throw .damaged("its inputs have different numbers of axes")
            }
            // One without elements may have any other extents where others have some, as in ONNX Runtime: that is how lists
            // begin to which more is joined.
            let filled = shapes.filter { !$0.contains(.known(0)) }
            var result: [Dimension]?
            for shape in filled.isEmpty ? shapes : filled {
                guard let before = result else {
                    result = shape
                    continue
                }
                let axis = try call.axis(wanted, rank: shape.count)
                var joined = before
                for other in shape.indices where other != axis {
                    joined[other] = try Shapes.same(before[other], shape[other], "axis \(other) of the inputs")
                }
                if let first = before[axis].extent, let second = shape[axis].extent {
                    joined[axis] = .known(try Shapes.sum([first, second]))
                } else {
                    joined[axis] = .unknown
                }
                result = joined
            }
            if let result { _ = try call.axis(wanted, rank: result.count) }
            return [TensorType(call.elementType(), result)]
        },
        extents: { call in
            var all: [Dimension] = []
            for input in call.facts.indices {
                guard call.shape(input)?.count == 1, let extents = call.extents(input) else { return nil }
                all += extents
            }
            return all
        }
    ) { call throws(ModelError) in
        let shape = call.shape()
        let axis = call.axis(default: 1)
        let (outer, extent, inner) = Extents.split(shape, at: axis)
        var sources = [Int](repeating: 0, count: outer * extent * inner)
        var (start, place) = (0, 0)
        let filled = call.given.filter { $0.count > 0 }
        for tensor in filled {
            let run = tensor.shape[axis] * inner
            for block in 0..<outer {
                for index in 0..<run { sources[block * extent * inner + place + index] = start + block * run + index }
            }
            start += tensor.count
            place += run
        }
        return [try Tensor.joined(filled).gathered(sources, shape: shape)]
    }

    // MARK: Split

    private static let split = OperatorDefinition(
        "Split", versions: [2, 11, 13, 18], inputs: 1...2, outputs: 1...Int.max, types: [.all, .int64],
        attributes: ["axis": .int, "split": .ints, "num_outputs": .int],
        infer: { call throws(ModelError) in
            let count = call.node.outputs.count
            let unknown = [TensorType](repeating: TensorType(call.elementType(), nil), count: count)
            guard let shape = call.shape() else { return unknown }
            let axis = try call.axis(call.node.int("axis") ?? 0, rank: shape.count)
            let (isKnown, list) = call.list("split", input: 1)
            guard let extent = shape[axis].extent, isKnown else {
                var part = shape
                part[axis] = .unknown
                return [TensorType](repeating: TensorType(call.elementType(), part), count: count)
            }
            let parts = if let list { list } else { try equalParts(extent, count, isLenient: call.version >= 18) }
            guard parts.count == count, parts.allSatisfy({ $0 >= 0 }), try Shapes.sum(parts) == extent else {
                throw .damaged("an extent of \(extent) cannot be split into \(parts) for \(count) outputs")
            }
            return parts.map {
                var part = shape
                part[axis] = .known($0)
                return TensorType(call.elementType(), part)
            }
        }
    ) { call throws(ModelError) in
        let input = call.tensor()
        let axis = call.axis()
        var start = 0
        var results: [Tensor] = []
        for output in call.outputTypes.indices {
            let shape = call.shape(output)
            let strides = Extents.strides(input.shape)
            let sources = Extents.offsets(shape, strides: strides, start: start * strides[axis])
            results.append(try input.gathered(sources, shape: shape))
            start += shape[axis]
        }
        return results
    }

    /// From version 18 on the last part may be smaller.
    private static func equalParts(_ extent: Int, _ count: Int, isLenient: Bool) throws(ModelError) -> [Int] {
        guard isLenient || extent % count == 0 else {
            throw .damaged("an extent of \(extent) cannot be split into \(count) equal parts")
        }
        guard extent < 1 << 62 else { throw .tooLarge("an extent of \(extent) cannot be split") }
        let size = (extent + count - 1) / count
        return (0..<count).map { min(size, max(extent - $0 * size, 0)) }
    }

    // MARK: Repetition

    private static let expand = OperatorDefinition(
        "Expand", versions: [8, 13], inputs: 2...2, types: [.all, .int64],
        infer: { call throws(ModelError) in
            guard let shape = call.shape() else { return [TensorType(call.elementType(), nil)] }
            guard let target = call.extents(1) ?? call.indices(1)?.map({ .known($0) }) else {
                let rank = call.shape(1)?.first?.extent
                guard let rank, rank >= 0 && rank <= 64 else { return [TensorType(call.elementType(), nil)] }
                return [TensorType(call.elementType(), Shapes.unknown(rank: max(rank, shape.count)))]
            }
            if let extent = target.compactMap(\.extent).first(where: { $0 < 0 }) {
                throw .damaged("it asks for the extent \(extent)")
            }
            return [TensorType(call.elementType(), try Shapes.broadcast(shape, target))]
        }
    ) { call throws(ModelError) in [try call.tensor().broadcast(to: call.shape())] }

    private static let tile = OperatorDefinition(
        "Tile", versions: [6, 13], inputs: 2...2, types: [.all, .int64],
        infer: { call throws(ModelError) in
            guard let shape = call.shape() else { return [TensorType(call.elementType(), nil)] }
            guard let repeats = call.indices(1) else {
                return [TensorType(call.elementType(), Shapes.unknown(rank: shape.count))]
            }
            guard repeats.count == shape.count, repeats.allSatisfy({ $0 >= 0 }) else {
                throw .damaged("\(repeats) does not repeat \(shape.count) axes")
            }
            let result = try zip(shape, repeats).map { extent, count throws(ModelError) in
                try Shapes.product([extent, .known(count)])
            }
            return [TensorType(call.elementType(), result)]
        }
    ) { call throws(ModelError) in
        let input = call.tensor()
        let strides = Extents.strides(input.shape)
        let shape = call.shape()
        let sources = (0..<(try Extents.count(shape))).map { number in
            let position = Extents.position(number, in: shape)
            return position.indices.reduce(0) { $0 + position[$1] % input.shape[$1] * strides[$1] }
        }
        return [try input.gathered(sources, shape: shape)]
    }

    // MARK: Blocks

    private static let depthToSpace = OperatorDefinition(
        "DepthToSpace", versions: [1, 11, 13], types: [.all], attributes: ["blocksize": .int, "mode": .string],
        infer: { call throws(ModelError) in
            let block = try blockSize(call)
            try Shapes.expect(call, 0, rank: 4...4)
            guard let shape = call.shape() else { return [TensorType(call.elementType(), Shapes.unknown(rank: 4))] }
            var result = shape
            if let channels = shape[1].extent {
                guard channels % (block * block) == 0 else {
                    throw .damaged("\(channels) channels are no blocks of \(block) × \(block)")
                }
                result[1] = .known(channels / (block * block))
            } else {
                result[1] = .unknown
            }
            for axis in 2...3 { result[axis] = try Shapes.product([shape[axis], .known(block)]) }
            return [TensorType(call.elementType(), result)]
        }
    ) { call throws(ModelError) in
        let (input, shape) = (call.tensor(), call.shape())
        let block = call.node.int("blocksize") ?? 1
        let isColumnRowDepth = call.node.string("mode") == "CRD"
        let (n, c, h, w) = (shape[0], shape[1], input.shape[2], input.shape[3])
        let parts = isColumnRowDepth ? [n, c, block, block, h, w] : [n, block, block, c, h, w]
        let order = isColumnRowDepth ? [0, 1, 4, 2, 5, 3] : [0, 3, 4, 1, 5, 2]
        return [try input.reshaped(parts).transposed(order).reshaped(shape)]
    }

    private static let spaceToDepth = OperatorDefinition(
        "SpaceToDepth", versions: [1, 13], types: [.all], attributes: ["blocksize": .int, "mode": .string],
        infer: { call throws(ModelError) in
            let block = try blockSize(call)
            if let mode = call.node.string("mode"), !["DCR", "CRD"].contains(mode) {
                throw .unsupported(["mode \"\(mode)\" of SpaceToDepth"])
            }
            try Shapes.expect(call, 0, rank: 4...4)
            guard let shape = call.shape() else { return [TensorType(call.elementType(), Shapes.unknown(rank: 4))] }
            var result = shape
            result[1] = try Shapes.product([shape[1], .known(block * block)])
            for axis in 2...3 {
                guard let extent = shape[axis].extent else {
                    result[axis] = .unknown
                    continue
                }
                guard extent % block == 0 else { throw .damaged("\(extent) rows or columns are no blocks of \(block)") }
                result[axis] = .known(extent / block)
            }
            return [TensorType(call.elementType(), result)]
        }
    ) { call throws(ModelError) in
        let (input, shape) = (call.tensor(), call.shape())
        let block = call.node.int("blocksize") ?? 1
        let parts = [input.shape[0], input.shape[1], shape[2], block, shape[3], block]
        let order = call.node.string("mode") == "CRD" ? [0, 1, 3, 5, 2, 4] : [0, 3, 5, 1, 2, 4]
        return [try input.reshaped(parts).transposed(order).reshaped(shape)]
    }

    private static func blockSize(_ call: ShapeCall) throws(ModelError) -> Int {
        guard let block = call.node.int("blocksize"), block > 0, block < 1 << 16 else {
            throw .damaged("it has no size of blocks")
        }
        return block
    }

    // MARK: Others

    private static let reverseSequence = OperatorDefinition(
        "ReverseSequence", versions: [10], inputs: 2...2, types: [.all, .int64],
        attributes: ["time_axis": .int, "batch_axis": .int],
        infer: { call throws(ModelError) in
            let (time, batch) = (call.node.int("time_axis") ?? 0, call.node.int("batch_axis") ?? 1)
            guard Set([time, batch]) == [0, 1] else { throw .damaged("its axes are \(time) and \(batch)") }
            try Shapes.expect(call, 0, rank: 2...Int.max)
            try Shapes.expect(call, 1, rank: 1...1)
            if let shape = call.shape(), let lengths = call.shape(1) {
                try Shapes.same(shape[batch], lengths[0], "sequences and lengths")
            }
            return try Shapes.likeFirst(call)
        }
    ) { call throws(ModelError) in
        let input = call.tensor()
        let time = call.node.int("time_axis") ?? 0
        let lengths = call.tensor(1).indices()
        guard lengths.allSatisfy({ $0 >= 0 && $0 <= input.shape[time] }) else {
            throw .wrongValue("a length is not between 0 and \(input.shape[time])")
        }
        let strides = Extents.strides(input.shape)
        let sources = (0..<input.count).map { number in
            let position = Extents.position(number, in: input.shape)
            let length = lengths[position[1 - time]]
            return position[time] < length
                ? number + (length - 1 - 2 * position[time]) * strides[time] : number
        }
        return [try input.gathered(sources, shape: input.shape)]
    }

    /// The upper or lower triangle of matrices, zero elsewhere.
    private static let triangle = OperatorDefinition(
        "Trilu", versions: [14], inputs: 1...2, types: [.fixedSize, .int64], attributes: ["upper": .int],
        infer: { call throws(ModelError) in
            try Shapes.expect(call, 0, rank: 2...Int.max)
            return try Shapes.likeFirst(call)
        }
    ) { call throws(ModelError) in
        let input = call.tensor()
        let shift = call.optional(1)?.indices().first ?? 0
        let isUpper = (call.node.int("upper") ?? 1) != 0
        let rank = input.shape.count
        let sources = (0..<input.count).map { number in
            let column = number % input.shape[rank - 1]
            let row = number / input.shape[rank - 1] % input.shape[rank - 2]
            let keeps = isUpper ? column - row >= shift : column - row <= shift
            return keeps ? number : -1
        }
        return [try input.gathered(sources, shape: input.shape)]
    }
}

extension Shapes {
    /// - Throws: `tooLarge` where it leaves `Int`.
    static func sum(_ extents: [Int]) throws(ModelError) -> Int {
        var sum = 0
        for extent in extents {
            let (next, overflow) = sum.addingReportingOverflow(extent)
            if overflow { throw .tooLarge("the sum of \(extents) cannot be counted") }
            sum = next
        }
        return sum
    }
}
