import Kernels

extension DeviceBuilder {
    /// Matrices or stacks of them, which broadcast.
    mutating func addMatrixProduct(_ node: Node, _ followers: [Node]) throws(ModelError) -> Bool {
        if followers.last?.operatorName == "MatMul" { return try addAttention(node, followers) }
        guard let shape = self.shape(of: node.outputs[0]), var left = value(node.inputs[0]),
            var right = value(node.inputs[1]), !left.shape.isEmpty, !right.shape.isEmpty
        else { return false }
        let isList = left.shape.count == 1 || right.shape.count == 1
        if isList && !followers.isEmpty { return false }
        if left.shape.count == 1 { left = left.inserting(0) }
        if right.shape.count == 1 { right = right.inserting(1) }
        var matrix = shape
        if isList {
            let rank = max(left.shape.count, right.shape.count)
            matrix =
                Array(shape.prefix(rank - 2)) + [
                    left.shape[left.shape.count - 2], right.shape[right.shape.count - 1],
                ]
        }
        if right.shape.count == 2 && left.shape.count > 2 && left.isPlain {
            // One product of all rows.
            left = left.reshaped([left.shape.dropLast().reduce(1, *), left.shape[left.shape.count - 1]])
            matrix = [left.shape[0], right.shape[1]]
        }
        let rank = matrix.count
        let batch = Array(matrix.dropLast(2))
        guard let a = left.broadcast(to: batch + [matrix[rank - 2], left.shape[left.shape.count - 1]]),
            let b = right.broadcast(to: batch + [right.shape[right.shape.count - 2], matrix[rank - 1]])
        else { return false }
        // Rows of the product may be several axes of the result.
        let columns = shape.count - 1
        let groups =
            isList || columns < 1
            ? [0..<0, 0..<0, 0..<0, 0..<shape.count]
            : rank == 2
                ? [0..<0, 0..<0, 0..<columns, columns..<shape.count]
                : [0..<(rank - 3), (rank - 3)..<(rank - 2), (rank - 2)..<(rank - 1), (rank - 1)..<rank]
        guard var plan = resultPlan(node, followers, shape: shape, groups: groups) else { return false }
        if isList {
            // The result lacks rows or columns; it is written as if it had them.
            let full = Array(repeating: 1, count: max(3 - rank, 0)) + matrix
            let cut = full.count - 3
            plan.strides =
                DeviceValue(plan.target.place, shape: full).strides(over: [
                    0..<cut, cut..<(cut + 1), (cut + 1)..<(cut + 2),
                ])
                ?? plan.strides
        }
        return try addProduct(a, node.inputs[0], b, node.inputs[1], plan)
    }

    /// `alpha · A · B + beta · C`, where A and B may lie transposed.
    mutating func addGeneralProduct(_ node: Node, _ followers: [Node]) throws(ModelError) -> Bool {
        guard let shape = self.shape(of: node.outputs[0]), var a = value(node.inputs[0]), var b = value(node.inputs[1])
        else {
            return false
        }
        if node.int("transA") ?? 0 != 0 { a = a.permuted([1, 0]) }
        if node.int("transB") ?? 0 != 0 { b = b.permuted([1, 0]) }
        let hasAddend = node.inputs.count > 2 && !node.inputs[2].isEmpty
        guard node.float("alpha") ?? 1 == 1, !hasAddend || node.float("beta") ?? 1 == 1 else { return false }
        let groups = [0..<0, 0..<0, 0..<1, 1..<2]
        var bias: (value: DeviceValue, strides: [Int])?
        if hasAddend {
            guard let operand = operand(node.inputs[2], shape: shape, groups: groups) else { return false }
            bias = (operand.value, Array(operand.strides.dropFirst()))
        }
        guard let plan = resultPlan(node, followers, shape: shape, groups: groups, bias: bias) else { return false }
        return try addProduct(a, node.inputs[0], b, node.inputs[1], plan)
    }

    /// `a` has batch axes, then rows × depth; `b` the same batch axes, then depth × columns.
    private mutating func addProduct(
        _ a: DeviceValue, _ aName: String, _ b: DeviceValue, _ bName: String, _ plan: ResultPlan
    ) throws(ModelError) -> Bool {
        let rank = a.shape.count
        let (rows, depth, columns) = (a.shape[rank - 2], a.shape[rank - 1], b.shape[rank - 1])
        let tile = tuning.tile(columns: columns)
        guard let left = try panels(a, aName, rowAxis: rank - 2, depthAxis: rank - 1, width: tile.rows),
            let right = try panels(b, bName, rowAxis: rank - 1, depthAxis: rank - 2, width: tile.columns)
        else { return false }
        let (rowTiles, columnTiles) = (rows.tiles(of: tile.rows), columns.tiles(of: tile.columns))
        let batch = left.batch
        let share = tilesOfAnItem(rowTiles, others: columnTiles * batch[0] * batch[1])
        let groups = rowTiles.tiles(of: share) * columnTiles * batch[0] * batch[1]
        launch(
            "product", tile: tile, items: groups * tuning.threads, local: tuning.threads,
            reads: [left.place, right.place] + plan.reads, writes: plan.target.place,
            multiplyAdds: rows * columns * depth * batch[0] * batch[1]
        ) { at in
            bg_product_params(
                a: at(left.place), b: at(right.place), batch: pair(batch), a_strides: pair(left.strides),
                b_strides: pair(right.strides), rows: Int32(rows), columns: Int32(columns), depth: Int32(depth),
                row_tiles: Int32(share), result: plan.encoded(at))
        }
        return true
    }

