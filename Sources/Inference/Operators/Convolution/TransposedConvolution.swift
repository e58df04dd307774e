extension Operators {
    /// Data N × C × spatial, weights C × M/group × kernel, bias M.
    static let convTranspose = OperatorDefinition(
        "ConvTranspose", versions: [1, 11], inputs: 2...3, types: [.floats, .first],
        attributes: windowAttributes.merging(["group": .int, "output_padding": .ints, "output_shape": .ints]) { $1 },
        infer: { call throws(ModelError) in
            guard let input = call.shape(0), let weights = call.shape(1) else {
                return [TensorType(call.elementType(), nil)]
            }
            guard input.count >= 3, weights.count == input.count else {
                throw .damaged("its data has \(input.count) axes, its weights \(weights.count)")
            }
            try Shapes.same(input[1], weights[0], "channels of data and weights")
            let group = call.node.int("group") ?? 1
            guard group > 0, (input[1].extent ?? 0) % group == 0 else { throw .damaged("it has \(group) groups") }
            let filters = try Shapes.product([weights[1], .known(group)])
            if call.has(2), let bias = call.shape(2) {
                guard bias.count == 1 else { throw .damaged("its bias has \(bias.count) axes") }
                try Shapes.same(bias[0], filters, "bias and filters")
            }
            let (spatial, kernel) = (input[2...].compactMap(\.extent), weights[2...].compactMap(\.extent))
            guard spatial.count == input.count - 2, kernel.count == spatial.count else {
                return [TensorType(call.elementType(), [input[0], filters] + Shapes.unknown(rank: input.count - 2))]
            }
            let plan = try TransposedGeometry(call.node, input: spatial, kernel: kernel)
            return [TensorType(call.elementType(), [input[0], filters] + plan.output.map { .known($0) })]
        }
    ) { call throws(ModelError) in
        let (input, weights, shape) = (call.tensor(0), call.tensor(1), call.shape())
        let (spatial, kernel) = (Array(input.shape[2...]), Array(weights.shape[2...]))
        let plan = try TransposedGeometry(call.node, input: spatial, kernel: kernel)
        let group = call.node.int("group") ?? 1
        let (channels, part) = (input.shape[1], weights.shape[1])
        let (planeSize, kernelSize) = (spatial.reduce(1, *), kernel.reduce(1, *))
        let resultSize = plan.output.reduce(1, *)
        let steps = Extents.strides(plan.output)
        let (data, factors) = (input.doubles(), weights.doubles())
        var result = [Double](repeating: 0, count: try Extents.count(shape))
        // Where there are no channels, the other extents may be beyond any loop.
        for place in 0..<(channels == 0 ? 0 : planeSize) {
            let position = Extents.position(place, in: spatial)
            for tap in 0..<kernelSize {
                let reach = Extents.position(tap, in: kernel)
                var offset = 0
                var isInside = true
                for axis in position.indices where isInside {
                    let target =
                        position[axis] * plan.strides[axis] + reach[axis] * plan.dilations[axis] - plan.padsBefore[axis]
                    isInside = target >= 0 && target < plan.output[axis]
                    if isInside { offset += target * steps[axis] }
                }
                guard isInside else { continue }
                for batch in 0..<input.shape[0] {
                    for channel in 0..<channels {
                        let value = data[(batch * channels + channel) * planeSize + place]
                        let firstFilter = channel / (channels / group) * part
                        for filter in 0..<part {
                            result[(batch * shape[1] + firstFilter + filter) * resultSize + offset] +=
                                value * factors[(channel * part + filter) * kernelSize + tap]
                        }
                    }
                }
            }
        }
        if let bias = call.optional(2)?.doubles(), resultSize > 0 {
            for index in result.indices { result[index] += bias[index / resultSize % shape[1]] }
        }
        return [try Tensor(call.elementType, shape: shape, doubles: result)]
    }
}

/// How the data of a transposed convolution spreads, by spatial axis.
struct TransposedGeometry {
    var strides: [Int]
    var dilations: [Int]
    var padsBefore: [Int]
    var output: [Int] = []

    init(_ node: Node, input: [Int], kernel: [Int]) throws(ModelError) {
        let rank = input.count
        strides = node.ints("strides") ?? Array(repeating: 1, count: rank)
        dilations = node.ints("dilations") ?? Array(repeating: 1, count: rank)
        var pads = node.ints("pads") ?? Array(repeating: 0, count: 2 * rank)
        let extra = node.ints("output_padding") ?? Array(repeating: 0, count: rank)
        // Some files give N and C as well.
        let wanted = node.ints("output_shape").map { Array($0.suffix(rank)) }
        guard strides.count == rank, dilations.count == rank, pads.count == 2 * rank, extra.count == rank,
            wanted?.count ?? rank == rank
        else { throw .damaged("its strides, dilations or pads are not for \(rank) spatial axes") }
        let positive = strides + dilations + kernel
        guard positive.allSatisfy({ $0 > 0 && $0 < 1 << 31 }),
            (pads + extra + (wanted ?? [])).allSatisfy({ $0 >= 0 && $0 < 1 << 31 })
        else { throw .damaged("its strides, dilations or pads are out of range") }
        let mode = node.string("auto_pad") ?? "NOTSET"
        for axis in 0..<rank {
            let (product, overflow) = (input[axis] - 1).multipliedReportingOverflow(by: strides[axis])
            guard !overflow else { throw .tooLarge("its output cannot be counted") }
            let full = try Shapes.sum([product, extra[axis], (kernel[axis] - 1) * dilations[axis] + 1])
            if wanted != nil || mode.hasPrefix("SAME") {
                let extent = if let wanted { wanted[axis] } else { try Shapes.sum([product, strides[axis]]) }
                let total = max(full - extent, 0)
                pads[axis] = mode == "SAME_UPPER" ? total / 2 : total - total / 2
                pads[rank + axis] = total - pads[axis]
                output.append(extent)
            } else {
                if mode == "VALID" {
                    pads[axis] = 0
                    pads[rank + axis] = 0
                }
                output.append(full - pads[axis] - pads[rank + axis])
            }
            guard output[axis] >= 0 else { throw .damaged("its pads cut away more than there is") }
        }
        padsBefore = Array(pads[..<rank])
    }
}
