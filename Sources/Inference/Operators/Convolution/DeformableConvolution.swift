extension Operators {
    /// A convolution whose taps lie at offsets that are data themselves, read bilinearly (Dai et al., Deformable
    /// Convolutional Networks). Two spatial axes.
    static let deformConv = OperatorDefinition(
        "DeformConv", versions: [19], inputs: 3...5, types: [.floats, .first],
        attributes: windowAttributes.merging(["group": .int, "offset_group": .int]) { $1 },
        infer: { call throws(ModelError) in
            try Shapes.expect(call, 0, rank: 3...5)
            if let rank = call.shape()?.count, rank != 4 {
                throw .unsupported(["operator DeformConv with \(rank - 2) spatial axes"])
            }
            let result = try convolutionShape(call, weights: 1, bias: call.has(3) ? 3 : nil)
            if let result, let offsets = call.shape(2), let kernel = call.shape(1), let input = call.shape(0) {
                let groups = call.node.int("offset_group") ?? 1
                guard groups > 0, groups < 1 << 31, (input[1].extent ?? 0) % groups == 0, offsets.count == 4 else {
                    throw .damaged("it has \(groups) groups of offsets")
                }
                let taps = try Shapes.product(kernel[2...])
                try Shapes.same(offsets[1], try Shapes.product([taps, .known(2 * groups)]), "offsets and taps")
                if call.has(4), let mask = call.shape(4) {
                    guard mask.count == 4 else { throw .damaged("its mask has \(mask.count) axes") }
                    try Shapes.same(mask[1], try Shapes.product([taps, .known(groups)]), "mask and taps")
                    for axis in [0, 2, 3] { try Shapes.same(mask[axis], result[axis], "mask and output") }
                }
                for axis in [0, 2, 3] { try Shapes.same(offsets[axis], result[axis], "offsets and output") }
            }
            return [TensorType(call.elementType(), result)]
        }
    ) { call throws(ModelError) in
        let (input, weights, shape) = (call.tensor(0), call.tensor(1), call.shape())
        let geometry = try WindowGeometry(
            call.node, input: Array(input.shape[2...]), kernel: Array(weights.shape[2...]))
        let (height, width) = (input.shape[2], input.shape[3])
        let (data, factors, offsets) = (input.doubles(), weights.doubles(), call.tensor(2).doubles())
        let (bias, mask) = (call.optional(3)?.doubles(), call.optional(4)?.doubles())
        let group = call.node.int("group") ?? 1
        let offsetGroups = call.node.int("offset_group") ?? 1
        let (channels, filters, part) = (input.shape[1], shape[1], weights.shape[1])
        let taps = geometry.kernel[0] * geometry.kernel[1]
        let plane = shape[2] * shape[3]
        var result = [Double](repeating: 0, count: try Extents.count(shape))
        for index in result.indices {
            let place = index % plane
            let (y, x) = (place / shape[3], place % shape[3])
            let filter = index / plane % filters
            let batch = index / plane / filters
            var sum = bias?[filter] ?? 0
            for inner in 0..<part {
                let channel = filter / (filters / group) * part + inner
                let offsetGroup = channel / (channels / offsetGroups)
                let image = Plane(data, (batch * channels + channel) * height * width, height: height, width: width)
                for tap in 0..<taps {
                    let row = (batch * offsetGroups + offsetGroup) * taps + tap
                    let top = Double(
                        y * geometry.strides[0] + tap / geometry.kernel[1] * geometry.dilations[0]
                            - geometry.padsBefore[0])
                    let left = Double(
                        x * geometry.strides[1] + tap % geometry.kernel[1] * geometry.dilations[1]
                            - geometry.padsBefore[1])
                    let value = image.bilinear(
                        top + offsets[2 * row * plane + place], left + offsets[(2 * row + 1) * plane + place])
                    sum += value * factors[(filter * part + inner) * taps + tap] * (mask?[row * plane + place] ?? 1)
                }
            }
            result[index] = sum
        }
        return [try Tensor(call.elementType, shape: shape, doubles: result)]
    }

    /// One channel, zero outside.
    private struct Plane {
        let data: [Double]
        let start: Int
        let height: Int
        let width: Int

        init(_ data: [Double], _ start: Int, height: Int, width: Int) {
            self.data = data
            self.start = start
            self.height = height
            self.width = width
        }

        func bilinear(_ y: Double, _ x: Double) -> Double {
            guard y > -1, x > -1, y < Double(height), x < Double(width) else { return 0 }
            let (top, left) = (y.rounded(.down), x.rounded(.down))
            let (dy, dx) = (y - top, x - left)
            let (row, column) = (Int(top), Int(left))
            return value(row, column) * (1 - dy) * (1 - dx) + value(row, column + 1) * (1 - dy) * dx
                + value(row + 1, column) * dy * (1 - dx) + value(row + 1, column + 1) * dy * dx
        }

        private func value(_ row: Int, _ column: Int) -> Double {
            row < 0 || column < 0 || row >= height || column >= width ? 0 : data[start + row * width + column]
        }
    }
}
