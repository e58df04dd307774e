import Kernels

extension DeviceBuilder {
    /// `softmax(Q K' · scale + mask) V`, whose scores are never stored.
    ///
    /// - Parameters:
    ///   - node: The product of Q and K'.
    ///   - followers: Scale, mask, Softmax, and the product with V.
    /// - Returns: False where it is another chain, or too deep.
    /// - Throws: `tooLarge` for constants that cannot be laid out.
    mutating func addAttention(_ node: Node, _ followers: [Node]) throws(ModelError) -> Bool {
        guard let last = followers.last, let shape = self.shape(of: last.result),
            let scores = self.shape(of: node.outputs[0]),
            let query = value(node.inputs[0]), let key = value(node.inputs[1]), let content = value(last.inputs[1]),
            shape.count == scores.count, shape.count >= 2
        else { return false }
        let rank = shape.count
        let groups = [
            0..<max(rank - 3, 0), max(rank - 3, 0)..<(rank - 2), (rank - 2)..<(rank - 1), (rank - 1)..<rank,
        ]
        var scale: Float = 1
        var mask: (value: DeviceValue, strides: [Int])?
        var result = node.outputs[0]
        for follower in followers.dropLast() {
            switch follower.operatorName {
            case "Softmax":
                let axis = follower.int("axis") ?? (follower.opset < 13 ? 1 : -1)
                guard axis == -1 || axis == rank - 1 else { return false }
            case "Add":
                guard mask == nil, follower.opset >= 7, let index = follower.inputs.firstIndex(of: result) else {
                    return false
                }
                mask = operand(follower.inputs[1 - index], shape: scores, groups: groups)
                guard mask != nil else { return false }
            case "Mul", "Div":
                guard mask == nil, follower.opset >= 7, let index = follower.inputs.firstIndex(of: result),
                    let factor = initialisers[follower.inputs[1 - index]], factor.count == 1,
                    let value = factor.doubles().first
                else { return false }
                if follower.operatorName == "Div" && index == 1 { return false }
                scale = follower.operatorName == "Mul" ? scale * Float(value) : scale / Float(value)
            default: return false
            }
            result = follower.result
        }
        let (rows, keys, depth, columns) = (scores[rank - 2], scores[rank - 1], query.shape.last ?? 0, shape[rank - 1])
        guard depth <= tuning.largestHead, columns <= tuning.largestHead, last.inputs[0] == result else { return false }
        let batch = Array(shape.dropLast(2))
        guard let queries = query.broadcast(to: batch + [rows, depth]),
            let keysValue = key.broadcast(to: batch + [depth, keys]),
            let contents = content.broadcast(to: batch + [keys, columns])
        else { return false }
        let tile = tuning.tile(columns: keys)
        guard
            let q = try panels(queries, node.inputs[0], rowAxis: rank - 2, depthAxis: rank - 1, width: tile.rows),
            let k = try panels(keysValue, node.inputs[1], rowAxis: rank - 1, depthAxis: rank - 2, width: tile.columns),
            let v = try panels(contents, last.inputs[1], rowAxis: rank - 1, depthAxis: rank - 2, width: tile.columns)
        else { return false }
        let target = newValue(last.result, shape: shape)
        guard let strides = target.strides(over: groups) else { return false }
        let share = tuning.width == 1 ? tuning.threads : tile.rows
        let groupCount = rows.tiles(of: share) * q.batch[0] * q.batch[1]
        let (factor, masks) = (scale, mask)
        launch(
            "attention", tile: tile, items: groupCount * tuning.threads, local: tuning.threads,
            reads: [q.place, k.place, v.place] + (masks.map { [$0.value.place] } ?? []), writes: target.place,
            multiplyAdds: q.batch[0] * q.batch[1] * rows * keys * (depth + columns)
        ) { at in
            bg_attention_params(
                q: at(q.place), k: at(k.place), v: at(v.place), batch: pair(q.batch), q_strides: pair(q.strides),
                k_strides: pair(k.strides), v_strides: pair(v.strides), rows: Int32(rows), keys: Int32(keys),
                depth: Int32(depth), columns: Int32(columns), scale: factor,
                mask: masks.map { at($0.value) } ?? Int32.min, mask_strides: quadruple(masks?.strides ?? [0, 0, 0, 0]),
                target: at(target), target_strides: triple(strides))
        }
        return true
    }
}
