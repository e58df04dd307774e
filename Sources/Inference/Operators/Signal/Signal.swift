import Foundation

extension Operators {
    static let signal: [OperatorDefinition] = [
        window("HannWindow", [0.5, 0.5]), window("HammingWindow", [25.0 / 46, 21.0 / 46]),
        window("BlackmanWindow", [0.42, 0.5, 0.08]), melWeights, dft, stft,
    ]

    // MARK: Windows

    /// Sums of cosines with alternating signs.
    private static func window(_ name: String, _ terms: [Double]) -> OperatorDefinition {
        OperatorDefinition(
            name, versions: [17], types: [.index], attributes: ["output_datatype": .int, "periodic": .int],
            infer: { call throws(ModelError) in
                let type = try elementType(call.node.int("output_datatype") ?? 1)
                guard let size = call.indices(0) else { return [TensorType(type, [.unknown])] }
                guard size.count == 1, size[0] >= 0 else { throw .damaged("its size is \(size)") }
                return [TensorType(type, extents: size)]
            }
        ) { call throws(ModelError) in
            let size = call.shape()[0]
            let period = Double(call.node.int("periodic") ?? 1 != 0 ? size : size - 1)
            let values = (0..<size).map { place in
                terms.indices.reduce(0.0) {
                    $0 + ($1 % 2 == 0 ? 1 : -1) * terms[$1] * cos(2 * .pi * Double($1 * place) / period)
                }
            }
            return [try Tensor(call.elementType, shape: [size], doubles: values)]
        }
    }

    /// Triangles on the mel scale, mel = 2595 lg(1 + f / 700): spectrum bins × mel bins.
    private static let melWeights = OperatorDefinition(
        "MelWeightMatrix", versions: [17], inputs: 5...5, types: [.index, .index, .index, .floats, .floats],
        attributes: ["output_datatype": .int],
        infer: { call throws(ModelError) in
            let type = try elementType(call.node.int("output_datatype") ?? 1)
            for input in 0..<5 {
                if let count = call.value(input)?.count, count != 1 {
                    throw .damaged("input \(input) has \(count) elements")
                }
            }
            guard let bins = call.indices(0)?.first, let length = call.indices(1)?.first else {
                return [TensorType(type, Shapes.unknown(rank: 2))]
            }
            guard bins >= 0, length >= 0 else { throw .damaged("it has \(bins) bins of \(length)") }
            return [TensorType(type, extents: [length / 2 + 1, bins])]
        }
    ) { call throws(ModelError) in
        let (rows, bins) = (call.shape()[0], call.shape()[1])
        guard let length = call.tensor(1).indices().first, let rate = call.tensor(2).doubles().first,
            let low = call.tensor(3).doubles().first, let high = call.tensor(4).doubles().first, rate > 0
        else { throw .wrongValue("an input is empty, or the rate is 0") }
        func mel(_ frequency: Double) -> Double { 2595 * log10(1 + frequency / 700) }
        let step = (mel(high) - mel(low)) / Double(bins + 2)
        let edges = (0..<(bins + 2)).map { index in
            let frequency = 700 * (pow(10, (Double(index) * step + mel(low)) / 2595) - 1)
            return ((Double(length) + 1) * frequency / rate).rounded(.down)
        }
        var values = [Double](repeating: 0, count: rows * bins)
        for bin in 0..<bins {
            let (left, centre, right) = (edges[bin], edges[bin + 1], edges[bin + 2])
            for row in 0..<rows {
                let place = Double(row)
                if left == centre {
                    if place == centre { values[row * bins + bin] = 1 }
                } else if place >= left && place <= centre {
                    values[row * bins + bin] = (place - left) / (centre - left)
                }
                if right > centre && place >= centre && place < right {
                    values[row * bins + bin] = (right - place) / (right - centre)
                }
            }
        }
        return [try Tensor(call.elementType, shape: call.shape(), doubles: values)]
    }

    // MARK: Fourier transforms

    /// The discrete Fourier transform of `values` (real and imaginary parts), filled up or cut to `length`.
    private static func transform(
        _ values: [(Double, Double)], length: Int, isInverse: Bool, count: Int
    ) -> [(Double, Double)] {
        let direction = isInverse ? 1.0 : -1.0
        return (0..<count).map { bin in
            var (real, imaginary) = (0.0, 0.0)
            for (place, value) in values.prefix(length).enumerated() {
                let turns = Double(bin * place % length) / Double(length)
                let (c, s) = (cos(2 * .pi * turns), direction * sin(2 * .pi * turns))
                real += value.0 * c - value.1 * s
                imaginary += value.0 * s + value.1 * c
            }
            return isInverse ? (real / Double(length), imaginary / Double(length)) : (real, imaginary)
        }
    }

