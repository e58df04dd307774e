import Kernels

extension DeviceBuilder {
    /// A convolution of 3 × 3 with stride 1 by winograd.cl, where there are enough channels to pay for the transforms.
    ///
    /// - Returns: False where it is of another kind, or has too few channels.
    mutating func addWinograd(
        _ node: Node, _ followers: [Node], _ source: DeviceValue, _ shape: [Int], _ window: DeviceWindow, groups: Int
    ) throws(ModelError) -> Bool {
        let (filters, channels) = (shape[1], source.shape[1])
        guard window.kernel == [3, 3], window.strides == [1, 1], window.steps == [1, 1], groups == 1,
            min(filters, channels) >= tuning.winogradChannels, let tensor = initialisers[node.inputs[1]],
            let bias = bias(node, groups: 1),
            let plan = resultPlan(
                node, followers, shape: shape, groups: [0..<1, 1..<1, 1..<2, 2..<shape.count], bias: bias.value)
        else { return false }
        let (images, blocks) = (shape[0], window.output[0].tiles(of: 2) * window.output[1].tiles(of: 2))
        let tile = tuning.tile(columns: blocks)
        let (rowTiles, columnTiles) = (filters.tiles(of: tile.rows), blocks.tiles(of: tile.columns))
        let weights = try layout(node.inputs[1], "winograd \(tile.rows)") {
            .floats(Winograd.panels(tensor, filters: filters, channels: channels, width: tile.rows))
        }
        let (step, weightStep) = (columnTiles * channels * tile.columns, rowTiles * channels * tile.rows)
        let transformed = DevicePlace.arena(newBuffer(images * 16 * step))
        let sums = DeviceValue(.arena(newBuffer(images * 16 * filters * blocks)), shape: [images, 16, filters, blocks])
        let starts = window.starts
        @Sendable func parameters(_ at: Locations, channels: Int, _ result: bg_result) -> bg_winograd_params {
            bg_winograd_params(
                source: at(source), blocks_at: at(transformed), sums: at(sums), images: Int32(images),
                channels: Int32(channels), height: Int32(window.input[0]), width: Int32(window.input[1]),
                rows: Int32(window.output[0]), columns: Int32(window.output[1]), pad_y: Int32(-starts[0]),
                pad_x: Int32(-starts[1]), panel: Int32(tile.columns), result: result)
        }
        let runs = images * blocks.tiles(of: tuning.width)
        launch(
            "winograd_input", items: runs * channels, local: device.smallGroup, reads: [source.place],
            writes: transformed
        ) { at in parameters(at, channels: channels, bg_result()) }
        let product = ResultPlan(name: "", target: sums, strides: [16 * filters * blocks, filters * blocks, blocks])
        let share = tilesOfAnItem(rowTiles, others: columnTiles * images * 16)
        launch(
            "product", tile: tile, items: rowTiles.tiles(of: share) * columnTiles * images * 16 * tuning.threads,
            local: tuning.threads, reads: [weights, transformed], writes: sums.place,
            multiplyAdds: images * 16 * filters * channels * blocks
        ) { at in
            bg_product_params(
                a: at(weights), b: at(transformed), batch: (Int32(images), 16), a_strides: (0, Int32(weightStep)),
                b_strides: (Int32(16 * step), Int32(step)), rows: Int32(filters), columns: Int32(blocks),
                depth: Int32(channels), row_tiles: Int32(share), result: product.encoded(at))
        }
        launch(
            "winograd_output", items: runs * filters, local: device.smallGroup, reads: [sums.place] + plan.reads,
            writes: plan.target.place
        ) { at in parameters(at, channels: filters, plan.encoded(at)) }
        return true
    }
}

enum Winograd {
    /// `G w G'` of filters M × C × 3 × 3, as panels: [16][M rounded up / width][C][width].
    static func panels(_ tensor: Tensor, filters: Int, channels: Int, width: Int) -> [Float] {
        let step = filters.tiles(of: width) * channels * width
        let source = tensor.heldBytes.bindMemory(to: Float.self)
        var result = [Float](repeating: 0, count: 16 * step)
        result.withUnsafeMutableBufferPointer { target in
            for filter in 0..<filters {
                for channel in 0..<channels {
                    let w = (0..<9).map { source[(filter * channels + channel) * 9 + $0] }
                    let place = (filter / width * channels + channel) * width + filter % width
                    let rows = (0..<3).map { column in expanded(w[column], w[3 + column], w[6 + column]) }
                    for i in 0..<4 {
                        let line = expanded(rows[0][i], rows[1][i], rows[2][i])
                        for j in 0..<4 { target[(4 * i + j) * step + place] = line[j] }
                    }
                }
            }
        }
        withExtendedLifetime(tensor) {}
        return result
    }

    /// G times a column of three.
    private static func expanded(_ a: Float, _ b: Float, _ c: Float) -> SIMD4<Float> {
        SIMD4(a, (a + b + c) / 2, (a - b + c) / 2, c)
    }
}
