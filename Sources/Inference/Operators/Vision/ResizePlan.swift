import Foundation

/// How places of a resized tensor map back to its input, axis by axis.
struct ResizePlan {
    struct Mode {
        var interpolation = "nearest"
        var coordinates = "half_pixel"
        var nearest = "round_prefer_floor"
        var cubic = -0.75
        var excludesOutside = false
        var antialiases = false
        var outside = 0.0

        /// As before version 11: places are scaled from the corner.
        mutating func useVersion10() {
            coordinates = "asymmetric"
            nearest = "floor"
        }
    }

    var mode: Mode
    /// By axis of the whole tensor; 1 where nothing changes.
    var scales: [Double]
    var input: [Int]
    var output: [Int]
    /// Start and end by axis, in parts of the extent; for `tf_crop_and_resize`.
    var region: [(start: Double, end: Double)] = []

    static func checkModes(_ node: Node) throws(ModelError) {
        let known = [
            "mode": ["nearest", "linear", "bilinear", "cubic"],
            "coordinate_transformation_mode": [
                "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                "tf_crop_and_resize", "tf_half_pixel_for_nn",
            ],
            "nearest_mode": ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"],
            "keep_aspect_ratio_policy": ["stretch", "not_larger", "not_smaller"],
        ]
        for (attribute, values) in known.sorted(by: { $0.key < $1.key }) {
            if let value = node.string(attribute), !values.contains(value) {
                throw .unsupported(["\(attribute) \"\(value)\" of \(node.operatorName)"])
            }
        }
    }

    static func known(_ shape: [Dimension]) throws(ModelError) -> [Int]? {
        let extents = shape.compactMap(\.extent)
        return extents.count == shape.count ? extents : nil
    }

    init(_ node: Node, input: [Int], scales given: [Double]?, sizes: [Int]?) throws(ModelError) {
        let axes = (node.ints("axes") ?? Array(input.indices)).map { $0 < 0 ? $0 + input.count : $0 }
        guard axes.allSatisfy(input.indices.contains), Set(axes).count == axes.count else {
            throw .damaged("its axes are \(axes)")
        }
        self.input = input
        scales = Array(repeating: 1, count: input.count)
        output = input
        if let sizes, !sizes.isEmpty {
            guard sizes.count == axes.count, sizes.allSatisfy({ $0 >= 0 }) else {
                throw .damaged("\(sizes) are no sizes for \(axes.count) axes")
            }
            let policy = node.string("keep_aspect_ratio_policy") ?? "stretch"
            let ratios = zip(axes, sizes).map { Double($1) / Double(max(input[$0], 1)) }
            let common = policy == "not_larger" ? ratios.min() : policy == "not_smaller" ? ratios.max() : nil
            for (index, axis) in axes.enumerated() {
                scales[axis] = common ?? ratios[index]
                output[axis] =
                    common.map { Int(clampingTruncated: ($0 * Double(input[axis])).rounded(.toNearestOrAwayFromZero)) }
                    ?? sizes[index]
            }
        } else if let given, !given.isEmpty {
            guard given.count == axes.count, given.allSatisfy({ $0 > 0 && $0.isFinite }) else {
                throw .damaged("\(given) are no scales for \(axes.count) axes")
            }
            for (axis, scale) in zip(axes, given) where scale != 1 {
                scales[axis] = scale
                // In float32, as ONNX's shape inference has it: there 10 times 0.7 is 7, and not a little less.
                output[axis] = Int(clampingTruncated: Double(Float(input[axis]) * Float(scale)))
            }
        } else {
            throw .damaged("it has neither scales nor sizes")
        }
        for (before, after) in zip(input, output) where before == 0 && after != 0 {
            throw .damaged("an empty axis cannot grow to \(after)")
        }
        mode = Mode()
        mode.interpolation = node.string("mode") ?? "nearest"
        mode.coordinates = node.string("coordinate_transformation_mode") ?? "half_pixel"
        mode.nearest = node.string("nearest_mode") ?? "round_prefer_floor"
        mode.cubic = node.float("cubic_coeff_a") ?? -0.75
        mode.excludesOutside = node.int("exclude_outside") ?? 0 != 0
        mode.antialiases = node.int("antialias") ?? 0 != 0
        mode.outside = node.float("extrapolation_value") ?? 0
        region = Array(repeating: (0, 1), count: input.count)
    }

    static func region(
        _ node: Node, _ values: [Double]?, rank: Int
    ) throws(ModelError) -> [(start: Double, end: Double)] {
        var region = [(start: Double, end: Double)](repeating: (0, 1), count: rank)
        guard let values, !values.isEmpty else { return region }
        let axes = (node.ints("axes") ?? Array(0..<rank)).map { $0 < 0 ? $0 + rank : $0 }
        guard values.count == 2 * axes.count else { throw .wrongValue("its region has \(values.count) bounds") }
        for (index, axis) in axes.enumerated() { region[axis] = (values[index], values[axes.count + index]) }
        return region
    }

    // MARK: Evaluation

    /// Elements of an axis with their weights; empty where a place lies outside the region.
    typealias Taps = [(index: Int, weight: Double)]

    /// Axes on which something changes, in the order in which they are computed. Each has weights of its own, so any
    /// order gives the same; with those that shrink in front nothing in between is larger than both ends.
    var changedAxes: [Int] {
        let axes = input.indices.filter { scales[$0] != 1 || output[$0] != input[$0] || isCropped }
        return axes.filter { output[$0] < input[$0] } + axes.filter { output[$0] >= input[$0] }
    }

