import Kernels

extension DeviceBuilder {
    // MARK: Readings of the same elements

    /// The same elements under another shape.
    mutating func addView(_ node: Node) -> Bool {
        guard let shape = self.shape(of: node.result), node.hasOneUsedOutput(uses) else { return false }
        // Training mode of Dropout is refused when it runs.
        if node.operatorName == "Dropout" && node.inputs.count > 2 { return false }
        guard let source = value(node.inputs[0]) else { return false }
        if source.shape == shape {
            bind(node.result, to: source)
        } else {
            guard let source = plain(node.inputs[0]) else { return false }
            bind(node.result, to: source.reshaped(shape))
        }
        return true
    }

    /// Who needs the elements in the new order moves them.
    mutating func addTransposition(_ node: Node) -> Bool {
        guard let shape = self.shape(of: node.result), let source = value(node.inputs[0]) else { return false }
        bind(node.result, to: source.permuted(node.ints("perm") ?? shape.indices.reversed()))
        return true
    }

    /// Slices, repetitions and selections by constant indices: where the places of the elements follow a pattern of strides
    /// they are another reading, else taken one by one.
    mutating func addIndexing(_ node: Node) throws(ModelError) -> Bool {
        guard let source = plain(node.inputs[0]), source.count <= 1 << 22 else { return false }
        var values: [String: Tensor] = [:]
        for name in node.inputs.dropFirst() where !name.isEmpty {
            guard let tensor = known(name) else { return false }
            values[name] = tensor
        }
        for name in node.outputs where !name.isEmpty && shape(of: name) == nil { return false }
        // The operator itself says which element comes where.
        values[node.inputs[0]] = try Tensor(
            .int32, shape: source.shape, integers: (0..<Int64(source.count)).map { $0 })
        try runner.evaluate(node, &values)
        for name in node.outputs where !name.isEmpty {
            guard let shape = shape(of: name), let places = values[name]?.elements(as: Int32.self) else { return false }
            if let (start, strides) = Self.pattern(places, shape) {
                var value = source
                value.offset += start
                value.shape = shape
                value.strides = strides
                bind(name, to: value)
            } else {
                let table = constant(.integers(places))
                take(source, table, outer: 1, extent: source.count, count: places.count, inner: 1, name, shape)
            }
        }
        return true
    }

    /// The first place and the strides, where each place is the first one and a multiple of a stride along each axis.
    static func pattern(_ places: [Int32], _ shape: [Int]) -> (start: Int, strides: [Int])? {
        guard let first = places.first else { return nil }
        let own = Extents.strides(shape)
        let strides = shape.indices.map { shape[$0] > 1 ? Int(places[own[$0]] - first) : 0 }
        var number = 0
        var fits = true
        Extents.forEachOffset(shape, strides: strides, start: Int(first)) { offset in
            if Int(places[number]) != offset { fits = false }
            number += 1
        }
        return fits ? (Int(first), strides) : nil
    }

    // MARK: Copies

    /// Values of one number of axes, one after the other.
    mutating func addConcatenation(_ node: Node) -> Bool {
        guard let shape = self.shape(of: node.result), !shape.isEmpty else { return false }
        var axis = node.int("axis") ?? 1
        if axis < 0 { axis += shape.count }
        var sources: [DeviceValue] = []
        for name in node.inputs {
            // One without elements adds nothing.
            if let type = facts[name]?.type.extents, type.contains(0) { continue }
            guard let source = value(name), source.shape.count == shape.count else { return false }
            sources.append(source)
        }
        let target = newValue(node.result, shape: shape)
        var start = 0
        for source in sources {
            var part = target
            part.offset += start * target.strides[axis]
            part.shape[axis] = source.shape[axis]
            move(source, to: part)
            start += source.shape[axis]
        }
        return true
    }

