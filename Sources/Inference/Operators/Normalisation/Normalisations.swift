import Foundation

extension Operators {
    static let normalisation: [OperatorDefinition] = [
        batchNormalization, instanceNormalization, layerNormalization, groupNormalization, meanVariance, localResponse,
        lpNormalization,
    ]

    private static let defaultEpsilon = Double(Float(1e-5))

    /// Mean and variance of values at `offsets` behind `start`; the variance is that of the values themselves (divided by
    /// their number).
    private static func moments(_ values: [Double], _ start: Int, _ offsets: [Int]) -> (mean: Double, variance: Double)
    {
        let count = Double(offsets.count)
        let mean = offsets.reduce(0) { $0 + values[start + $1] } / count
        let variance = offsets.reduce(0) { sum, offset in
            let distance = values[start + offset] - mean
            return sum + distance * distance
        }
        return (mean, variance / count)
    }

    /// Inputs of one value for each channel.
    private static func checkChannels(_ call: ShapeCall, inputs: ClosedRange<Int>) throws(ModelError) {
        guard let shape = call.shape() else { return }
        guard shape.count >= 2 else { throw .damaged("its data has \(shape.count) axes") }
        for input in inputs where call.has(input) {
            guard let list = call.shape(input) else { continue }
            guard list.count == 1 else { throw .damaged("input \(input) has \(list.count) axes") }
            try Shapes.same(list[0], shape[1], "input \(input) and channels")
        }
    }

    // MARK: Batches

    /// (x - mean) / sqrt(variance + epsilon) · scale + bias by channel (Ioffe and Szegedy). Training mode takes mean and
    /// variance of the batch, and moves the running ones.
    private static let batchNormalization = OperatorDefinition(
        "BatchNormalization", versions: [1, 6, 7, 9, 14, 15], inputs: 5...5, outputs: 1...5, types: [.floats],
        attributes: [
            "epsilon": .float, "momentum": .float, "training_mode": .int, "spatial": .int, "is_test": .int,
            "consumed_inputs": .ints,
        ],
        infer: { call throws(ModelError) in
            if call.node.int("spatial") == 0 { throw .unsupported(["BatchNormalization with spatial = 0"]) }
            try checkChannels(call, inputs: 1...4)
            let list = TensorType(call.elementType(3), call.shape(3))
            return [TensorType(call.elementType(), call.shape()), list, list, list, list]
        }
    ) { call throws(ModelError) in
        let input = call.tensor()
        let values = input.doubles()
        let (scale, bias) = (call.tensor(1).doubles(), call.tensor(2).doubles())
        var (means, variances) = (call.tensor(3).doubles(), call.tensor(4).doubles())
        let epsilon = call.node.float("epsilon") ?? defaultEpsilon
        var outputs: [Tensor] = []
        let (_, channels, inner) = Extents.split(input.shape, at: 1)
        if call.version >= 14 && call.node.int("training_mode") == 1 {
            let momentum = call.node.float("momentum") ?? 0.9
            let axes = input.shape.indices.filter { $0 != 1 }
            let (outer, offsets) = reducedOffsets(input.shape, axes)
            let current = outer.map { moments(values, $0, offsets) }
            let running = [
                zip(means, current).map { $0 * momentum + $1.mean * (1 - momentum) },
                zip(variances, current).map { $0 * momentum + $1.variance * (1 - momentum) },
            ]
            for list in running {
                outputs.append(try Tensor(call.tensor(3).elementType, shape: [channels], doubles: list))
            }
            (means, variances) = (current.map(\.mean), current.map(\.variance))
        } else {
            // Outputs for training that older files name though nothing uses them.
            outputs = [call.tensor(3), call.tensor(4), call.tensor(3), call.tensor(4)]
        }
        let factors = zip(scale, variances).map { $0 / ($1 + epsilon).squareRoot() }
        let results = values.indices.map { index in
            let channel = index / inner % channels
            return (values[index] - means[channel]) * factors[channel] + bias[channel]
        }
        return [try Tensor(call.elementType, shape: input.shape, doubles: results)] + outputs
    }