    func run(_ tensor: Tensor) throws(ModelError) -> Tensor {
        var values = tensor.doubles()
        var shape = tensor.shape
        // A place is outside where any axis is.
        var isOutside = [Bool](repeating: false, count: 1)
        var outsideShape = [Int](repeating: 1, count: shape.count)
        for axis in changedAxes {
            let taps = (0..<output[axis]).map { self.taps($0, axis) }
            let (outer, extent, inner) = Extents.split(shape, at: axis)
            var next = [Double](repeating: 0, count: outer * output[axis] * inner)
            for block in 0..<outer {
                for (place, list) in taps.enumerated() {
                    for tap in list {
                        let source = (block * extent + tap.index) * inner
                        let target = (block * output[axis] + place) * inner
                        // A weight of 0 must not spread an infinity, nor a NaN.
                        if tap.weight == 0 { continue }
                        for index in 0..<inner { next[target + index] += tap.weight * values[source + index] }
                    }
                }
            }
            values = next
            shape[axis] = output[axis]
            if taps.contains(where: \.isEmpty) {
                outsideShape[axis] = output[axis]
                let before = isOutside
                let stride = outsideShape[axis...].reduce(1, *) / max(output[axis], 1)
                isOutside = (0..<outsideShape.reduce(1, *)).map { number in
                    let position = number / stride % output[axis]
                    let earlier = number / (stride * output[axis])
                    return before[earlier * stride + number % stride] || taps[position].isEmpty
                }
            }
        }
        if isOutside.contains(true) {
            let strides = Extents.broadcastStrides(outsideShape, to: shape)
            for (index, place) in Extents.offsets(shape, strides: strides).enumerated() where isOutside[place] {
                values[index] = mode.outside
            }
        }
        if tensor.elementType.isInteger && mode.interpolation != "nearest" {
            values = values.map { $0.rounded(.toNearestOrEven) }
        }
        return try Tensor(tensor.elementType, shape: shape, doubles: values)
    }

    var isCropped: Bool { mode.coordinates == "tf_crop_and_resize" }

    private func coordinate(_ place: Int, _ axis: Int) -> Double {
        let (x, scale) = (Double(place), scales[axis])
        let (before, after) = (Double(input[axis]), Double(output[axis]))
        switch mode.coordinates {
        case "align_corners":
            // The resized extent is a whole number: so the standard's text says, so exporters mean it (PyTorch, whose corners
            // lie on each other whatever the scale was), and so ONNX Runtime has it. The standard's own cases take
            // `scale * before`, and miss the last corner where that is no whole number.
            return after <= 1 ? 0 : x * (before - 1) / (after - 1)
        case "asymmetric": return x / scale
        case "pytorch_half_pixel": return after > 1 ? (x + 0.5) / scale - 0.5 : 0
        case "tf_half_pixel_for_nn": return (x + 0.5) / scale
        case "half_pixel_symmetric":
            // The part that rounding the extent has cut off is shared by both ends.
            let adjustment = after / (scale * before)
            return before / 2 * (1 - adjustment) + (x + 0.5) / scale - 0.5
        case "tf_crop_and_resize":
            let (start, end) = region[axis]
            return after > 1
                ? start * (before - 1) + x * (end - start) * (before - 1) / (after - 1)
                : 0.5 * (start + end) * (before - 1)
        default: return (x + 0.5) / scale - 0.5
        }
    }

    func taps(_ place: Int, _ axis: Int) -> Taps {
        let x = coordinate(place, axis)
        let last = input[axis] - 1
        if isCropped && (x < 0 || x > Double(last)) { return [] }
        func inside(_ index: Int) -> Int { min(max(index, 0), last) }
        if mode.interpolation == "nearest" { return [(inside(Int(clampingTruncated: nearest(x))), 1)] }
        let stretch = mode.antialiases ? max(1, 1 / scales[axis]) : 1
        let reach = (mode.interpolation == "cubic" ? 2 : 1) * stretch
        let low = (x - reach).rounded(.down)
        let high = (x + reach).rounded(.up)
        var taps: Taps = []
        var sum = 0.0
        for index in Int(clampingTruncated: low)...Int(clampingTruncated: high) {
            let distance = abs(x - Double(index)) / stretch
            let weight = mode.interpolation == "cubic" ? cubic(distance) : max(1 - distance, 0)
            // Smoothing counts only places inside, as the standard's own evaluation does.
            if weight == 0 || (mode.excludesOutside) && (index < 0 || index > last) { continue }
            taps.append((inside(index), weight))
            sum += weight
        }
        return taps.map { ($0.index, $0.weight / sum) }
    }

    /// The convolution kernel of Keys (Cubic Convolution Interpolation for Digital Image Processing).
    private func cubic(_ distance: Double) -> Double {
        let a = mode.cubic
        if distance < 1 { return ((a + 2) * distance - (a + 3)) * distance * distance + 1 }
        if distance < 2 { return ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a }
        return 0
    }

    private func nearest(_ coordinate: Double) -> Double {
        // Elements, and places in the middle of two, that the rounding of scales and quotients has missed.
        let half = (2 * coordinate).rounded() / 2
        let x = abs(coordinate - half) < 1e-6 ? half : coordinate
        return switch mode.nearest {
        case "floor": x.rounded(.down)
        case "ceil": x.rounded(.up)
        case "round_prefer_ceil": (x + 0.5).rounded(.down)
        default: (x - 0.5).rounded(.up)
        }
    }
}