    /// Tiles of one column that a work-item of the CPU form computes: few enough that every processor has work.
    func tilesOfAnItem(_ tiles: Int, others: Int) -> Int {
        guard tuning.width > 1 else { return 1 }
        let wanted = 2 * max(device.computeUnits, 1)
        return min(tiles.tiles(of: max(1, wanted.tiles(of: max(others, 1)))), Int(BG_ITEM_TILES))
    }

    // MARK: Panels

    /// A matrix, or a stack of them in two axes, in panels.
    struct Panels {
        var place: DevicePlace
        /// Numbers of matrices, outer first.
        var batch: [Int]
        /// From one matrix to the next, by batch axis; 0 where it is the same.
        var strides: [Int]
    }

    /// Packs rows and depth of a value; constants are packed once.
    ///
    /// - Returns: Nil where the batch axes cannot be counted as two.
    mutating func panels(
        _ value: DeviceValue, _ name: String, rowAxis: Int, depthAxis: Int, width: Int
    ) throws(ModelError) -> Panels? {
        let (rows, depth) = (value.shape[rowAxis], value.shape[depthAxis])
        let batchRank = value.shape.count - 2
        let cut = max(batchRank - 1, 0)
        let groups = [0..<cut, cut..<batchRank]
        let batch = groups.map { value.shape[$0].reduce(1, *) }
        var source = value
        if source.strides(over: groups) == nil { source = plain(source) }
        guard let sourceStrides = source.strides(over: groups) else { return nil }
        // A matrix that is repeated is packed once.
        let packed = zip(batch, sourceStrides).map { $1 == 0 ? 1 : $0 }
        let count = rows.tiles(of: width) * depth * width
        let strides = [packed[0] == 1 ? 0 : packed[1] * count, packed[1] == 1 ? 0 : count]
        let panels = rows.tiles(of: width)
        let from = source
        let (rowStride, depthStride) = (source.strides[rowAxis], source.strides[depthAxis])
        if let tensor = initialisers[name], case .constant = source.place {
            let batches = Array(packed)
            let place = try layout(name, "panels \(width) \(rowStride) \(depthStride) \(batches) \(sourceStrides)") {
                .floats(
                    Packing.panels(
                        tensor, offset: source.offset, rows: rows, depth: depth, width: width, rowStride: rowStride,
                        depthStride: depthStride, batches: batches, batchStrides: sourceStrides))
            }
            return Panels(place: place, batch: batch, strides: strides)
        }
        let total = packed[0] * packed[1] * count
        let target = DevicePlace.arena(newBuffer(total))
        let items = tuning.width == 1 ? total : packed[0] * packed[1] * panels * depth.tiles(of: Int(BG_PACK_DEPTH))
        launch("pack", items: items, local: device.smallGroup, reads: [from.place], writes: target) { at in
            bg_pack_params(
                source: at(from), target: at(target), row_stride: Int32(rowStride), depth_stride: Int32(depthStride),
                batch: pair(packed), batch_strides: pair(sourceStrides), rows: Int32(rows), depth: Int32(depth),
                width: Int32(width), panels: Int32(panels))
        }
        return Panels(place: target, batch: batch, strides: strides)
    }
}

extension Int {
    /// How many of `size` cover this many.
    func tiles(of size: Int) -> Int { (self + size - 1) / size }
}

extension DeviceValue {
    /// With an axis of 1.
    func inserting(_ axis: Int) -> DeviceValue {
        var value = self
        value.shape.insert(1, at: axis)
        value.strides.insert(0, at: axis)
        return value
    }
}

/// Weights laid out as product.cl and convolution.cl read them.
enum Packing {
    /// [batch][rows rounded up / width][depth][width], zeros behind the last row. Strides are of the tensor, in elements.
    static func panels(
        _ tensor: Tensor, offset: Int, rows: Int, depth: Int, width: Int, rowStride: Int, depthStride: Int,
        batches: [Int],
        batchStrides: [Int]
    ) -> [Float] {
        let panels = rows.tiles(of: width)
        let size = panels * depth * width
        let source = tensor.heldBytes.bindMemory(to: Float.self)
        var result = [Float](repeating: 0, count: batches[0] * batches[1] * size)
        result.withUnsafeMutableBufferPointer { target in
            for batch in 0..<(batches[0] * batches[1]) {
                let from = offset + batch / batches[1] * batchStrides[0] + batch % batches[1] * batchStrides[1]
                for row in 0..<rows {
                    let to = batch * size + (row / width * depth) * width + row % width
                    let start = from + row * rowStride
                    for step in 0..<depth { target[to + step * width] = source[start + step * depthStride] }
                }
            }
        }
        withExtendedLifetime(tensor) {}
        return result
    }

    /// Filters of a convolution: [group][filters rounded up / width][tap][channel][width]; `offset` is that of an element.
    static func filters(
        _ tensor: Tensor, groups: Int, filters: Int, channels: Int, taps: Int, width: Int,
        offset: (_ group: Int, _ filter: Int, _ channel: Int, _ tap: Int) -> Int
    ) -> [Float] {
        let size = filters.tiles(of: width) * taps * channels * width
        let source = tensor.heldBytes.bindMemory(to: Float.self)
        var result = [Float](repeating: 0, count: groups * size)
        result.withUnsafeMutableBufferPointer { target in
            for group in 0..<groups {
                for filter in 0..<filters {
                    let to = group * size + filter / width * taps * channels * width + filter % width
                    for channel in 0..<channels {
                        for tap in 0..<taps {
                            target[to + (tap * channels + channel) * width] =
                                source[offset(group, filter, channel, tap)]
                        }
                    }
                }
            }
        }
        withExtendedLifetime(tensor) {}
        return result
    }
}
