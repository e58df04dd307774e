import OneDNNKit

extension StepBuilder {
    /// A stack of matrices times another or one matrix; lists are a row or a column that vanishes.
    mutating func addMatrixProduct(_ node: Node, _ nodes: [Node]) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), var left = self.shape(of: node.inputs[0]),
            var right = self.shape(of: node.inputs[1]), !left.isEmpty, !right.isEmpty
        else { return false }
        // Chains on lists would have an axis that the product lacks.
        guard nodes.isEmpty || left.count > 1 && right.count > 1 else { return false }
        if left.count == 1 { left.insert(1, at: 0) }
        if right.count == 1 { right.append(1) }
        if right.count == 2 {
            // One product of all rows.
            left = [left.dropLast().reduce(1, *), left[left.count - 1]]
        } else {
            let rank = max(left.count, right.count)
            left = Array(repeating: 1, count: rank - left.count) + left
            right = Array(repeating: 1, count: rank - right.count) + right
        }
        let batches = zip(left, right).dropLast(2).map { max($0, $1) }
        let target = batches + [left[left.count - 2], right[right.count - 1]]
        guard let source = try plain(node.inputs[0], as: left), let weights = try plain(node.inputs[1], as: right),
            let followers = try self.followers(
                nodes, behind: Followers(behind: node), shape: shape, as: target, axis: max(shape.count - 1, 0))
        else { return false }
        return try addProduct(source, weights, bias: nil, target, followers, isChain: !nodes.isEmpty)
    }

    /// `alpha · A · B + beta · C`, where A and B may lie transposed.
    mutating func addGeneralProduct(_ node: Node, _ nodes: [Node]) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), var source = try plain(node.inputs[0]),
            var weights = try plain(node.inputs[1])
        else { return false }
        if node.int("transA") ?? 0 != 0 { source.descriptor = try source.descriptor.transposed() }
        if node.int("transB") ?? 0 != 0 { weights.descriptor = try weights.descriptor.transposed() }
        let hasAddend = node.inputs.count > 2 && !node.inputs[2].isEmpty
        guard node.float("alpha") ?? 1 == 1, !hasAddend || node.float("beta") ?? 1 == 1 else { return false }
        var bias: Form?
        if hasAddend {
            guard let extents = self.shape(of: node.inputs[2]), extents.count <= 2 else { return false }
            bias = try plain(node.inputs[2], as: Array(repeating: 1, count: 2 - extents.count) + extents)
        }
        guard
            let followers = try self.followers(
                nodes, behind: Followers(behind: node), shape: shape, axis: 1)
        else { return false }
        return try addProduct(source, weights, bias: bias, shape, followers, isChain: !nodes.isEmpty)
    }

    private mutating func addProduct(
        _ source: Form, _ weights: Form, bias: Form?, _ target: [Int], _ followers: Followers, isChain: Bool
    ) throws(OneDNNError) -> Bool {
        var right = weights.descriptor
        if case .constant = weights.place, right.rank == 2 { right = try right.with(.chosenByPrimitive) }
        let operation = OneDNNKit.MatrixProduct(
            source.descriptor, weights: right, bias: bias?.descriptor,
            destination: try MemoryDescriptor(target, .float32))
        let primitive = try Primitive(operation, followers.attributes, on: engine)
        if primitive.isReference && isChain { return false }
        var inputs = [try input(.source, source, of: primitive), try input(.weights, weights, of: primitive)]
        if let bias { inputs.append(try input(.bias, bias, of: primitive)) }
        try append(primitive, inputs + self.inputs(followers, of: primitive), result: followers.result)
        return true
    }
}