    private static let instanceNormalization = OperatorDefinition(
        "InstanceNormalization", versions: [1, 6], inputs: 3...3, types: [.floats, .first],
        attributes: ["epsilon": .float, "consumed_inputs": .ints],
        infer: { call throws(ModelError) in
            try checkChannels(call, inputs: 1...2)
            return try Shapes.likeFirst(call)
        }
    ) { call throws(ModelError) in
        let input = call.tensor()
        let epsilon = call.node.float("epsilon") ?? defaultEpsilon
        let (scale, bias) = (call.tensor(1).doubles(), call.tensor(2).doubles())
        var values = input.doubles()
        let (outer, offsets) = reducedOffsets(input.shape, Array(input.shape.indices.dropFirst(2)))
        for (number, start) in outer.enumerated() {
            let channel = number % input.shape[1]
            let (mean, variance) = moments(values, start, offsets)
            let factor = scale[channel] / (variance + epsilon).squareRoot()
            for offset in offsets { values[start + offset] = (values[start + offset] - mean) * factor + bias[channel] }
        }
        return [try Tensor(call.elementType, shape: input.shape, doubles: values)]
    }

    // MARK: Layers and groups

    /// Over all axes from the given one on (Ba, Kiros and Hinton, Layer Normalization).
    private static let layerNormalization = OperatorDefinition(
        "LayerNormalization", versions: [17], inputs: 2...3, outputs: 1...3, types: [.floats, .first],
        attributes: ["axis": .int, "epsilon": .float, "stash_type": .int],
        infer: { call throws(ModelError) in
            let stash = try elementType(call.node.int("stash_type") ?? 1)
            guard let shape = call.shape() else {
                return [TensorType(call.elementType(), nil), TensorType(stash, nil), TensorType(stash, nil)]
            }
            let axis = try call.axis(call.node.int("axis") ?? -1, rank: shape.count)
            for input in 1...2 where call.has(input) {
                guard let list = call.shape(input) else { continue }
                guard try Shapes.broadcast(shape, list).count == shape.count else {
                    throw .damaged("input \(input) has more axes than the data")
                }
            }
            let list = Array(shape[..<axis]) + Array(repeating: .known(1), count: shape.count - axis)
            return [TensorType(call.elementType(), shape), TensorType(stash, list), TensorType(stash, list)]
        }
    ) { call throws(ModelError) in
        let input = call.tensor()
        let axis = call.axis(default: -1)
        let epsilon = call.node.float("epsilon") ?? defaultEpsilon
        let scale = try call.tensor(1).broadcast(to: input.shape).doubles()
        let bias = try call.optional(2)?.broadcast(to: input.shape).doubles()
        var values = input.doubles()
        let (outer, offsets) = reducedOffsets(input.shape, Array(axis..<input.shape.count))
        var (means, factors) = ([Double](), [Double]())
        for start in outer {
            let (mean, variance) = moments(values, start, offsets)
            let factor = 1 / (variance + epsilon).squareRoot()
            means.append(mean)
            factors.append(factor)
            for place in offsets.map({ start + $0 }) {
                values[place] = (values[place] - mean) * factor * scale[place] + (bias?[place] ?? 0)
            }
        }
        let stash = call.outputTypes[1].elementType
        return [
            try Tensor(call.elementType, shape: input.shape, doubles: values),
            try Tensor(stash, shape: call.shape(1), doubles: means),
            try Tensor(stash, shape: call.shape(2), doubles: factors),
        ]
    }

    /// Version 18 has scale and bias by group, version 21 by channel (Wu and He, Group Normalization).
    private static let groupNormalization = OperatorDefinition(
        "GroupNormalization", versions: [18, 21], inputs: 3...3, types: [.floats, .first],
        attributes: ["epsilon": .float, "num_groups": .int, "stash_type": .int],
        infer: { call throws(ModelError) in
            guard let groups = call.node.int("num_groups"), groups > 0 else { throw .damaged("it has no groups") }
            if let shape = call.shape() {
                guard shape.count >= 2, (shape[1].extent ?? 0) % groups == 0 else {
                    throw .damaged("\(shape) is not divisible into \(groups) groups")
                }
                for input in 1...2 {
                    guard let list = call.shape(input) else { continue }
                    guard list.count == 1 else { throw .damaged("input \(input) has \(list.count) axes") }
                    try Shapes.same(list[0], call.version < 21 ? .known(groups) : shape[1], "input \(input) and groups")
                }
            }
            return try Shapes.likeFirst(call)
        }
    ) { call throws(ModelError) in
        let input = call.tensor()
        let groups = call.node.int("num_groups") ?? 1
        let (batch, channels, inner) = Extents.split(input.shape, at: 1)
        let part = channels / groups
        let epsilon = call.node.float("epsilon") ?? defaultEpsilon
        let (scale, bias) = (call.tensor(1).doubles(), call.tensor(2).doubles())
        var values = input.doubles()
        let offsets = Array(0..<(part * inner))
        for block in 0..<(batch * groups) {
            let start = block * part * inner
            let (mean, variance) = moments(values, start, offsets)
            let factor = 1 / (variance + epsilon).squareRoot()
            for offset in offsets {
                let channel = call.version < 21 ? block % groups : block % groups * part + offset / inner
                values[start + offset] = (values[start + offset] - mean) * factor * scale[channel] + bias[channel]
            }
        }
        return [try Tensor(call.elementType, shape: input.shape, doubles: values)]
    }

