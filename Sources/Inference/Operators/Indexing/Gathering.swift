extension Operators {
    static let indexing: [OperatorDefinition] = [gather, gatherElements, gatherND] + scattering + choosing

    /// Positions counted from the front.
    ///
    /// - Throws: `wrongValue` outside `-extent ..< extent`.
    static func positions(_ indices: [Int], extent: Int) throws(ModelError) -> [Int] {
        var result = indices
        for (place, index) in indices.enumerated() {
            guard index >= -extent && index < extent else {
                throw .wrongValue("the index \(index) is outside an axis of \(extent)")
            }
            if index < 0 { result[place] = index + extent }
        }
        return result
    }

    private static let gather = OperatorDefinition(
        "Gather", versions: [1, 11, 13], inputs: 2...2, types: [.all, .index], attributes: ["axis": .int],
        infer: { call throws(ModelError) in
            guard let shape = call.shape(0), let indices = call.shape(1) else {
                return [TensorType(call.elementType(), nil)]
            }
            let axis = try call.axis(call.node.int("axis") ?? 0, rank: shape.count)
            return [TensorType(call.elementType(), shape[..<axis] + indices + shape[(axis + 1)...])]
        },
        extents: { call in
            guard call.shape()?.count == 1, (call.shape(1)?.count ?? 2) <= 1, let extents = call.extents(0),
                let indices = call.indices(1), let places = try? positions(indices, extent: extents.count)
            else { return nil }
            return places.map { extents[$0] }
        }
    ) { call throws(ModelError) in
        let (input, indices) = (call.tensor(0), call.tensor(1))
        let (outer, extent, inner) = Extents.split(input.shape, at: call.axis())
        let places = try positions(indices.indices(), extent: extent)
        var sources: [Int] = []
        for block in 0..<outer {
            for place in places {
                let start = (block * extent + place) * inner
                sources.append(contentsOf: start..<(start + inner))
            }
        }
        return [try input.gathered(sources, shape: call.shape())]
    }

    private static let gatherElements = OperatorDefinition(
        "GatherElements", versions: [11, 13], inputs: 2...2, types: [.all, .index], attributes: ["axis": .int],
        infer: { call throws(ModelError) in
            if let shape = call.shape(0), let indices = call.shape(1) {
                let axis = try call.axis(call.node.int("axis") ?? 0, rank: shape.count)
                try checkInside(indices, shape, besides: axis)
            }
            return [TensorType(call.elementType(), call.shape(1))]
        }
    ) { call throws(ModelError) in
        let (input, indices) = (call.tensor(0), call.tensor(1))
        let places = try elementOffsets(indices, axis: call.axis(), in: input.shape)
        return [try input.gathered(places, shape: indices.shape)]
    }

    /// Indices of elements lie inside the data along all axes but the one they choose from.
    static func checkInside(_ indices: [Dimension], _ shape: [Dimension], besides axis: Int) throws(ModelError) {
        guard indices.count == shape.count else {
            throw .damaged("indices of \(indices.count) axes choose from \(shape.count)")
        }
        for other in shape.indices where other != axis {
            if let inner = indices[other].extent, let outer = shape[other].extent, inner > outer {
                throw .damaged("the indices have \(inner) places along axis \(other), and the data \(outer)")
            }
        }
    }

    /// For each index, the offset of the element it means in data of `shape`.
    static func elementOffsets(_ indices: Tensor, axis: Int, in shape: [Int]) throws(ModelError) -> [Int] {
        let places = try positions(indices.indices(), extent: shape[axis])
        let strides = Extents.strides(shape)
        return places.indices.map { number in
            var position = Extents.position(number, in: indices.shape)
            position[axis] = places[number]
            return zip(position, strides).reduce(0) { $0 + $1.0 * $1.1 }
        }
    }

    private static let gatherND = OperatorDefinition(
        "GatherND", versions: [11, 12, 13], inputs: 2...2, types: [.all, .int64], attributes: ["batch_dims": .int],
        infer: { call throws(ModelError) in
            if call.shape(1)?.isEmpty == true { throw .damaged("its indices have no axis") }
            guard let shape = call.shape(0), let indices = call.shape(1), let depth = indices.last?.extent
            else { return [TensorType(call.elementType(), nil)] }
            let batch = call.node.int("batch_dims") ?? 0
            guard batch >= 0, batch < min(shape.count, indices.count), depth >= 1, depth <= shape.count - batch
            else {
                throw .damaged("indices of \(depth) places choose from \(shape.count) axes, \(batch) of them batches")
            }
            for axis in 0..<batch { try Shapes.same(shape[axis], indices[axis], "batch axis \(axis)") }
            return [TensorType(call.elementType(), indices.dropLast() + shape[(batch + depth)...])]
        }
    ) { call throws(ModelError) in
        let (input, indices) = (call.tensor(0), call.tensor(1))
        let batch = call.node.int("batch_dims") ?? 0
        let (starts, run) = try blockOffsets(indices, in: input.shape, batch: batch)
        let sources = starts.flatMap { $0..<($0 + run) }
        return [try input.gathered(sources, shape: call.shape())]
    }

    /// For each tuple of indices, the offset of the block it means, and the elements of a block.
    static func blockOffsets(
        _ indices: Tensor, in shape: [Int], batch: Int
    ) throws(ModelError) -> (starts: [Int], run: Int) {
        let depth = indices.shape.last ?? 0
        let strides = Extents.strides(shape)
        let run = shape[(batch + depth)...].reduce(1, *)
        let tuples = depth == 0 ? 0 : indices.count / depth
        let batches = shape[..<batch].reduce(1, *)
        let perBatch = batches == 0 ? 0 : tuples / batches
        let blockSize = shape[batch...].reduce(1, *)
        let all = indices.indices()
        var starts: [Int] = []
        for tuple in 0..<tuples {
            var offset = perBatch == 0 ? 0 : tuple / perBatch * blockSize
            for place in 0..<depth {
                let extent = shape[batch + place]
                let index = all[tuple * depth + place]
                guard index >= -extent && index < extent else {
                    throw .wrongValue("the index \(index) is outside an axis of \(extent)")
                }
                offset += (index < 0 ? index + extent : index) * strides[batch + place]
            }
            starts.append(offset)
        }
        return (starts, run)
    }
}
