extension Operators {
    static let convolution: [OperatorDefinition] = [conv, convTranspose, columnsToImage, deformConv] + pooling

    static let windowAttributes: [String: Attribute.Kind] = [
        "auto_pad": .string, "dilations": .ints, "kernel_shape": .ints, "pads": .ints, "strides": .ints,
    ]

    /// Data N × C × spatial, weights M × C/group × kernel, bias M.
    private static let conv = OperatorDefinition(
        "Conv", versions: [1, 11], inputs: 2...3, types: [.floats, .first],
        attributes: windowAttributes.merging(["group": .int]) { $1 },
        infer: { call throws(ModelError) in [TensorType(call.elementType(), try convolutionShape(call, weights: 1))] }
    ) { call throws(ModelError) in
        let plan = try Convolution(call.node, input: call.tensor(0).shape, weights: call.tensor(1).shape)
        let values = plan.run(
            call.tensor(0).doubles(), call.tensor(1).doubles(), bias: call.optional(2)?.doubles())
        return [try Tensor(call.elementType, shape: call.shape(), doubles: values)]
    }

    /// The shape of a convolution of input 0; the weights are another input.
    static func convolutionShape(_ call: ShapeCall, weights: Int, bias: Int? = 2) throws(ModelError) -> [Dimension]? {
        guard let input = call.shape(0), let kernel = call.shape(weights) else { return nil }
        guard input.count >= 3, kernel.count == input.count else {
            throw .damaged("its data has \(input.count) axes, its weights \(kernel.count)")
        }
        let group = call.node.int("group") ?? 1
        guard group > 0 else { throw .damaged("it has \(group) groups") }
        if let channels = input[1].extent, let part = kernel[1].extent {
            guard channels % group == 0, channels / group == part else {
                throw .damaged("\(channels) channels in \(group) groups do not fit weights for \(part)")
            }
        }
        if let filters = kernel[0].extent, filters % group != 0 {
            throw .damaged("\(filters) filters are not divisible into \(group) groups")
        }
        if let shape = call.node.ints("kernel_shape") {
            guard shape.count == kernel.count - 2 else { throw .damaged("its kernel_shape is \(shape)") }
            for (one, other) in zip(shape, kernel[2...]) {
                try Shapes.same(.known(one), other, "kernel_shape and weights")
            }
        }
        if let bias, call.has(bias), let shape = call.shape(bias) {
            guard shape.count == 1 else { throw .damaged("its bias has \(shape.count) axes") }
            try Shapes.same(shape[0], kernel[0], "bias and filters")
        }
        return try WindowGeometry.outputShape(
            call.node, input: input, kernel: Array(kernel[2...]), channels: kernel[0])
    }
}

/// A convolution of known shapes, computed row by row of the last axis.
struct Convolution {
    let geometry: WindowGeometry
    let group: Int
    let input: [Int]
    let weights: [Int]

    init(_ node: Node, input: [Int], weights: [Int]) throws(ModelError) {
        geometry = try WindowGeometry(node, input: Array(input[2...]), kernel: Array(weights[2...]))
        group = node.int("group") ?? 1
        self.input = input
        self.weights = weights
    }

    func run(_ data: [Double], _ factors: [Double], bias: [Double]?) -> [Double] {
        let spatial = Array(input[2...])
        let (channels, filters) = (weights[1], weights[0])
        let last = spatial.count - 1
        let (width, outputWidth) = (spatial[last], geometry.output[last])
        let outer = Array(geometry.output[..<last])
        let rows = outer.reduce(1, *)
        let planeSize = spatial.reduce(1, *)
        let kernelSize = geometry.kernel.reduce(1, *)
        let kernelWidth = geometry.kernel[last]
        let (step, dilation, pad) = (geometry.strides[last], geometry.dilations[last], geometry.padsBefore[last])
        // Where there are no channels, the window may be beyond any loop.
        let taps = channels == 0 ? [] : outerTaps(outer)
        var result = [Double](repeating: 0, count: input[0] * filters * rows * outputWidth)
        guard !result.isEmpty else { return result }
        result.withUnsafeMutableBufferPointer { result in
            data.withUnsafeBufferPointer { data in
                factors.withUnsafeBufferPointer { factors in
                    for block in 0..<(input[0] * filters) {
                        let (batch, filter) = (block / filters, block % filters)
                        let firstChannel = filter / (filters / group) * channels
                        for row in 0..<rows {
                            let target = (block * rows + row) * outputWidth
                            let start = bias?[filter] ?? 0
                            for column in 0..<outputWidth { result[target + column] = start }
                            for channel in 0..<channels {
                                let plane = (batch * input[1] + firstChannel + channel) * planeSize
                                let kernel = (filter * channels + channel) * kernelSize
                                for tap in taps[row] {
                                    for place in 0..<kernelWidth {
                                        let factor = factors[kernel + tap.kernel * kernelWidth + place]
                                        let shift = place * dilation - pad
                                        // The columns whose data lies in the row.
                                        let low = shift >= 0 ? 0 : (-shift + step - 1) / step
                                        let high = min(
                                            outputWidth, width - shift <= 0 ? 0 : (width - shift - 1) / step + 1)
                                        guard low < high else { continue }
                                        let source = plane + tap.offset + shift
                                        if step == 1 {
                                            for column in low..<high {
                                                result[target + column] += factor * data[source + column]
                                            }
                                        } else {
                                            for column in low..<high {
                                                result[target + column] += factor * data[source + column * step]
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        return result
    }

    /// For each row of the output, the rows of the window that lie over data: their number, and where the data's row
    /// begins in its plane.
    private func outerTaps(_ outer: [Int]) -> [[(kernel: Int, offset: Int)]] {
        let last = outer.count
        let spatial = Array(input[2...])
        let strides = Extents.strides(spatial)
        let kernel = Array(geometry.kernel[..<last])
        return (0..<outer.reduce(1, *)).map { row in
            let position = Extents.position(row, in: outer)
            return (0..<kernel.reduce(1, *)).compactMap { number in
                let tap = Extents.position(number, in: kernel)
                var offset = 0
                for axis in 0..<last {
                    let place =
                        position[axis] * geometry.strides[axis] + tap[axis] * geometry.dilations[axis]
                        - geometry.padsBefore[axis]
                    guard place >= 0 && place < spatial[axis] else { return nil }
                    offset += place * strides[axis]
                }
                return (number, offset)
            }
        }
    }
}
