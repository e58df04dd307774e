/// How a window moves over the spatial axes of N × C × d1 × d2 ...: everything by spatial axis.
struct WindowGeometry {
    var kernel: [Int]
    var strides: [Int]
    var dilations: [Int]
    var padsBefore: [Int]
    var padsAfter: [Int]
    var output: [Int]

    /// - Parameters:
    ///   - node: Has strides, dilations, pads, `auto_pad` and `ceil_mode`.
    ///   - input: Spatial extents.
    ///   - kernel: Extents of the window.
    /// - Throws: `damaged` where attributes and extents do not fit.
    init(_ node: Node, input: [Int], kernel: [Int]) throws(ModelError) {
        let rank = input.count
        self.kernel = kernel
        strides = node.ints("strides") ?? Array(repeating: 1, count: rank)
        dilations = node.ints("dilations") ?? Array(repeating: 1, count: rank)
        let pads = node.ints("pads") ?? Array(repeating: 0, count: 2 * rank)
        guard kernel.count == rank, strides.count == rank, dilations.count == rank, pads.count == 2 * rank else {
            throw .damaged("its kernel, strides, dilations or pads are not for \(rank) spatial axes")
        }
        let all = kernel + strides + dilations
        guard all.allSatisfy({ $0 > 0 && $0 < 1 << 31 }), pads.allSatisfy({ $0 >= 0 && $0 < 1 << 31 }) else {
            throw .damaged(
                "its kernel, strides, dilations and pads are \(kernel), \(strides), \(dilations) and \(pads)")
        }
        _ = try Extents.count(kernel)
        // So that no sum below leaves `Int`.
        guard input.allSatisfy({ $0 < 1 << 61 }) else { throw .tooLarge("its spatial extents are \(input)") }
        padsBefore = Array(pads[..<rank])
        padsAfter = Array(pads[rank...])
        output = []
        let mode = node.string("auto_pad") ?? "NOTSET"
        guard ["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"].contains(mode) else {
            throw .damaged("there is no auto_pad \"\(mode)\"")
        }
        if mode == "VALID" {
            padsBefore = Array(repeating: 0, count: rank)
            padsAfter = padsBefore
        }
        for axis in 0..<rank {
            let reach = (kernel[axis] - 1) * dilations[axis] + 1
            if mode.hasPrefix("SAME") {
                let count = (input[axis] + strides[axis] - 1) / strides[axis]
                let total = max((count - 1) * strides[axis] + reach - input[axis], 0)
                padsBefore[axis] = mode == "SAME_UPPER" ? total / 2 : total - total / 2
                padsAfter[axis] = total - padsBefore[axis]
                output.append(count)
                continue
            }
            let span = try Shapes.sum([input[axis], padsBefore[axis], padsAfter[axis], -reach])
            guard span >= 0 else {
                throw .damaged("a window of \(reach) is larger than its padded axis of \(span + reach)")
            }
            var count = span / strides[axis] + 1
            if node.int("ceil_mode") == 1 && span % strides[axis] != 0 {
                // A last window that began in the padding behind the data would see none of it.
                if count * strides[axis] < input[axis] + padsBefore[axis] { count += 1 }
            }
            output.append(count)
        }
    }

    /// Shape of the output for an input N × C × spatial; unknown spatial extents stay unknown.
    static func outputShape(
        _ node: Node, input: [Dimension], kernel: [Dimension]?, channels: Dimension
    ) throws(ModelError) -> [Dimension] {
        let spatial = input[2...].map { $0.extent }
        let window = kernel?.compactMap(\.extent)
        guard let window, window.count == kernel?.count else {
            return [input[0], channels] + Shapes.unknown(rank: spatial.count)
        }
        // An unknown axis takes the place of one that any window fits, for checking the others.
        let standIn = spatial.map { $0 ?? 1 << 40 }
        let output = try WindowGeometry(node, input: standIn, kernel: window).output
        return [input[0], channels] + zip(spatial, output).map { $0 == nil ? .unknown : .known($1) }
    }

    /// How many places of the window are over the data or its padding: all, but at positions that `ceil_mode` has added.
    /// Dilated windows are cut there too, as ONNX Runtime has it and the standard's cases since ONNX 1.18.
    func placesOverPaddedData(_ position: [Int], input: [Int]) -> Int {
        kernel.indices.reduce(1) { count, axis in
            let rest = padsBefore[axis] + input[axis] + padsAfter[axis] - position[axis] * strides[axis]
            return count * min(kernel[axis], (rest + dilations[axis] - 1) / dilations[axis])
        }
    }

    /// Whether positions that `ceil_mode` has added see less than a whole window of the data and its padding.
    func hasCutWindows(input: [Int]) -> Bool {
        placesOverPaddedData(output.map { $0 - 1 }, input: input) < kernel.reduce(1, *)
    }

    /// Calls `body` for each place of the window over the data, with the number of the place in the window and the
    /// offset in the data.
    func forEachTap(_ position: [Int], input: [Int], _ body: (_ tap: Int, _ offset: Int) -> Void) {
        let steps = Extents.strides(input)
        // Only taps over the data are visited: padded windows may be far larger.
        var ranges: [Range<Int>] = []
        for axis in kernel.indices {
            let start = position[axis] * strides[axis] - padsBefore[axis]
            let low = start >= 0 ? 0 : (-start + dilations[axis] - 1) / dilations[axis]
            let high = min(kernel[axis], input[axis] > start ? (input[axis] - start - 1) / dilations[axis] + 1 : 0)
            guard low < high else { return }
            ranges.append(low..<high)
        }
        for number in 0..<ranges.reduce(1, { $0 * $1.count }) {
            var (rest, tap, offset, size) = (number, 0, 0, 1)
            for axis in kernel.indices.reversed() {
                let place = ranges[axis].lowerBound + rest % ranges[axis].count
                rest /= ranges[axis].count
                tap += place * size
                size *= kernel[axis]
                offset += (position[axis] * strides[axis] + place * dilations[axis] - padsBefore[axis]) * steps[axis]
            }
            body(tap, offset)
        }
    }
}
