extension Operators {
    static let regions: [OperatorDefinition] = [roiAlign, nonMaxSuppression]

    /// Means or largest of samples in the bins of regions (He et al., Mask R-CNN). Data N × C × H × W, regions K × 4 with
    /// x and y of two corners, batch numbers K.
    private static let roiAlign = OperatorDefinition(
        "RoiAlign", versions: [10, 16], inputs: 3...3, types: [.floats, .first, .int64],
        attributes: [
            "coordinate_transformation_mode": .string, "mode": .string, "output_height": .int, "output_width": .int,
            "sampling_ratio": .int, "spatial_scale": .float,
        ],
        infer: { call throws(ModelError) in
            guard ["avg", "max"].contains(call.node.string("mode") ?? "avg") else {
                throw .damaged("its mode is unknown")
            }
            try Shapes.expect(call, 0, rank: 4...4)
            try Shapes.expect(call, 1, rank: 2...2)
            try Shapes.expect(call, 2, rank: 1...1)
            let (height, width) = (call.node.int("output_height") ?? 1, call.node.int("output_width") ?? 1)
            let ratio = call.node.int("sampling_ratio") ?? 0
            guard height > 0, width > 0, ratio >= 0, ratio <= 64 else {
                throw .damaged("its output has \(height) rows and \(width) columns")
            }
            if let regions = call.shape(1) {
                try Shapes.same(regions[1], .known(4), "corners of regions")
                if let batches = call.shape(2) { try Shapes.same(regions[0], batches[0], "regions and batch numbers") }
            }
            return [
                TensorType(
                    call.elementType(),
                    [call.shape(1)?[0] ?? .unknown, call.shape(0)?[1] ?? .unknown, .known(height), .known(width)])
            ]
        }
    ) { call throws(ModelError) in
        let (input, shape) = (call.tensor(0), call.shape())
        let (height, width) = (input.shape[2], input.shape[3])
        let (rows, columns) = (shape[2], shape[3])
        let scale = call.node.float("spatial_scale") ?? 1
        let isHalfPixel =
            call.version >= 16
            && call.node.string("coordinate_transformation_mode") ?? "half_pixel" == "half_pixel"
        let shift = isHalfPixel ? 0.5 : 0
        let (values, regions, batches) = (input.doubles(), call.tensor(1).doubles(), call.tensor(2).indices())
        var result = [Double](repeating: 0, count: try Extents.count(shape))
        for region in 0..<shape[0] {
            guard batches[region] >= 0 && batches[region] < input.shape[0] else {
                throw .wrongValue("there is no batch \(batches[region])")
            }
            let corner = (0..<4).map { regions[region * 4 + $0] * scale - shift }
            guard corner.allSatisfy({ $0.magnitude < 0x1p20 }) else { throw .wrongValue("a region is not on the data") }
            let least = isHalfPixel ? -Double.infinity : 1
            let (spanY, spanX) = (max(corner[3] - corner[1], least), max(corner[2] - corner[0], least))
            let (binY, binX) = (spanY / Double(rows), spanX / Double(columns))
            let ratio = call.node.int("sampling_ratio") ?? 0
            let samplesY = ratio > 0 ? ratio : max(Int(binY.rounded(.up)), 0)
            let samplesX = ratio > 0 ? ratio : max(Int(binX.rounded(.up)), 0)
            // A bin that is much larger than the data would only sample zeros.
            guard samplesY / 2 <= max(height, 32), samplesX / 2 <= max(width, 32) else {
                throw .wrongValue("a region is not on the data")
            }
            for channel in 0..<shape[1] {
                let plane = (batches[region] * shape[1] + channel) * height * width
                for bin in 0..<(rows * columns) {
                    var samples: [Double] = []
                    var largest = -Double.infinity
                    for y in 0..<samplesY {
                        for x in 0..<samplesX {
                            let taps = regionTaps(
                                corner[1] + (Double(bin / columns) + (Double(y) + 0.5) / Double(samplesY)) * binY,
                                corner[0] + (Double(bin % columns) + (Double(x) + 0.5) / Double(samplesX)) * binX,
                                height, width)
                            samples.append(taps.reduce(0) { $0 + $1.weight * values[plane + $1.offset] })
                            // The largest is that of the weighted corners, not of the samples, as the standard has it.
                            for tap in taps {
                                largest = Operators.largest(largest, tap.weight * values[plane + tap.offset])
                            }
                        }
                    }
                    let place = (region * shape[1] + channel) * rows * columns + bin
                    if call.node.string("mode") == "max" {
                        result[place] = largest.isFinite ? largest : 0
                    } else {
                        result[place] = samples.reduce(0, +) / Double(max(samples.count, 1))
                    }
                }
            }
        }
        return [try Tensor(call.elementType, shape: shape, doubles: result)]
    }

