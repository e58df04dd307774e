import Kernels

extension DeviceBuilder {
    // MARK: Reductions

    /// Sums and the like over some axes.
    mutating func addReduction(_ node: Node) -> Bool {
        let kinds: [String: bg_reduce_kind] = [
            "ReduceSum": BG_REDUCE_SUM, "ReduceMean": BG_REDUCE_SUM, "ReduceMax": BG_REDUCE_LARGEST,
            "ReduceMin": BG_REDUCE_SMALLEST, "ReduceProd": BG_REDUCE_PRODUCT, "ReduceL1": BG_REDUCE_MAGNITUDES,
            "ReduceL2": BG_REDUCE_NORM, "ReduceSumSquare": BG_REDUCE_SQUARES, "ReduceLogSum": BG_REDUCE_LOG_SUM,
        ]
        guard let kind = kinds[node.operatorName], let shape = self.shape(of: node.result),
            let rank = self.shape(of: node.inputs[0])?.count, let source = value(node.inputs[0])
        else { return false }
        var list = node.ints("axes")
        if list == nil, node.inputs.count > 1, !node.inputs[1].isEmpty {
            guard let known = known(node.inputs[1]) else { return false }
            list = known.indices()
        }
        if list?.isEmpty ?? true {
            if node.int("noop_with_empty_axes") == 1 { return false }
            list = Array(0..<rank)
        }
        let axes = Set((list ?? []).map { $0 < 0 ? $0 + rank : $0 })
        guard axes.allSatisfy({ $0 >= 0 && $0 < rank }) else { return false }
        // What is reduced is brought to the end where it is not one run of axes.
        let long = axes.filter { source.shape[$0] != 1 }.sorted()
        var ordered = source
        var (outer, length, inner) = (source.count, 1, 1)
        if let first = long.first, let last = long.last {
            if long.count == last - first + 1 {
                outer = source.shape[..<first].reduce(1, *)
                inner = source.shape[(last + 1)...].reduce(1, *)
            } else {
                let kept = source.shape.indices.filter { !axes.contains($0) }
                ordered = source.permuted(kept + axes.sorted())
                outer = kept.reduce(1) { $0 * source.shape[$1] }
            }
            length = source.count / outer / inner
        }
        let factor: Float = node.operatorName == "ReduceMean" ? 1 / Float(length) : 1
        addReduction(
            plain(ordered), outer: outer, length: length, inner: inner, kind, factor: factor,
            to: newValue(node.result, shape: shape))
        return true
    }

    mutating func addReduction(
        _ source: DeviceValue, outer: Int, length: Int, inner: Int, _ kind: bg_reduce_kind, factor: Float,
        to target: DeviceValue
    ) {
        var parameters = bg_rows_params()
        parameters.kind = Int32(kind.rawValue)
        parameters.factor = factor
        addRows("reduce", source, outer: outer, length: length, inner: inner, parameters, to: target)
    }

    /// A kernel of rows.cl in its form for rows of neighbours, or for neighbouring rows.
    private mutating func addRows(
        _ kernel: String, _ source: DeviceValue, outer: Int, length: Int, inner: Int, _ parameters: bg_rows_params,
        scale: DeviceValue? = nil, shift: DeviceValue? = nil, to target: DeviceValue
    ) {
        let items = inner == 1 ? outer * tuning.threads : outer * inner.tiles(of: tuning.width)
        let others = [scale, shift].compactMap { $0?.place }
        launch(
            "\(kernel)_\(inner == 1 ? "rows" : "columns")", items: items, local: tuning.threads,
            reads: [source.place] + others, writes: target.place, multiplyAdds: outer * length * inner
        ) { at in
            var parameters = parameters
            parameters.source = at(source)
            parameters.target = at(target)
            parameters.outer = Int32(outer)
            parameters.length = Int32(length)
            parameters.inner = Int32(inner)
            parameters.scale = scale.map { at($0) } ?? Int32.min
            parameters.shift = shift.map { at($0) } ?? Int32.min
            return parameters
        }
    }

    // MARK: Softmax

    /// Before version 13 all axes from the given one on are one row.
    mutating func addSoftmax(_ node: Node) -> Bool {
        guard let shape = self.shape(of: node.result), !shape.isEmpty, let source = plain(node.inputs[0]) else {
            return false
        }
        var axis = node.int("axis") ?? (node.opset < 13 ? 1 : -1)
        if axis < 0 { axis += shape.count }
        guard axis >= 0, axis <= shape.count, node.opset < 13 || axis < shape.count else { return false }
        let outer = shape[..<axis].reduce(1, *)
        let length = node.opset < 13 ? shape[axis...].reduce(1, *) : shape[axis]
        var parameters = bg_rows_params()
        parameters.kind = node.operatorName == "LogSoftmax" ? 1 : 0
        addRows(
            "softmax", source, outer: outer, length: length, inner: source.count / outer / length, parameters,
            to: newValue(node.result, shape: shape))
        return true
    }

    // MARK: Normalisation