    /// Blocks of pixels from or to channels.
    mutating func addBlockMove(_ node: Node) -> Bool {
        guard let shape = self.shape(of: node.result), let source = plain(node.inputs[0]), shape.count == 4,
            let size = node.int("blocksize"), size > 0
        else { return false }
        let (batch, channels, height, width) = (source.shape[0], source.shape[1], source.shape[2], source.shape[3])
        let result = newValue(node.result, shape: shape)
        let isByColumn = node.string("mode") == "CRD"
        if node.operatorName == "SpaceToDepth" {
            let parts = source.reshaped([batch, channels, height / size, size, width / size, size])
            move(
                parts.permuted(isByColumn ? [0, 1, 3, 5, 2, 4] : [0, 3, 5, 1, 2, 4]),
                to: result.reshaped(
                    isByColumn
                        ? [batch, channels, size, size, height / size, width / size]
                        : [batch, size, size, channels, height / size, width / size]))
            return true
        }
        let depth = channels / size / size
        let parts = source.reshaped(
            isByColumn ? [batch, depth, size, size, height, width] : [batch, size, size, depth, height, width])
        move(
            parts.permuted(isByColumn ? [0, 1, 4, 2, 5, 3] : [0, 3, 4, 1, 5, 2]),
            to: result.reshaped([batch, depth, height, size, width, size]))
        return true
    }

    /// With a constant around it; with negative pads a part of it.
    mutating func addPadding(_ node: Node) throws(ModelError) -> Bool {
        guard let shape = self.shape(of: node.result), let source = value(node.inputs[0]),
            node.string("mode") ?? "constant" == "constant"
        else { return false }
        func list(_ input: Int) -> [Int]? {
            node.inputs.count > input && !node.inputs[input].isEmpty ? known(node.inputs[input])?.indices() : nil
        }
        let hasAxes = node.inputs.count > 3 && !node.inputs[3].isEmpty
        guard let lengths = node.ints("pads") ?? node.ints("paddings") ?? list(1), !hasAxes || list(3) != nil,
            let (before, _) = try Operators.pads(node, lengths, axes: list(3), rank: shape.count)
        else { return false }
        var value = Float(node.float("value") ?? 0)
        if node.inputs.count > 2, !node.inputs[2].isEmpty {
            guard let filler = known(node.inputs[2])?.doubles().first else { return false }
            value = Float(filler)
        }
        let target = newValue(node.result, shape: shape)
        fill(target, with: value)
        var (from, to) = (source, target)
        for axis in shape.indices {
            let start = max(-before[axis], 0)
            let end = min(source.shape[axis], shape[axis] - before[axis])
            guard end > start else { return true }
            from.offset += start * source.strides[axis]
            to.offset += max(before[axis], 0) * target.strides[axis]
            from.shape[axis] = end - start
            to.shape[axis] = end - start
        }
        move(from, to: to)
        return true
    }

    private mutating func fill(_ target: DeviceValue, with value: Float) {
        let count = target.count
        launch("fill", items: count.tiles(of: device.run), local: device.smallGroup, reads: [], writes: target.place) {
            at in
            bg_fill_params(target: at(target), count: Int32(count), value: value)
        }
    }

    // MARK: Rows by index

    /// Indices that are known become a reading or a table; others are uploaded at each run.
    mutating func addGathering(_ node: Node) throws(ModelError) -> Bool {
        if known(node.inputs[1]) != nil, (self.shape(of: node.inputs[0])?.reduce(1, *) ?? 0) <= 1 << 16 {
            return try addIndexing(node)
        }
        guard let shape = self.shape(of: node.result), let source = plain(node.inputs[0]),
            let type = facts[node.inputs[1]]?.type, let indices = type.extents
        else { return false }
        var axis = node.int("axis") ?? 0
        if axis < 0 { axis += source.shape.count }
        let (outer, extent, inner) = Extents.split(source.shape, at: axis)
        let count = indices.reduce(1, *)
        let table: DevicePlace
        if let known = known(node.inputs[1]) {
            guard let places = try? Operators.positions(known.indices(), extent: extent) else { return false }
            table = constant(.integers(places.map { Int32($0) }))
        } else {
            hold(node.inputs[1])
            table = uploadPositions(node.inputs[1], extent: extent, count: count)
        }
        take(source, table, outer: outer, extent: extent, count: count, inner: inner, node.result, shape)
        return true
    }

    private mutating func take(
        _ source: DeviceValue, _ table: DevicePlace, outer: Int, extent: Int, count: Int, inner: Int, _ name: String,
        _ shape: [Int]
    ) {
        let target = newValue(name, shape: shape)
        let blocks = inner.tiles(of: device.run)
        launch(
            "take", items: outer * count * blocks, local: device.smallGroup, reads: [source.place, table],
            writes: target.place
        ) { at in
            bg_take_params(
                source: at(source), target: at(target), indices: at(table), outer: Int32(outer), extent: Int32(extent),
                count: Int32(count), inner: Int32(inner), blocks: Int32(blocks))
        }
    }
}