    /// The last axis holds real and imaginary parts, or real ones only.
    private static let dft = OperatorDefinition(
        "DFT", versions: [17, 20], inputs: 1...3, types: [.floats, .index, .index],
        attributes: ["axis": .int, "inverse": .int, "onesided": .int],
        infer: { call throws(ModelError) in
            // Since ONNX 1.20 the two together make real numbers of half a spectrum.
            if call.node.int("onesided") == 1 && call.node.int("inverse") == 1 {
                throw .unsupported(["DFT that is inverse and one-sided"])
            }
            guard var shape = call.shape() else { return [TensorType(call.elementType(), nil)] }
            guard shape.count >= 2, [.known(1), .known(2), .unknown].contains(shape[shape.count - 1]) else {
                throw .damaged("the last axis of \(shape) holds no complex numbers")
            }
            shape[shape.count - 1] = .known(2)
            guard call.isKnownOrAbsent(1), call.isKnownOrAbsent(2) else {
                return [TensorType(call.elementType(), Shapes.unknown(rank: shape.count - 1) + [.known(2)])]
            }
            let axis = try dftAxis(call.node, call.version, call.indices(2), rank: shape.count)
            var length = shape[axis].extent
            if let given = call.indices(1) {
                guard given.count == 1, given[0] > 0 else { throw .damaged("its length is \(given)") }
                length = given[0]
            }
            shape[axis] = length.map { .known(call.node.int("onesided") == 1 ? $0 / 2 + 1 : $0) } ?? .unknown
            return [TensorType(call.elementType(), shape)]
        }
    ) { call throws(ModelError) in
        let (input, shape) = (call.tensor(), call.shape())
        let rank = input.shape.count
        let axis = try dftAxis(call.node, call.version, call.optional(2)?.indices(), rank: rank)
        let length = call.optional(1)?.indices().first ?? input.shape[axis]
        let parts = input.shape[rank - 1]
        let values = input.doubles()
        var result = [Double](repeating: 0, count: try Extents.count(shape))
        let (outer, offsets) = reducedOffsets(Array(input.shape.dropLast()), [axis])
        let (targets, steps) = reducedOffsets(Array(shape.dropLast()), [axis])
        for (start, target) in zip(outer, targets) {
            let line = offsets.map { offset in
                (values[(start + offset) * parts], parts == 2 ? values[(start + offset) * parts + 1] : 0)
            }
            let bins = transform(
                line, length: length, isInverse: call.node.int("inverse") == 1, count: shape[axis])
            for (bin, step) in zip(bins, steps) {
                result[(target + step) * 2] = bin.0
                result[(target + step) * 2 + 1] = bin.1
            }
        }
        return [try Tensor(call.elementType, shape: shape, doubles: result)]
    }

    /// Version 17 has the axis as an attribute, version 20 as an input.
    private static func dftAxis(_ node: Node, _ version: Int, _ given: [Int]?, rank: Int) throws(ModelError) -> Int {
        let axis = version < 20 ? node.int("axis") ?? 1 : given?.first ?? -2
        let positive = axis < 0 ? axis + rank : axis
        guard positive >= 0 && positive < rank - 1 else { throw .damaged("there is no axis \(axis) to transform") }
        return positive
    }

    /// Frames of a signal N × length × 1 or 2, each multiplied by a window and transformed.
    private static let stft = OperatorDefinition(
        "STFT", versions: [17], inputs: 2...4, types: [.floats, .index, .first, .index], attributes: ["onesided": .int],
        infer: { call throws(ModelError) in
            try Shapes.expect(call, 0, rank: 3...3)
            if let last = call.shape()?.last, ![.known(1), .known(2), .unknown].contains(last) {
                throw .damaged("the last axis of its signal holds no complex numbers")
            }
            guard let shape = call.shape(),
                let plan = try stftPlan(
                    call.node, signal: shape[1].extent, step: call.indices(1),
                    window: call.has(2) ? call.shape(2) : nil,
                    length: call.indices(3), isKnown: call.isKnownOrAbsent(3))
            else { return [TensorType(call.elementType(), Shapes.unknown(rank: 4))] }
            return [TensorType(call.elementType(), [shape[0], .known(plan.frames), .known(plan.bins), .known(2)])]
        }
    ) { call throws(ModelError) in
        let (input, shape) = (call.tensor(), call.shape())
        guard
            let plan = try stftPlan(
                call.node, signal: input.shape[1], step: call.tensor(1).indices(),
                window: call.optional(2)?.shape.map { .known($0) }, length: call.optional(3)?.indices(), isKnown: true)
        else { throw .wrongValue("its frames are not known") }
        let values = input.doubles()
        let factors = call.optional(2)?.doubles()
        let parts = input.shape[2]
        var result: [Double] = []
        for batch in 0..<input.shape[0] {
            for frame in 0..<plan.frames {
                let line = (0..<plan.length).map { place in
                    let index = (batch * input.shape[1] + frame * plan.step + place) * parts
                    let factor = factors?[safe: place] ?? (factors == nil ? 1 : 0)
                    return (values[index] * factor, parts == 2 ? values[index + 1] * factor : 0)
                }
                for bin in transform(line, length: plan.length, isInverse: false, count: plan.bins) {
                    result += [bin.0, bin.1]
                }
            }
        }
        return [try Tensor(call.elementType, shape: shape, doubles: result)]
    }

    private static func stftPlan(
        _ node: Node, signal: Int?, step: [Int]?, window: [Dimension]?, length: [Int]?, isKnown: Bool
    ) throws(ModelError) -> (step: Int, length: Int, frames: Int, bins: Int)? {
        guard step?.count ?? 1 == 1, length?.count ?? 1 == 1, window?.count ?? 1 == 1 else {
            throw .damaged("its step, its length or its window has another number of axes or elements")
        }
        guard let signal, let step = step?.first, isKnown else { return nil }
        guard let length = length?.first ?? window?.first?.extent else {
            if window == nil { throw .damaged("it has neither a window nor a length of frames") }
            return nil
        }
        guard step > 0, length > 0, length <= signal else {
            throw .damaged("frames of \(length) every \(step) do not fit a signal of \(signal)")
        }
        return (step, length, (signal - length) / step + 1, node.int("onesided") ?? 1 != 0 ? length / 2 + 1 : length)
    }
}
