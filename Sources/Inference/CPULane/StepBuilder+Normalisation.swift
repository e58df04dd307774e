import OneDNNKit

extension StepBuilder {
    /// Before version 13 all axes from the given one on are one row.
    mutating func addSoftmax(_ node: Node) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), !shape.isEmpty else { return false }
        var axis = node.int("axis") ?? (node.opset < 13 ? 1 : -1)
        if axis < 0 { axis += shape.count }
        guard axis >= 0, axis <= shape.count else { return false }
        let isLogarithm = node.operatorName == "LogSoftmax"
        var rows: [Int]?
        if node.opset < 13 {
            rows = [shape[..<axis].reduce(1, *), shape[axis...].reduce(1, *)]
            axis = 1
        }
        // Of one element oneDNN's logarithm is some 1e-6 in place of 0.
        let extents = rows ?? shape
        guard extents.indices.contains(axis), extents[axis] > 1 else { return false }
        for isPlain in rows == nil ? [false, true] : [true] {
            guard var source = try isPlain ? plain(node.inputs[0], as: rows) : form(node.inputs[0]) else { continue }
            let descriptor = source.descriptor
            var place = axis
            if let order = MergedAxes.order(of: descriptor), let at = order.firstIndex(of: axis) {
                // The axes around it are one each, in whatever order they lie.
                let extents = order.map { descriptor.dimensions[$0] }
                let inner = extents[(at + 1)...].reduce(1, *)
                source.descriptor = try MemoryDescriptor(
                    [extents[..<at].reduce(1, *), extents[at]] + (inner > 1 ? [inner] : []), descriptor.type)
                place = 1
            }
            guard
                let primitive = try self.primitive(
                    OneDNNKit.Softmax(source.descriptor, axis: place, isLogarithm: isLogarithm)),
                isPlain || !primitive.isReference
            else { continue }
            source.place = append(primitive, [try input(.source, source, of: primitive)])
            source.offset = 0
            source.descriptor = rows == nil ? descriptor : try MemoryDescriptor(shape, descriptor.type)
            bind(node.result, to: source)
            return true
        }
        return false
    }

    /// Over all axes from the given one on, with scale and bias of their shape.
    mutating func addLayerNormalization(_ node: Node) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), !shape.isEmpty, node.hasOneUsedOutput(uses),
            node.int("stash_type") ?? 1 == 1
        else { return false }
        var axis = node.int("axis") ?? -1
        if axis < 0 { axis += shape.count }
        guard shape.indices.contains(axis), self.shape(of: node.inputs[1]) == Array(shape[axis...]) else {
            return false
        }
        let inner = shape[axis...].reduce(1, *)
        let hasShift = node.inputs.count > 2 && !node.inputs[2].isEmpty
        if hasShift { guard self.shape(of: node.inputs[2]) == Array(shape[axis...]) else { return false } }
        guard let source = try plain(node.inputs[0], as: [shape[..<axis].reduce(1, *), inner]),
            let scale = try plain(node.inputs[1], as: [inner])
        else { return false }
        let epsilon = Float(node.float("epsilon") ?? Double(Float(1e-5)))
        let primitive = try Primitive(
            OneDNNKit.LayerNormalization(source.descriptor, epsilon: epsilon, hasShift: hasShift), on: engine)
        var inputs = [try input(.source, source, of: primitive), try input(.scale, scale, of: primitive)]
        if hasShift, let shift = try plain(node.inputs[2], as: [inner]) {
            inputs.append(try input(.shift, shift, of: primitive))
        }
        try append(primitive, inputs, result: node.result)
        return true
    }

    /// Over as many neighbouring channels on one side as on the other.
    mutating func addLocalResponse(_ node: Node) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), (3...5).contains(shape.count), let size = node.int("size"),
            size % 2 == 1
        else { return false }
        let alpha = Float(node.float("alpha") ?? 1e-4)
        let (beta, bias) = (Float(node.float("beta") ?? 0.75), Float(node.float("bias") ?? 1))
        for isPlain in [false, true] {
            guard let source = try isPlain ? plain(node.inputs[0]) : form(node.inputs[0]),
                let primitive = try self.primitive(
                    LocalResponseNormalization(source.descriptor, size: size, alpha: alpha, beta: beta, bias: bias)),
                isPlain || !primitive.isReference
            else { continue }
            try append(primitive, [input(.source, source, of: primitive)], result: node.result)
            return true
        }
        return false
    }
}
