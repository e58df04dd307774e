extension Operators {
    static let sampling: [OperatorDefinition] = [gridSample, affineGrid]

    /// Values of N × C × spatial at places N × output × axes that run from -1 to 1, the last axis first.
    private static let gridSample = OperatorDefinition(
        "GridSample", versions: [16, 20], inputs: 2...2, types: [.floats, .floats],
        attributes: ["align_corners": .int, "mode": .string, "padding_mode": .string],
        infer: { call throws(ModelError) in
            let mode = call.node.string("mode") ?? "linear"
            guard ["linear", "bilinear", "nearest", "cubic", "bicubic"].contains(mode) else {
                throw .damaged("there is no mode \"\(mode)\"")
            }
            let padding = call.node.string("padding_mode") ?? "zeros"
            guard ["zeros", "border", "reflection"].contains(padding) else {
                throw .damaged("there is no padding_mode \"\(padding)\"")
            }
            guard let shape = call.shape(0), let grid = call.shape(1) else {
                return [TensorType(call.elementType(), nil)]
            }
            guard shape.count >= 3, grid.count == shape.count else {
                throw .damaged("its data has \(shape.count) axes, its grid \(grid.count)")
            }
            try Shapes.same(grid[grid.count - 1], .known(shape.count - 2), "coordinates and spatial axes")
            if shape[2...].contains(.known(0)) { throw .damaged("its data has no places") }
            let batch = try Shapes.same(shape[0], grid[0], "batches of data and grid")
            return [TensorType(call.elementType(), [batch, shape[1]] + grid[1..<(grid.count - 1)])]
        }
    ) { call throws(ModelError) in
        let (input, grid, shape) = (call.tensor(0), call.tensor(1), call.shape())
        let spatial = Array(input.shape[2...])
        let axes = spatial.count
        let (planeSize, places) = (spatial.reduce(1, *), shape[2...].reduce(1, *))
        let sampler = GridSampler(call.node, spatial)
        let (values, coordinates) = (input.doubles(), grid.doubles())
        var result = [Double](repeating: 0, count: try Extents.count(shape))
        for batch in 0..<shape[0] {
            for place in 0..<places {
                let start = (batch * places + place) * axes
                let taps = sampler.taps((0..<axes).map { coordinates[start + axes - 1 - $0] })
                for channel in 0..<shape[1] {
                    let plane = (batch * shape[1] + channel) * planeSize
                    result[(batch * shape[1] + channel) * places + place] = taps.reduce(0) {
                        $0 + $1.weight * values[plane + $1.offset]
                    }
                }
            }
        }
        return [try Tensor(call.elementType, shape: shape, doubles: result)]
    }

    private struct GridSampler {
        let spatial: [Int]
        let isAligned: Bool
        let mode: String
        let padding: String

        init(_ node: Node, _ spatial: [Int]) {
            self.spatial = spatial
            isAligned = node.int("align_corners") ?? 0 != 0
            mode = node.string("mode") ?? "linear"
            padding = node.string("padding_mode") ?? "zeros"
        }

        /// Offsets in a plane with their weights.
        func taps(_ coordinates: [Double]) -> [(offset: Int, weight: Double)] {
            var taps: [(offset: Int, weight: Double)] = [(0, 1)]
            for axis in spatial.indices {
                let own = axisTaps(coordinates[axis], spatial[axis])
                taps = taps.flatMap { tap in
                    own.map { (tap.offset * spatial[axis] + $0.index, tap.weight * $0.weight) }
                }
            }
            return taps
        }

        private func axisTaps(_ coordinate: Double, _ extent: Int) -> [(index: Int, weight: Double)] {
            var x =
                isAligned
                ? (coordinate + 1) / 2 * Double(extent - 1) : ((coordinate + 1) * Double(extent) - 1) / 2
            guard x.isFinite else { return [] }
            let isCubic = mode == "cubic" || mode == "bicubic"
            if !isCubic { x = padded(x, extent) }
            if mode == "nearest" { return inside(x.rounded(.toNearestOrEven), 1, extent) }
            let base = x.rounded(.down)
            let part = x - base
            guard isCubic else {
                return inside(base, 1 - part, extent) + inside(base + 1, part, extent)
            }
            let weights = [cubic(part + 1), cubic(part), cubic(1 - part), cubic(2 - part)]
            return weights.enumerated().flatMap { index, weight in
                inside(padded(base + Double(index) - 1, extent), weight, extent)
            }
        }

        private func inside(_ place: Double, _ weight: Double, _ extent: Int) -> [(index: Int, weight: Double)] {
            guard place >= 0 && place <= Double(extent - 1) else { return [] }
            return [(Int(place), weight)]
        }

        private func padded(_ x: Double, _ extent: Int) -> Double {
            let last = Double(extent - 1)
            switch padding {
            case "border": return min(max(x, 0), last)
            case "reflection":
                let (low, high) = isAligned ? (0, last) : (-0.5, last + 0.5)
                let range = high - low
                if range == 0 { return 0 }
                var rest = (x - low).truncatingRemainder(dividingBy: 2 * range)
                if rest < 0 { rest += 2 * range }
                return min(max(low + (rest > range ? 2 * range - rest : rest), 0), last)
            default: return x
            }
        }

        private func cubic(_ distance: Double) -> Double {
            let a = -0.75
            if distance <= 1 { return ((a + 2) * distance - (a + 3)) * distance * distance + 1 }
            return ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
        }
    }

    /// Places of an output of 2 or 3 spatial axes under an affine map, as GridSample takes them.
    private static let affineGrid = OperatorDefinition(
        "AffineGrid", versions: [20], inputs: 2...2, types: [.floats, .int64], attributes: ["align_corners": .int],
        infer: { call throws(ModelError) in
            try Shapes.expect(call, 0, rank: 3...3)
            guard let size = call.indices(1) else { return [TensorType(call.elementType(), nil)] }
            guard size.count == 4 || size.count == 5, size.allSatisfy({ $0 >= 0 }) else {
                throw .damaged("its size is \(size)")
            }
            if let shape = call.shape() {
                for (one, other) in zip(shape, [size[0], size.count - 2, size.count - 1]) {
                    try Shapes.same(one, .known(other), "the maps and the size")
                }
            }
            return [TensorType(call.elementType(), extents: [size[0]] + size[2...] + [size.count - 2])]
        }
    ) { call throws(ModelError) in
        let shape = call.shape()
        let spatial = Array(shape[1..<(shape.count - 1)])
        let axes = spatial.count
        let isAligned = call.node.int("align_corners") ?? 0 != 0
        let maps = call.tensor().doubles()
        var result: [Double] = []
        for batch in 0..<shape[0] {
            for number in 0..<spatial.reduce(1, *) {
                let position = Extents.position(number, in: spatial)
                var place = spatial.indices.map { axis in
                    let (x, extent) = (Double(position[axis]), Double(spatial[axis]))
                    if isAligned { return extent == 1 ? -1 : 2 * x / (extent - 1) - 1 }
                    return (2 * x + 1) / extent - 1
                }
                place = place.reversed() + [1]
                for row in 0..<axes {
                    let start = (batch * axes + row) * (axes + 1)
                    result.append(place.indices.reduce(0) { $0 + maps[start + $1] * place[$1] })
                }
            }
        }
        return [try Tensor(call.elementType, shape: shape, doubles: result)]
    }
}
