import OneDNNKit

extension StepBuilder {
    /// Values of one number of axes, one after the other.
    mutating func addConcatenation(_ node: Node) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), !shape.isEmpty else { return false }
        var axis = node.int("axis") ?? 1
        if axis < 0 { axis += shape.count }
        guard shape.indices.contains(axis) else { return false }
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
            try append(primitive, inputs, result: node.result)
            return true
        }
        return false
    }

    /// The same bytes, read in another order; who needs them row-major moves them.
    mutating func addTransposition(_ node: Node) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), !shape.isEmpty, let source = try plain(node.inputs[0]) else {
            return false
        }
        let order = node.ints("perm") ?? shape.indices.reversed()
        bind(node.result, to: Form(place: source.place, descriptor: try source.descriptor.permuted(order)))
        return true
    }

    /// The same bytes under another shape.
    mutating func addView(_ node: Node) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), let extents = self.shape(of: node.inputs[0]),
            node.hasOneUsedOutput(uses)
        else { return false }
        // Training mode of Dropout is refused when it runs.
        if node.operatorName == "Dropout" && node.inputs.count > 2 { return false }
        guard let form = try extents == shape ? self.form(node.inputs[0]) : plain(node.inputs[0], as: shape) else {
            return false
        }
        bind(node.result, to: form)
        return true
    }
}