    private static func regionTaps(
        _ y: Double, _ x: Double, _ height: Int, _ width: Int
    ) -> [(offset: Int, weight: Double)] {
        guard y >= -1, y <= Double(height), x >= -1, x <= Double(width), height > 0, width > 0 else { return [] }
        func ends(_ place: Double, _ extent: Int) -> (low: Int, high: Int, part: Double) {
            let positive = max(place, 0)
            let low = Int(positive)
            return low >= extent - 1 ? (extent - 1, extent - 1, 0) : (low, low + 1, positive - Double(low))
        }
        let (top, left) = (ends(y, height), ends(x, width))
        return [
            (top.low * width + left.low, (1 - top.part) * (1 - left.part)),
            (top.low * width + left.high, (1 - top.part) * left.part),
            (top.high * width + left.low, top.part * (1 - left.part)),
            (top.high * width + left.high, top.part * left.part),
        ]
    }

    // MARK: Suppression

    /// Boxes N × K × 4, scores N × classes × K; the result has a row of batch, class and box for each box that stays.
    private static let nonMaxSuppression = OperatorDefinition(
        "NonMaxSuppression", versions: [10, 11], inputs: 2...5,
        types: [.only(.float32), .only(.float32), .int64, .only(.float32), .only(.float32)],
        attributes: ["center_point_box": .int],
        infer: { call throws(ModelError) in
            try Shapes.expect(call, 0, rank: 3...3)
            try Shapes.expect(call, 1, rank: 3...3)
            if let boxes = call.shape(0), let scores = call.shape(1) {
                try Shapes.same(boxes[0], scores[0], "batches of boxes and scores")
                try Shapes.same(boxes[1], scores[2], "boxes and scores")
                try Shapes.same(boxes[2], .known(4), "coordinates of boxes")
            }
            return [TensorType(.int64, [.unknown, .known(3)])]
        }
    ) { call throws(ModelError) in
        let (boxes, scores) = (call.tensor(0).doubles(), call.tensor(1).doubles())
        let shape = call.tensor(1).shape
        let most = max(call.optional(2)?.indices().first ?? 0, 0)
        let overlap = call.optional(3)?.doubles().first ?? 0
        let threshold = call.optional(4)?.doubles().first
        let isCentred = call.node.int("center_point_box") == 1
        var chosen: [Int] = []
        // Where there are no scores, the other extents may be beyond any loop.
        for batch in 0..<(scores.isEmpty ? 0 : shape[0]) {
            let rectangles = (0..<shape[2]).map { Rectangle(boxes, (batch * shape[2] + $0) * 4, isCentred: isCentred) }
            for kind in 0..<shape[1] {
                let start = (batch * shape[1] + kind) * shape[2]
                let candidates = (0..<shape[2])
                    .filter { box in threshold.map { scores[start + box] > $0 } ?? true }
                    .sorted {
                        scores[start + $0] == scores[start + $1] ? $0 < $1 : scores[start + $0] > scores[start + $1]
                    }
                var kept: [Int] = []
                for box in candidates where kept.count < most {
                    if kept.allSatisfy({ rectangles[$0].overlap(rectangles[box]) <= overlap }) { kept.append(box) }
                }
                for box in kept { chosen += [batch, kind, box] }
            }
        }
        return [try Tensor(indices: chosen, shape: [chosen.count / 3, 3])]
    }

    private struct Rectangle {
        var top: Double
        var left: Double
        var bottom: Double
        var right: Double

        init(_ values: [Double], _ start: Int, isCentred: Bool) {
            let list = values[start..<(start + 4)]
            let (first, second, third, fourth) = (list[start], list[start + 1], list[start + 2], list[start + 3])
            if isCentred {
                (left, right) = (first - third / 2, first + third / 2)
                (top, bottom) = (second - fourth / 2, second + fourth / 2)
            } else {
                (top, bottom) = (min(first, third), max(first, third))
                (left, right) = (min(second, fourth), max(second, fourth))
            }
        }

        private var area: Double { max(bottom - top, 0) * max(right - left, 0) }

        /// Area of the intersection in parts of that of the union.
        func overlap(_ other: Rectangle) -> Double {
            let height = min(bottom, other.bottom) - max(top, other.top)
            let width = min(right, other.right) - max(left, other.left)
            guard height > 0 && width > 0 else { return 0 }
            return height * width / (area + other.area - height * width)
        }
    }
}
