import OneDNNKit

extension StepBuilder {
    /// One element for all along some axes: of all axes behind the second as a pooling, which takes them as they lie.
    mutating func addReduction(_ node: Node) throws(OneDNNError) -> Bool {
        guard let kind = Self.reductions[node.operatorName], let result = self.shape(of: node.result),
            let shape = self.shape(of: node.inputs[0]), !shape.isEmpty, let axes = reducedAxes(node, rank: shape.count)
        else { return false }
        if (3...5).contains(shape.count), axes == Set(2..<shape.count), kind == .mean || kind == .maximum,
            try addPlaneReduction(kind == .mean ? .averageWithoutPadding : .maximum, node, shape)
        {
            return true
        }
        let kept = shape.indices.map { axes.contains($0) ? 1 : shape[$0] }
        if kept == shape {
            guard let same = try plain(node.inputs[0], as: Self.dimensions(result)) else { return false }
            bind(node.result, to: same)
            return true
        }
        guard let source = try plain(node.inputs[0]),
            let primitive = try self.primitive(
                Reduction(kind, source.descriptor, destination: try MemoryDescriptor(kept, .float32)))
        else { return false }
        try append(primitive, [self.input(.source, source, of: primitive)], result: node.result)
        switch kind {
        case .maximum: begins(with: -.greatestFiniteMagnitude)
        case .minimum: begins(with: .greatestFiniteMagnitude)
        case .sum, .product, .mean: break
        }
        return true
    }

    private static let reductions: [String: Reduction.Kind] = [
        "ReduceMean": .mean, "ReduceSum": .sum, "ReduceMax": .maximum, "ReduceMin": .minimum,
    ]

    /// Nil where they are not known, and where nothing is reduced.
    private func reducedAxes(_ node: Node, rank: Int) -> Set<Int>? {
        var list = node.ints("axes")
        if list == nil, node.inputs.count > 1, !node.inputs[1].isEmpty {
            guard let tensor = initialisers[node.inputs[1]] ?? facts[node.inputs[1]]?.value else { return nil }
            list = tensor.indices()
        }
        guard let list, !list.isEmpty else {
            return node.int("noop_with_empty_axes") == 1 ? nil : Set(0..<rank)
        }
        return Set(list.map { $0 < 0 ? $0 + rank : $0 })
    }

    private mutating func addPlaneReduction(
        _ kind: Pooling.Kind, _ node: Node, _ shape: [Int]
    ) throws(OneDNNError) -> Bool {
        let plane = Array(shape[2...])
        guard let source = try form(node.inputs[0]),
            let primitive = try self.primitive(
                Pooling(
                    kind, source.descriptor,
                    destination: try MemoryDescriptor(
                        shape[..<2] + plane.map { _ in 1 }, .float32, .chosenByPrimitive),
                    kernel: plane, window: Window(strides: plane.map { _ in 1 }))),
            !primitive.isReference
        else { return false }
        var result = try resultForm(primitive, [self.input(.source, source, of: primitive)])
        if kind == .maximum { begins(with: -.greatestFiniteMagnitude) }
        if node.int("keepdims") == 0 { result = try plain(result, as: Array(shape[..<2])) }
        bind(node.result, to: result)
        return true
    }
}
