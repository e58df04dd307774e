import Kernels

extension DeviceBuilder {
    /// Data N × C × spatial, weights M × C/group × kernel, bias M.
    mutating func addConvolution(_ node: Node, _ followers: [Node]) throws(ModelError) -> Bool {
        guard let shape = self.shape(of: node.outputs[0]), let weights = self.shape(of: node.inputs[1]),
            let source = plain(node.inputs[0]), (3...5).contains(shape.count)
        else { return false }
        let (input, kernel) = (Array(source.shape[2...]), Array(weights[2...]))
        guard let geometry = try? WindowGeometry(node, input: input, kernel: kernel), geometry.isSmall else {
            return false
        }
        let window = DeviceWindow(
            input: input, output: geometry.output, kernel: kernel, strides: geometry.strides,
            spread: kernel.map { _ in 1 },
            steps: geometry.dilations, starts: geometry.padsBefore.map { -$0 })
        let groups = node.int("group") ?? 1
        let filters = weights[0] / groups
        if weights[1] == 1 && groups == source.shape[1] && groups > 1 {
            return try addDepthwise(node, followers, source, shape, window)
        }
        let before = self
        if try addWinograd(node, followers, source, shape, window, groups: groups) { return true }
        self = before
        return try addWindowedProduct(node, followers, source, shape, window, groups: groups) { channels, taps in
            { group, filter, channel, tap in ((group * filters + filter) * channels + channel) * taps + tap }
        }
    }

    /// Data N × C × spatial, weights C × M/group × kernel, bias M.
    mutating func addTransposedConvolution(_ node: Node, _ followers: [Node]) throws(ModelError) -> Bool {
        guard let shape = self.shape(of: node.outputs[0]), let weights = self.shape(of: node.inputs[1]),
            let source = plain(node.inputs[0]), (3...5).contains(shape.count)
        else { return false }
        let (input, kernel) = (Array(source.shape[2...]), Array(weights[2...]))
        guard let geometry = try? TransposedGeometry(node, input: input, kernel: kernel),
            (geometry.strides + geometry.dilations + geometry.padsBefore + kernel).allSatisfy({ $0.magnitude < 1 << 12 }
            )
        else { return false }
        let window = DeviceWindow(
            input: input, output: geometry.output, kernel: kernel, strides: kernel.map { _ in 1 },
            spread: geometry.strides,
            steps: geometry.dilations.map { -$0 }, starts: geometry.padsBefore)
        let filters = weights[1]
        return try addWindowedProduct(
            node, followers, source, shape, window, groups: node.int("group") ?? 1
        ) { channels, taps in
            { group, filter, channel, tap in ((group * channels + channel) * filters + filter) * taps + tap }
        }
    }

    /// A convolution or transposed convolution; `offset` is that of an element of the weights, by channels of a group and
    /// taps.
    private mutating func addWindowedProduct(
        _ node: Node, _ followers: [Node], _ source: DeviceValue, _ shape: [Int], _ window: DeviceWindow, groups: Int,
        offset: (_ channels: Int, _ taps: Int) -> (_ group: Int, _ filter: Int, _ channel: Int, _ tap: Int) -> Int
    ) throws(ModelError) -> Bool {
        let (filters, channels) = (shape[1] / groups, source.shape[1] / groups)
        let (pixels, taps) = (window.output.reduce(1, *), window.taps.count)
        let tile = tuning.tile(columns: pixels)
        let name = node.inputs[1]
        // Weights that are computed at each run are left to the host.
        guard let tensor = initialisers[name], let bias = bias(node, groups: groups),
            let plan = resultPlan(
                node, followers, shape: shape, split: (1, filters),
                groups: [0..<1, 1..<2, 2..<3, 3..<(shape.count + 1)],
                bias: bias.value)
        else { return false }
        let place = offset(channels, taps)
        let packed = try layout(name, "filters \(tile.rows) \(node.operatorName) \(groups)") {
            .floats(
                Packing.filters(
                    tensor, groups: groups, filters: filters, channels: channels, taps: taps, width: tile.rows,
                    offset: place))
        }
        let table = constant(.integers(window.table))
        if window.isFlat { reaches(window.largestShift + tile.columns) }
        let (rowTiles, columnTiles) = (filters.tiles(of: tile.rows), pixels.tiles(of: tile.columns))
        let (images, plane) = (shape[0], window.input.reduce(1, *))
        let share = tilesOfAnItem(rowTiles, others: columnTiles * images * groups)
        let parts = rowTiles.tiles(of: share) * columnTiles * images * groups
        let (imageStride, groupStride) = (source.shape[1] * plane, channels * plane)
        let weightStride = rowTiles * taps * channels * tile.rows
        launch(
            "convolution", tile: tile, items: parts * tuning.threads, local: tuning.threads,
            reads: [packed, source.place, table] + plan.reads, writes: plan.target.place,
            multiplyAdds: images * shape[1] * pixels * channels * taps
        ) { at in
            bg_convolution_params(
                weights: at(packed), source: at(source), taps: at(table), groups: Int32(groups), images: Int32(images),
                filters: Int32(filters), channels: Int32(channels), tap_count: Int32(taps),
                input: window.space(window.input),
                output: window.space(window.output), strides: window.space(window.strides),
                spread: window.space(window.spread), image_stride: Int32(imageStride), group_stride: Int32(groupStride),
                plane: Int32(plane), weight_stride: Int32(weightStride), is_flat: window.isFlat ? 1 : 0,
                row_tiles: Int32(share), result: plan.encoded(at))
        }
        return true
    }

