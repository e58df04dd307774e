import Foundation

extension Operators {
    static let pooling: [OperatorDefinition] = [
        maxPool, averagePool, lpPool,
        global("GlobalAveragePool") { values, _ in values.reduce(0, +) / Double(values.count) },
        global("GlobalMaxPool") { values, _ in values.reduce(-.infinity, largest) },
        global("GlobalLpPool", versions: [2], ["p": .int]) { values, node in
            let power = Double(node.int("p") ?? 2)
            return pow(values.reduce(0) { $0 + pow(abs($1), power) }, 1 / power)
        },
        maxUnpool,
    ]

    private static func poolShape(_ call: ShapeCall) throws(ModelError) -> [Dimension]? {
        guard let kernel = call.node.ints("kernel_shape") else { throw .damaged("it has no kernel_shape") }
        guard let shape = call.shape() else { return nil }
        guard shape.count >= 3 else { throw .damaged("its data has \(shape.count) axes") }
        return try WindowGeometry.outputShape(
            call.node, input: shape, kernel: kernel.map { .known($0) }, channels: shape[1])
    }

    /// Calls `body` for each place of the output with the offset of its plane in the data, its position, and its number.
    private static func forEachWindow(
        _ call: OperatorCall,
        _ body: (_ geometry: WindowGeometry, _ plane: Int, _ position: [Int], _ number: Int) -> Void
    ) throws(ModelError) {
        let spatial = Array(call.tensor().shape[2...])
        let geometry = try WindowGeometry(call.node, input: spatial, kernel: call.node.ints("kernel_shape") ?? [])
        let planes = call.tensor().shape[0] * call.tensor().shape[1]
        let (planeSize, windows) = (spatial.reduce(1, *), geometry.output.reduce(1, *))
        for window in 0..<windows {
            let position = Extents.position(window, in: geometry.output)
            for plane in 0..<planes { body(geometry, plane * planeSize, position, plane * windows + window) }
        }
    }

    // MARK: Windows

    /// The second output tells where the largest elements lie in the whole input.
    private static let maxPool = OperatorDefinition(
        "MaxPool", versions: [1, 8, 10, 11, 12], outputs: 1...2,
        types: [ElementRule(types: ElementType.floats.union([.int8, .uint8]))],
        attributes: windowAttributes.merging(["ceil_mode": .int, "storage_order": .int]) { $1 },
        infer: { call throws(ModelError) in
            let shape = try poolShape(call)
            return [TensorType(call.elementType(), shape), TensorType(.int64, shape)]
        }
    ) { call throws(ModelError) in
        let input = call.tensor()
        let spatial = Array(input.shape[2...])
        let values = input.doubles()
        let count = try Extents.count(call.shape())
        var (sources, indices) = ([Int](repeating: 0, count: count), [Int](repeating: 0, count: count))
        let isColumnMajor = call.node.int("storage_order") == 1
        try forEachWindow(call) { geometry, plane, position, number in
            var best: Int?
            geometry.forEachTap(position, input: spatial) { _, offset in
                guard let before = best.map({ values[plane + $0] }) else {
                    best = offset
                    return
                }
                // The first that is no number stays, as in PyTorch; the standard does not say.
                let value = values[plane + offset]
                if value > before || value.isNaN && !before.isNaN { best = offset }
            }
            guard let best else {
                sources[number] = -1
                return
            }
            sources[number] = plane + best
            var place = best
            if isColumnMajor {
                let parts = Extents.position(best, in: spatial)
                place = parts.indices.reversed().reduce(0) { $0 * spatial[$1] + parts[$1] }
            }
            indices[number] = plane + place
        }
        let empty = try Tensor(input.elementType, shape: [1], doubles: [input.elementType.isFloat ? -.infinity : 0])
        return [
            try input.gathered(sources, shape: call.shape(), filler: empty),
            try Tensor(indices: indices, shape: call.shape()),
        ]
    }

    private static let averagePool = OperatorDefinition(
        "AveragePool", versions: [1, 7, 10, 11, 19], types: [.floats],
        attributes: windowAttributes.merging(["ceil_mode": .int, "count_include_pad": .int]) { $1 },
        infer: { call throws(ModelError) in [TensorType(call.elementType(), try poolShape(call))] }
    ) { call throws(ModelError) in
        let spatial = Array(call.tensor().shape[2...])
        let values = call.tensor().doubles()
        var results = [Double](repeating: 0, count: try Extents.count(call.shape()))
        let countsPads = call.node.int("count_include_pad") == 1
        try forEachWindow(call) { geometry, plane, position, number in
            var (sum, count) = (0.0, 0)
            geometry.forEachTap(position, input: spatial) { _, offset in
                sum += values[plane + offset]
                count += 1
            }
            if countsPads { count = geometry.placesOverPaddedData(position, input: spatial) }
            results[number] = sum / Double(count)
        }
        return [try Tensor(call.elementType, shape: call.shape(), doubles: results)]
    }

    private static let lpPool = OperatorDefinition(
        "LpPool", versions: [2, 11, 18], types: [.floats],
        attributes: windowAttributes.merging(["ceil_mode": .int, "p": .int]) { $1 },
        infer: { call throws(ModelError) in [TensorType(call.elementType(), try poolShape(call))] }
    ) { call throws(ModelError) in
        let spatial = Array(call.tensor().shape[2...])
        let values = call.tensor().doubles()
        let power = Double(call.node.int("p") ?? 2)
        var results = [Double](repeating: 0, count: try Extents.count(call.shape()))
        try forEachWindow(call) { geometry, plane, position, number in
            var sum = 0.0
            geometry.forEachTap(position, input: spatial) { _, offset in
                sum += pow(abs(values[plane + offset]), power)
            }
            results[number] = pow(sum, 1 / power)
        }
        return [try Tensor(call.elementType, shape: call.shape(), doubles: results)]
    }