    /// Over all axes from the given one on, with scale and bias of their shape.
    mutating func addLayerNormalization(_ node: Node) -> Bool {
        guard let shape = self.shape(of: node.result), !shape.isEmpty, node.hasOneUsedOutput(uses),
            node.int("stash_type") ?? 1 == 1, let source = plain(node.inputs[0])
        else { return false }
        var axis = node.int("axis") ?? -1
        if axis < 0 { axis += shape.count }
        guard shape.indices.contains(axis) else { return false }
        let length = shape[axis...].reduce(1, *)
        var parameters = bg_rows_params()
        (parameters.period, parameters.row_step, parameters.column_step) = (1, 0, 1)
        return addNormalization(node, source, length, parameters) { $0 == Array(shape[axis...]) }
    }

    /// By channel, or by groups of channels.
    mutating func addChannelNormalization(_ node: Node) -> Bool {
        guard let shape = self.shape(of: node.result), shape.count > 2, let source = plain(node.inputs[0]) else {
            return false
        }
        let plane = shape[2...].reduce(1, *)
        var parameters = bg_rows_params()
        guard node.operatorName == "GroupNormalization" else {
            (parameters.period, parameters.row_step, parameters.column_step) = (Int32(shape[1]), 1, Int32(plane))
            return addNormalization(node, source, plane, parameters) { $0 == [shape[1]] }
        }
        guard let groups = node.int("num_groups"), groups > 0, shape[1] % groups == 0 else { return false }
        let part = shape[1] / groups
        let isByGroup = node.opset < 21
        (parameters.period, parameters.row_step) = (Int32(groups), isByGroup ? 1 : Int32(part))
        parameters.column_step = Int32(isByGroup ? part * plane : plane)
        return addNormalization(node, source, part * plane, parameters) { $0 == [isByGroup ? groups : shape[1]] }
    }

    /// `x · (bias + alpha · mean) ^ -beta`: the mean of the neighbours' squares is that of a window that moves along the
    /// channels of a plane of channels by pixels. Squares are stored with their factor, which keeps them in the range of
    /// few bits.
    mutating func addLocalResponse(_ node: Node) -> Bool {
        guard let shape = self.shape(of: node.result), shape.count >= 2, let size = node.int("size"), size > 0,
            size < 1 << 12, let source = plain(node.inputs[0])
        else { return false }
        let (channels, pixels) = (shape[1], shape[2...].reduce(1, *))
        let squares = DeviceValue(.arena(newBuffer(source.count)), shape: [shape[0], 1, channels, pixels])
        let rows = DeviceLink(
            kind: BG_LINK_MULTIPLY, operand: (source, [channels * pixels, 0, channels * pixels, 1]))
        let alpha = Float(node.float("alpha") ?? 1e-4)
        let square = constant(
            .links([
                DeviceLink(kind: BG_LINK_LINEAR, a: alpha),
                DeviceLink(kind: BG_LINK_MULTIPLY, operand: (source, [0, 0, 0, 1])),
            ]))
        let blocks = source.count.tiles(of: device.run)
        launch(
            "elementwise", items: blocks, local: device.smallGroup, reads: [source.place, square],
            writes: squares.place
        ) { at in
            bg_elementwise_params(
                source: at(source), target: at(squares), extents: (1, 1, 1, Int32(source.count)),
                strides: (0, 0, 0, 1), links: at(square), link_count: 2, blocks: Int32(blocks))
        }
        let window = DeviceWindow(
            input: [channels, pixels], output: [channels, pixels], kernel: [size, 1], strides: [1, 1], spread: [1, 1],
            steps: [1, 1], starts: [-((size - 1) / 2), 0])
        let target = newValue(node.result, shape: shape)
        var plan = ResultPlan(
            name: node.result, target: target, strides: [channels * pixels, 0, channels * pixels])
        let (beta, bias) = (Float(node.float("beta") ?? 0.75), Float(node.float("bias") ?? 1))
        plan.append(
            [DeviceLink(kind: BG_LINK_LINEAR, a: 1, b: bias), DeviceLink(kind: BG_LINK_POWER, a: -beta), rows],
            &self)
        addWindow("mean_in_window", squares, [shape[0], 1, channels, pixels], window, countsPadding: true, plan)
        return true
    }

    private mutating func addNormalization(
        _ node: Node, _ source: DeviceValue, _ length: Int, _ given: bg_rows_params, isFitting: ([Int]) -> Bool
    ) -> Bool {
        var operands: [DeviceValue?] = [nil, nil]
        for (index, name) in node.inputs.dropFirst().prefix(2).enumerated() where !name.isEmpty {
            guard let shape = self.shape(of: name), isFitting(shape), let value = plain(name) else { return false }
            operands[index] = value
        }
        var parameters = given
        parameters.epsilon = Float(node.float("epsilon") ?? Double(Float(1e-5)))
        addRows(
            "normalise", source, outer: source.count / length, length: length, inner: 1, parameters, scale: operands[0],
            shift: operands[1], to: newValue(node.result, shape: source.shape))
        return true
    }
}