    /// One window for each channel.
    private mutating func addDepthwise(
        _ node: Node, _ followers: [Node], _ source: DeviceValue, _ shape: [Int], _ window: DeviceWindow
    ) throws(ModelError) -> Bool {
        guard let weights = plain(node.inputs[1]), let bias = bias(node, groups: 1),
            let plan = resultPlan(
                node, followers, shape: shape, groups: [0..<1, 1..<1, 1..<2, 2..<shape.count], bias: bias.value)
        else { return false }
        addWindow("depthwise", source, weights: weights, shape, window, plan)
        return true
    }

    /// A kernel of window.cl.
    mutating func addWindow(
        _ kernel: String, _ source: DeviceValue, weights: DeviceValue? = nil, _ shape: [Int], _ window: DeviceWindow,
        countsPadding: Bool = false, _ plan: ResultPlan
    ) {
        let table = constant(.integers(window.table))
        // Padding, which is below 4096, and two vectors.
        reaches(1 << 13)
        let (pixels, taps, multiplier) = (window.output.reduce(1, *), window.taps.count, shape[1] / source.shape[1])
        let rows = pixels / (window.output.last ?? 1)
        let parts = tuning.width == 1 ? pixels : rows.tiles(of: Int(BG_WINDOW_ROWS))
        launch(
            kernel, items: shape[0] * shape[1] * parts, local: device.smallGroup,
            reads: [source.place, table] + (weights.map { [$0.place] } ?? []) + plan.reads, writes: plan.target.place,
            multiplyAdds: shape[0] * shape[1] * pixels * taps
        ) { at in
            bg_window_params(
                source: at(source), weights: weights.map { at($0) } ?? 0, taps: at(table), images: Int32(shape[0]),
                channels: Int32(shape[1]), multiplier: Int32(multiplier), tap_count: Int32(taps),
                input: window.space(window.input), output: window.space(window.output),
                strides: window.space(window.strides), counts_padding: countsPadding ? 1 : 0,
                window_columns: Int32(window.kernel.last ?? 1), result: plan.encoded(at))
        }
    }

    /// The bias of a convolution, where it has one.
    ///
    /// - Returns: Nil where kernels cannot read it.
    mutating func bias(_ node: Node, groups: Int) -> (value: (value: DeviceValue, strides: [Int])?, Void)? {
        guard node.inputs.count > 2, !node.inputs[2].isEmpty else { return (nil, ()) }
        guard let value = plain(node.inputs[2]) else { return nil }
        return ((value, [value.count / groups, 1, 0]), ())
    }
}

/// How a window moves over one to three spatial axes, as the kernels have it: the place that a tap sees of output `o` is
/// `(o · stride + start + tap · step) / spread`, where that is whole and inside.
struct DeviceWindow: Sendable {
    var input: [Int]
    var output: [Int]
    var kernel: [Int]
    var strides: [Int]
    var spread: [Int]
    var steps: [Int]
    var starts: [Int]

    /// Three axes; 1 for those that are not there.
    func space(_ list: [Int]) -> (Int32, Int32, Int32) { triple(Array(repeating: 1, count: 3 - list.count) + list) }

    /// Output and input have the same extents, and each tap is one shift for all places.
    var isFlat: Bool { input == output && (strides + spread).allSatisfy { $0 == 1 } }

    /// Shifts by axis of each place of the window.
    var taps: [[Int]] {
        (0..<kernel.reduce(1, *)).map { number in
            let position = Extents.position(number, in: kernel)
            return position.indices.map { starts[$0] + position[$0] * steps[$0] }
        }
    }

    private func flatShift(_ tap: [Int]) -> Int { zip(tap, Extents.strides(input)).reduce(0) { $0 + $1.0 * $1.1 } }

    var largestShift: Int { taps.map { abs(flatShift($0)) }.max() ?? 0 }

    /// Of each tap the shifts along three axes and in a plane.
    var table: [Int32] {
        taps.flatMap { tap in
            (Array(repeating: 0, count: 3 - tap.count) + tap + [flatShift(tap)]).map { Int32($0) }
        }
    }
}