    // MARK: Whole planes

    private static func global(
        _ name: String, versions: [Int] = [1], _ attributes: [String: Attribute.Kind] = [:],
        _ function: @escaping @Sendable ([Double], Node) -> Double
    ) -> OperatorDefinition {
        OperatorDefinition(
            name, versions: versions, types: [.floats], attributes: attributes,
            infer: { call throws(ModelError) in
                try Shapes.expect(call, 0, rank: 2...Int.max)
                return [
                    TensorType(
                        call.elementType(),
                        call.shape().map { $0[..<2] + Array(repeating: .known(1), count: $0.count - 2) })
                ]
            }
        ) { call throws(ModelError) in
            let input = call.tensor()
            let size = input.shape[2...].reduce(1, *)
            let values = input.doubles()
            let results = (0..<(input.shape[0] * input.shape[1])).map {
                function(Array(values[($0 * size)..<(($0 + 1) * size)]), call.node)
            }
            return [try Tensor(call.elementType, shape: call.shape(), doubles: results)]
        }
    }

    // MARK: Back to where the largest came from

    private static let maxUnpool = OperatorDefinition(
        "MaxUnpool", versions: [9, 11], inputs: 2...3, types: [.floats, .int64],
        attributes: ["kernel_shape": .ints, "pads": .ints, "strides": .ints],
        infer: { call throws(ModelError) in
            guard let shape = call.shape() else { return [TensorType(call.elementType(), nil)] }
            guard shape.count >= 3 else { throw .damaged("its data has \(shape.count) axes") }
            if let indices = call.shape(1) {
                guard indices.count == shape.count else { throw .damaged("data and indices differ in shape") }
                for (one, other) in zip(shape, indices) { try Shapes.same(one, other, "data and indices") }
            }
            if call.has(2) {
                guard let target = call.indices(2) else {
                    return [TensorType(call.elementType(), Shapes.unknown(rank: shape.count))]
                }
                guard target.count == shape.count else { throw .damaged("its output shape is \(target)") }
                _ = try Extents.count(target)
                return [TensorType(call.elementType(), extents: target)]
            }
            let rank = shape.count - 2
            guard let kernel = call.node.ints("kernel_shape"), kernel.count == rank else {
                throw .damaged("it has no kernel_shape for \(rank) spatial axes")
            }
            let strides = call.node.ints("strides") ?? Array(repeating: 1, count: rank)
            let pads = call.node.ints("pads") ?? Array(repeating: 0, count: 2 * rank)
            guard strides.count == rank, pads.count == 2 * rank,
                (strides + pads + kernel).allSatisfy({ $0 >= 0 && $0 < 1 << 31 })
            else { throw .damaged("its strides or pads are not for \(rank) spatial axes") }
            var result = Array(shape[..<2])
            for axis in 0..<rank {
                guard let extent = shape[axis + 2].extent else {
                    result.append(.unknown)
                    continue
                }
                guard extent < 1 << 31 else { throw .tooLarge("its data has \(extent) places along an axis") }
                result.append(
                    .known((extent - 1) * strides[axis] + kernel[axis] - pads[axis] - pads[rank + axis]))
            }
            _ = try Extents.count(result.compactMap(\.extent))
            return [TensorType(call.elementType(), result)]
        }
    ) { call throws(ModelError) in
        let (input, shape) = (call.tensor(), call.shape())
        let count = try Extents.count(shape)
        let spatial = Array(input.shape[2...])
        // Indices count places of the output that the window gives, also where a larger one is asked for.
        var plain = shape
        if call.optional(2) != nil, let kernel = call.node.ints("kernel_shape"), kernel.count == spatial.count {
            let strides = call.node.ints("strides") ?? Array(repeating: 1, count: kernel.count)
            let pads = call.node.ints("pads") ?? Array(repeating: 0, count: 2 * kernel.count)
            guard strides.count == kernel.count, pads.count == 2 * kernel.count,
                (strides + pads + kernel + spatial).allSatisfy({ $0 >= 0 && $0 < 1 << 31 })
            else { throw .wrongValue("its strides or pads are not for the spatial axes \(spatial)") }
            for axis in kernel.indices {
                plain[axis + 2] =
                    (spatial[axis] - 1) * strides[axis] + kernel[axis] - pads[axis] - pads[kernel.count + axis]
            }
        }
        let places = try Extents.count(plain)
        var sources = [Int](repeating: -1, count: count)
        let steps = Extents.strides(shape)
        for (number, index) in call.tensor(1).indices().enumerated() {
            guard index >= 0 && index < places else { throw .wrongValue("the index \(index) is outside \(plain)") }
            let position = Extents.position(index, in: plain)
            guard zip(position, shape).allSatisfy({ $0 < $1 }) else {
                throw .wrongValue("the index \(index) is outside \(shape)")
            }
            sources[zip(position, steps).reduce(0) { $0 + $1.0 * $1.1 }] = number
        }
        return [try input.gathered(sources, shape: shape)]
    }
}