    // MARK: Others

    private static let meanVariance = OperatorDefinition(
        "MeanVarianceNormalization", versions: [9, 13], types: [.floats], attributes: ["axes": .ints],
        infer: { call throws(ModelError) in
            if let rank = call.shape()?.count { _ = try call.axes(call.node.ints("axes") ?? [0, 2, 3], rank: rank) }
            return try Shapes.likeFirst(call)
        }
    ) { call throws(ModelError) in
        let input = call.tensor()
        let axes = (call.node.ints("axes") ?? [0, 2, 3]).map { $0 < 0 ? $0 + input.shape.count : $0 }
        var values = input.doubles()
        let (outer, offsets) = reducedOffsets(input.shape, axes.sorted())
        for start in outer {
            let (mean, variance) = moments(values, start, offsets)
            for offset in offsets {
                // The term of the standard's own definition against division by zero.
                values[start + offset] = (values[start + offset] - mean) / (variance.squareRoot() + 1e-9)
            }
        }
        return [try Tensor(call.elementType, shape: input.shape, doubles: values)]
    }

    /// x / (bias + alpha / size · sum of squares of neighbouring channels) ^ beta (Krizhevsky et al.).
    private static let localResponse = OperatorDefinition(
        "LRN", versions: [1, 13], types: [.floats],
        attributes: ["alpha": .float, "beta": .float, "bias": .float, "size": .int],
        infer: { call throws(ModelError) in
            guard let size = call.node.int("size"), size > 0 else { throw .damaged("it has no size") }
            try Shapes.expect(call, 0, rank: 2...Int.max)
            return try Shapes.likeFirst(call)
        }
    ) { call throws(ModelError) in
        let input = call.tensor()
        let size = call.node.int("size") ?? 1
        let (alpha, beta) = (call.node.float("alpha") ?? 1e-4, call.node.float("beta") ?? 0.75)
        let bias = call.node.float("bias") ?? 1
        let (_, channels, inner) = Extents.split(input.shape, at: 1)
        let values = input.doubles()
        let results = values.indices.map { index in
            let channel = index / inner % channels
            let low = max(channel - (size - 1) / 2, 0)
            let high = min(channel + size / 2, channels - 1)
            let sum = (low...high).reduce(0.0) { sum, other in
                let neighbour = values[index + (other - channel) * inner]
                return sum + neighbour * neighbour
            }
            return values[index] / pow(bias + alpha / Double(size) * sum, beta)
        }
        return [try Tensor(call.elementType, shape: input.shape, doubles: results)]
    }

    private static let lpNormalization = OperatorDefinition(
        "LpNormalization", versions: [1], types: [.floats], attributes: ["axis": .int, "p": .int],
        infer: { call throws(ModelError) in
            guard [1, 2].contains(call.node.int("p") ?? 2) else { throw .damaged("its p is neither 1 nor 2") }
            if let rank = call.shape()?.count { _ = try call.axis(call.node.int("axis") ?? -1, rank: rank) }
            return try Shapes.likeFirst(call)
        }
    ) { call throws(ModelError) in
        let input = call.tensor()
        var values = input.doubles()
        let (outer, offsets) = reducedOffsets(input.shape, [call.axis(default: -1)])
        for start in outer {
            let norm =
                call.node.int("p") == 1
                ? offsets.reduce(0) { $0 + abs(values[start + $1]) }
                : offsets.reduce(0) { $0 + values[start + $1] * values[start + $1] }.squareRoot()
            for offset in offsets where norm != 0 { values[start + offset] /= norm }
        }
        return [try Tensor(call.elementType, shape: input.shape, doubles: values)]
    }
}
