extension Operators {
    /// Sums blocks N × (C · block) × L back into images N × C × spatial.
    static let columnsToImage = OperatorDefinition(
        "Col2Im", versions: [18], inputs: 3...3, types: [.numeric, .int64, .int64],
        attributes: ["dilations": .ints, "pads": .ints, "strides": .ints],
        infer: { call throws(ModelError) in
            try Shapes.expect(call, 0, rank: 3...3)
            guard let shape = call.shape(), let image = call.indices(1), let block = call.indices(2) else {
                return [TensorType(call.elementType(), nil)]
            }
            _ = try Extents.count(image)
            let geometry = try WindowGeometry(call.node, input: image, kernel: block)
            let size = try Extents.count(block)
            if let rows = shape[1].extent, rows % size != 0 { throw .damaged("\(rows) rows are no blocks of \(size)") }
            try Shapes.same(shape[2], .known(try Extents.count(geometry.output)), "columns and windows")
            let channels: Dimension = shape[1].extent.map { .known($0 / size) } ?? .unknown
            return [TensorType(call.elementType(), [shape[0], channels] + image.map { .known($0) })]
        }
    ) { call throws(ModelError) in
        let (image, block) = (call.tensor(1).indices(), call.tensor(2).indices())
        let geometry = try WindowGeometry(call.node, input: image, kernel: block)
        let (windows, size) = (geometry.output.reduce(1, *), block.reduce(1, *))
        let planeSize = image.reduce(1, *)
        let values = call.tensor().doubles()
        var result = [Double](repeating: 0, count: try Extents.count(call.shape()))
        let planes = call.shape()[0] * call.shape()[1]
        for window in 0..<windows {
            geometry.forEachTap(Extents.position(window, in: geometry.output), input: image) { tap, offset in
                for plane in 0..<planes {
                    result[plane * planeSize + offset] += values[(plane * size + tap) * windows + window]
                }
            }
        }
        return [try Tensor(call.elementType, shape: call.shape(), doubles: result)]
    }
}
