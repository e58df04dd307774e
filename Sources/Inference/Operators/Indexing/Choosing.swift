extension Operators {
    static let choosing: [OperatorDefinition] = [oneHot, compress, nonZero, unique, topK]

    private static let oneHot = OperatorDefinition(
        "OneHot", versions: [9, 11], inputs: 3...3, types: [.numeric, .numeric, .all], attributes: ["axis": .int],
        infer: { call throws(ModelError) in
            guard let shape = call.shape(0) else { return [TensorType(call.elementType(2), nil)] }
            let axis = try call.axis(call.node.int("axis") ?? -1, rank: shape.count + 1)
            var result = shape
            let depth = call.indices(1)
            if let depth, depth.count != 1 || depth[0] < 0 { throw .damaged("its depth is \(depth)") }
            result.insert(depth.map { .known($0[0]) } ?? .unknown, at: axis)
            return [TensorType(call.elementType(2), result)]
        }
    ) { call throws(ModelError) in
        let shape = call.shape()
        let axis = call.axis(default: -1, rank: shape.count)
        let (outer, depth, inner) = Extents.split(shape, at: axis)
        let indices = call.tensor(0).indices()
        guard call.tensor(2).count == 2 else { throw .wrongValue("it needs a value for off and one for on") }
        var sources = [Int](repeating: 0, count: outer * depth * inner)
        for block in 0..<outer {
            for place in 0..<inner {
                let index = indices[block * inner + place]
                // Indices outside the depth leave everything off.
                guard index >= -depth && index < depth else { continue }
                sources[(block * depth + (index < 0 ? index + depth : index)) * inner + place] = 1
            }
        }
        return [try call.tensor(2).gathered(sources, shape: shape)]
    }

    private static let compress = OperatorDefinition(
        "Compress", versions: [9, 11], inputs: 2...2, types: [.all, .bool], attributes: ["axis": .int],
        infer: { call throws(ModelError) in
            try Shapes.expect(call, 1, rank: 1...1)
            guard let axis = call.node.int("axis") else { return [TensorType(call.elementType(), [.unknown])] }
            guard var shape = call.shape() else { return [TensorType(call.elementType(), nil)] }
            shape[try call.axis(axis, rank: shape.count)] = .unknown
            return [TensorType(call.elementType(), shape)]
        }
    ) { call throws(ModelError) in
        var input = call.tensor()
        if !call.node.has("axis") { input = try input.reshaped([input.count]) }
        let axis = call.node.has("axis") ? call.axis() : 0
        let (outer, extent, inner) = Extents.split(input.shape, at: axis)
        let kept = call.tensor(1).flags().enumerated().filter(\.element).map(\.offset)
        guard kept.allSatisfy({ $0 < extent }) else { throw .wrongValue("its condition is longer than the axis") }
        var shape = input.shape
        shape[axis] = kept.count
        // The other extents may be beyond any loop.
        guard input.count > 0 else { return [try .empty(input.elementType, shape: shape)] }
        let sources = (0..<outer).flatMap { block in
            kept.flatMap { place in (0..<inner).map { (block * extent + place) * inner + $0 } }
        }
        return [try input.gathered(sources, shape: shape)]
    }

    private static let nonZero = OperatorDefinition(
        "NonZero", versions: [9, 13], types: [.fixedSize],
        infer: { call in [TensorType(.int64, [call.shape().map { .known($0.count) } ?? .unknown, .unknown])] }
    ) { call throws(ModelError) in
        let input = call.tensor()
        let found = input.flags().enumerated().filter(\.element).map { Extents.position($0.offset, in: input.shape) }
        let rank = input.shape.count
        return [try Tensor(indices: (0..<rank).flatMap { axis in found.map { $0[axis] } }, shape: [rank, found.count])]
    }

    // MARK: Unique

    private static let unique = OperatorDefinition(
        "Unique", versions: [11], outputs: 1...4, types: [.fixedSize], attributes: ["axis": .int, "sorted": .int],
        infer: { call throws(ModelError) in
            let list = TensorType(.int64, [.unknown])
            var shape: [Dimension]? = [.unknown]
            if let axis = call.node.int("axis") {
                shape = call.shape()
                if let known = shape { shape?[try call.axis(axis, rank: known.count)] = .unknown }
            }
            return [TensorType(call.elementType(), shape), list, list, list]
        }
    ) { call throws(ModelError) in
        var input = call.tensor()
        if !call.node.has("axis") { input = try input.reshaped([input.count]) }
        let axis = call.node.has("axis") ? call.axis() : 0
        guard input.count > 0 else { return try uniqueOfNothing(input, axis) }
        let (outer, extent, inner) = Extents.split(input.shape, at: axis)
        let offsets = (0..<extent).map { place in
            (0..<outer).flatMap { block in (0..<inner).map { (block * extent + place) * inner + $0 } }
        }
        let keys = Ranking(input)
        // Slices in their order, equal ones behind each other with the first in front.
        let order = (0..<extent).sorted { left, right in
            let comparison = keys.compare(offsets[left], offsets[right])
            return comparison == 0 ? left < right : comparison < 0
        }
        var groups: [[Int]] = []
        for place in order {
            if let first = groups.last?[0], keys.compare(offsets[first], offsets[place]) == 0 {
                groups[groups.count - 1].append(place)
            } else {
                groups.append([place])
            }
        }
        if call.node.int("sorted") == 0 { groups.sort { $0[0] < $1[0] } }
        var inverse = [Int](repeating: 0, count: extent)
        for (number, group) in groups.enumerated() { for place in group { inverse[place] = number } }
        var shape = input.shape
        shape[axis] = groups.count
        let sources = (0..<outer).flatMap { block in
            groups.flatMap { group in (0..<inner).map { (block * extent + group[0]) * inner + $0 } }
        }
        return [
            try input.gathered(sources, shape: shape), try Tensor(indices: groups.map { $0[0] }),
            try Tensor(indices: inverse), try Tensor(indices: groups.map(\.count)),
        ]
    }

    /// Slices without elements are all the same. Other extents than theirs may be beyond any loop.
    private static func uniqueOfNothing(_ input: Tensor, _ axis: Int) throws(ModelError) -> [Tensor] {
        let extent = input.shape[axis]
        guard extent <= 1 << 24 else { throw .tooLarge("it has \(extent) slices without elements") }
        var shape = input.shape
        shape[axis] = min(extent, 1)
        let isNone = extent == 0
        return [
            try .empty(input.elementType, shape: shape), try Tensor(indices: isNone ? [] : [0]),
            try Tensor(indices: [Int](repeating: 0, count: extent)), try Tensor(indices: isNone ? [] : [extent]),
        ]
    }

    /// Elements of any type as numbers that order alike.
    private struct Ranking {
        private let floats: [Double]
        private let integers: [Int64]

        init(_ tensor: Tensor) {
            floats = tensor.elementType.isFloat ? tensor.doubles() : []
            // With the highest bit turned, unsigned numbers order as signed ones.
            let flip = tensor.elementType == .uint64 ? Int64.min : 0
            integers = tensor.elementType.isFloat ? [] : tensor.integers().map { $0 ^ flip }
        }

        func compare(_ left: [Int], _ right: [Int]) -> Int {
            for (first, second) in zip(left, right) {
                let comparison = compare(first, second)
                if comparison != 0 { return comparison }
            }
            return 0
        }

        /// NaN comes behind everything else.
        func compare(_ left: Int, _ right: Int) -> Int {
            if floats.isEmpty {
                return integers[left] < integers[right] ? -1 : integers[left] == integers[right] ? 0 : 1
            }
            let (first, second) = (floats[left], floats[right])
            if first.isNaN || second.isNaN { return first.isNaN ? (second.isNaN ? 0 : 1) : -1 }
            return first < second ? -1 : first == second ? 0 : 1
        }
    }

    // MARK: The largest or smallest

    private static let topK = OperatorDefinition(
        "TopK", versions: [1, 10, 11], inputs: 1...2, outputs: 2...2, types: [.numeric, .int64],
        attributes: ["axis": .int, "k": .int, "largest": .int, "sorted": .int],
        infer: { call throws(ModelError) in
            guard var shape = call.shape() else {
                return [TensorType(call.elementType(), nil), TensorType(.int64, nil)]
            }
            let axis = try call.axis(call.node.int("axis") ?? -1, rank: shape.count)
            let wanted = call.node.int("k").map { [$0] } ?? call.indices(1)
            guard wanted != nil || call.has(1) else { throw .damaged("it has no k") }
            if let wanted {
                guard wanted.count == 1, wanted[0] >= 0, wanted[0] <= shape[axis].extent ?? Int.max else {
                    throw .damaged("it wants \(wanted) of \(shape[axis])")
                }
                shape[axis] = .known(wanted[0])
            } else {
                shape[axis] = .unknown
            }
            return [TensorType(call.elementType(), shape), TensorType(.int64, shape)]
        }
    ) { call throws(ModelError) in
        let (input, shape) = (call.tensor(), call.shape())
        let axis = call.axis(default: -1)
        let (outer, extent, inner) = Extents.split(input.shape, at: axis)
        let wanted = shape[axis]
        let isLargest = (call.node.int("largest") ?? 1) != 0
        let keys = Ranking(input)
        var (sources, indices) = ([Int](repeating: 0, count: outer * wanted * inner), [Int]())
        indices = sources
        for block in 0..<outer {
            for place in 0..<inner {
                let order = (0..<extent).sorted { left, right in
                    let comparison = keys.compare(
                        (block * extent + left) * inner + place, (block * extent + right) * inner + place)
                    return comparison == 0 ? left < right : isLargest ? comparison > 0 : comparison < 0
                }
                for rank in 0..<wanted {
                    sources[(block * wanted + rank) * inner + place] = (block * extent + order[rank]) * inner + place
                    indices[(block * wanted + rank) * inner + place] = order[rank]
                }
            }
        }
        return [try input.gathered(sources, shape: shape), try Tensor(indices: indices, shape: shape)]
    }
}
