import OneDNNKit

extension StepBuilder {
    /// Values of one number of axes, one after the other.
    mutating func addConcatenation(_ node: Node) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), !shape.isEmpty else { return false }
        var axis = node.int("axis") ?? 1
        if axis < 0 { axis += shape.count }
        guard shape.indices.contains(axis) else { return false }
        if try attempt({ (builder) throws(OneDNNError) in
            try builder.addQuantisedConcatenation(node, axis: axis, shape: shape)
        }) {
            return true
        }
        for isPlain in [false, true] {
            var sources: [Form] = []
            for name in node.inputs {
                guard self.shape(of: name)?.count == shape.count,
                    let form = try isPlain ? plain(name) : self.form(name)
                else { return false }
                sources.append(form)
            }
            let operation = Concatenation(
                sources.map(\.descriptor), axis: axis,
                destination: try MemoryDescriptor(shape, .float32, .chosenByPrimitive))
            guard let primitive = try self.primitive(operation), isPlain || !primitive.isReference else { continue }
            var inputs: [StepInput] = []
            for (place, form) in sources.enumerated() {
                inputs.append(try input(.source(place), form, of: primitive))
            }
            try append(joining: axis, primitive, inputs, result: node.result)
            return true
        }
        return false
    }

    /// The same bytes, read in another order; who needs them row-major moves them.
    mutating func addTransposition(_ node: Node) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), !shape.isEmpty else { return false }
        let order = node.ints("perm") ?? shape.indices.reversed()
        if var quantised = quantisedView(node.inputs[0]), quantised.descriptor.strides != nil {
            quantised.descriptor = try quantised.descriptor.permuted(order)
            bind(node.result, toQuantised: quantised)
            return true
        }
        guard var source = try strided(node.inputs[0]) else { return false }
        source.descriptor = try source.descriptor.permuted(order)
        bind(node.result, to: source)
        return true
    }

    /// The same bytes under another shape.
    mutating func addView(_ node: Node) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), let extents = self.shape(of: node.inputs[0]),
            node.hasOneUsedOutput(uses)
        else { return false }
        // Training mode of Dropout is refused when it runs.
        if node.operatorName == "Dropout" && node.inputs.count > 2 { return false }
        if let quantised = quantisedView(node.inputs[0]) {
            if let same = try quantised.reshaped(Self.dimensions(shape)) {
                bind(node.result, toQuantised: same)
            } else {
                bind(node.result, toQuantised: try plain(quantised, as: shape))
            }
            return true
        }
        guard let view = try view(node.inputs[0]) else { return false }
        if extents == shape {
            bind(node.result, to: view)
        } else if let same = try view.reshaped(Self.dimensions(shape)) {
            bind(node.result, to: same)
        } else if let picture = try channelsLast(view, as: shape, for: node.result) {
            bind(node.result, to: picture)
        } else if let form = try plain(node.inputs[0], as: shape) {
            bind(node.result, to: form)
        } else {
            return false
        }
        return true
    }

    /// Merged axes of what a convolution takes, which wants channels contiguous; nil for others.
    private mutating func channelsLast(_ view: Form, as shape: [Int], for name: String) throws(OneDNNError) -> Form? {
        guard shape.count == 4, shape[1] >= 16, let taker = uses.onlyTaker(of: name), nodes[taker].isStandard("Conv"),
            let groups = StridedView.mergedAxes(view.descriptor.dimensions, as: shape)
        else { return nil }
        let order = groups[0] + groups[2] + groups[3] + groups[1]
        let dimensions = view.descriptor.dimensions
        let target = try MemoryDescriptor(
            dimensions, .float32, strides: StridedView.dense(dimensions, order: order))
        return try moved(view, to: target).reshaped(shape)
    }

    /// The value with regular strides, perhaps within something larger.
    mutating func strided(_ name: String) throws(OneDNNError) -> Form? {
        guard let view = try view(name) else { return nil }
        return view.descriptor.strides == nil ? try plain(name) : view
    }

    /// Blocks of channels become blocks of pixels.
    mutating func addDepthToSpace(_ node: Node) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), let input = self.shape(of: node.inputs[0]), shape.count == 4,
            let source = try strided(node.inputs[0])
        else { return false }
        let block = node.int("blocksize") ?? 1
        let isColumnRowDepth = node.string("mode") == "CRD"
        let channels = isColumnRowDepth ? [shape[1], block, block] : [block, block, shape[1]]
        guard var parts = try source.reshaped([shape[0]] + channels + input[2...]) else { return false }
        // Channels, rows with their rows of a block, columns with their columns of a block.
        parts.descriptor = try parts.descriptor.permuted(isColumnRowDepth ? [0, 1, 4, 2, 5, 3] : [0, 3, 4, 1, 5, 2])
        if let picture = try channelsLast(parts, as: shape, for: node.result) {
            bind(node.result, to: picture)
            return true
        }
        var result = try moved(parts, to: parts.descriptor.with(.plain))
        result.descriptor = try MemoryDescriptor(shape, .float32)
        bind(node.result, to: result)
        return true
    }

    // MARK: Parts

    /// One index that is known is a part of the data; others choose rows when it runs.
    mutating func addGather(_ node: Node) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), let input = self.shape(of: node.inputs[0]) else { return false }
        var axis = node.int("axis") ?? 0
        if axis < 0 { axis += input.count }
        guard input.indices.contains(axis) else { return false }
        let value = initialisers[node.inputs[1]] ?? facts[node.inputs[1]]?.value
        if let value, value.count == 1, let index = value.indices().first, (-input[axis]..<input[axis]).contains(index),
            let source = try strided(node.inputs[0]), let strides = source.descriptor.strides
        {
            var (extents, steps) = (input, strides)
            extents[axis] = 1
            let start = (index < 0 ? index + input[axis] : index) * strides[axis]
            if extents.count > 1, value.shape.isEmpty {
                extents.remove(at: axis)
                steps.remove(at: axis)
            }
            if let part = try source.with(extents, steps, offset: start).reshaped(Self.dimensions(shape)) {
                bind(node.result, to: part)
                return true
            }
        }
        try hold(node.inputs[1])
        guard initialisers[node.inputs[1]] != nil || held.contains(node.inputs[1]),
            let source = try plain(node.inputs[0])
        else { return false }
        let gather = RowGather(
            outer: input[..<axis].reduce(1, *), extent: input[axis],
            rowByteCount: 4 * input[(axis + 1)...].reduce(1, *))
        let descriptor = try MemoryDescriptor(Self.dimensions(shape), .float32)
        let place = append(gather, source, indices: node.inputs[1], byteCount: descriptor.byteCount)
        bind(node.result, to: Form(place: place, descriptor: descriptor))
        return true
    }

    /// Cuts that are known before are a part of the data.
    mutating func addSlice(_ node: Node) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), let input = self.shape(of: node.inputs[0]),
            shape.count == input.count, let starts = self.list(node, "starts", 1),
            let source = try strided(node.inputs[0]), var strides = source.descriptor.strides
        else { return false }
        let axes: [Int]
        if node.ints("axes") != nil || node.inputs.count > 3 && !node.inputs[3].isEmpty {
            guard let list = self.list(node, "axes", 3) else { return false }
            axes = list.map { $0 < 0 ? $0 + input.count : $0 }
        } else {
            axes = Array(starts.indices)
        }
        var steps = axes.map { _ in 1 }
        if node.inputs.count > 4 && !node.inputs[4].isEmpty {
            guard let list = self.list(node, "steps", 4) else { return false }
            steps = list
        }
        guard axes.count == starts.count, steps.count == axes.count, steps.allSatisfy({ $0 > 0 && $0 < 1 << 31 }),
            axes.allSatisfy(input.indices.contains)
        else { return false }
        var offset = 0
        for (place, axis) in axes.enumerated() {
            let start = min(max(starts[place] < 0 ? starts[place] + input[axis] : starts[place], 0), input[axis])
            guard start + (shape[axis] - 1) * steps[place] < input[axis] else { return false }
            offset += start * strides[axis]
            strides[axis] *= shape[axis] == 1 ? 1 : steps[place]
        }
        bind(node.result, to: try source.with(Self.dimensions(shape), strides, offset: offset))
        return true
    }

    /// The elements of a list that is an attribute or an input, where they are known.
    private func list(_ node: Node, _ attribute: String, _ input: Int) -> [Int]? {
        if let list = node.ints(attribute) { return list }
        guard input < node.inputs.count else { return nil }
        return (initialisers[node.inputs[input]] ?? facts[node.inputs[input]]?.value)?.indices()
    }

    /// Each result is a part of the data.
    mutating func addSplit(_ node: Node) throws(OneDNNError) -> Bool {
        guard let input = self.shape(of: node.inputs[0]), let source = try strided(node.inputs[0]),
            let strides = source.descriptor.strides
        else { return false }
        var axis = node.int("axis") ?? 0
        if axis < 0 { axis += input.count }
        guard input.indices.contains(axis) else { return false }
        var start = 0
        for name in node.outputs {
            guard let shape = self.shape(of: name), shape.count == input.count else { return false }
            bind(name, to: try source.with(shape, strides, offset: start * strides[axis]))
            start += shape[axis]
        }
        return start == input[axis]
    }
}
