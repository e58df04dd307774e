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
        guard let source = try matrices(node.inputs[0], as: left), let weights = try matrices(node.inputs[1], as: right)
        else { return false }
        var (start, rest, bias) = (Followers(behind: node), nodes[...], Form?.none)
        let scale = source.scale * weights.scale
        if scale == 1, let first = nodes.first, let row = try rowAddend(of: first, to: node.result, target, shape) {
            bias = row
            start = Followers(behind: first)
            rest = nodes.dropFirst()
        }
        if scale != 1 { start.multiply(by: scale) }
        guard
            let followers = try self.followers(
                Array(rest), behind: start, shape: shape, as: target, axis: max(shape.count - 1, 0), byRow: true)
        else { return false }
        if target == shape, isTransposedNext(followers, shape) {
            let order = try MemoryDescriptor(target, .float32, strides: StridedView.dense(target, order: [0, 2, 1, 3]))
            if try attempt({ (builder) throws(OneDNNError) in
                try builder.addProduct(source, weights, bias: bias, order, followers, isChain: true)
            }) {
                return true
            }
        }
        return try addProduct(
            source, weights, bias: bias, MemoryDescriptor(target, .float32), followers, isChain: !nodes.isEmpty)
    }

    /// The operand as it lies, where a product takes that, else row-major.
    private mutating func matrices(_ name: String, as dimensions: [Int]) throws(OneDNNError) -> Form? {
        guard let view = try view(name) else { return nil }
        // What products of oneDNN 2.6.3 have fast forms for.
        let orders: [[Int]]
        switch dimensions.count {
        case 2: orders = [[0, 1], [1, 0]]
        case 3: orders = [[0, 1, 2], [0, 2, 1]]
        case 4: orders = [[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 1, 3], [0, 3, 1, 2]]
        default: orders = []
        }
        if let same = try view.reshaped(dimensions), let strides = same.descriptor.strides,
            let order = orders.first(where: { StridedView.isDense(dimensions, strides, order: $0) })
        {
            return try same.with(dimensions, StridedView.dense(dimensions, order: order))
        }
        return try plain(name, as: dimensions)
    }

    /// The constant row that the node adds to each row of a product.
    private mutating func rowAddend(
        of node: Node, to value: String, _ target: [Int], _ shape: [Int]
    ) throws(OneDNNError) -> Form? {
        guard node.isStandard("Add"), node.inputs.count == 2, target.count == 2, let columns = target.last,
            let name = node.inputs.first(where: { $0 != value }), let tensor = initialisers[name],
            tensor.elementType == .float32, tensor.shape.last == columns, tensor.count == columns,
            tensor.shape.count <= shape.count
        else { return nil }
        return try plain(name, as: [1, columns])
    }

    /// Whether the result is only taken with its second and third axis exchanged, so that it should lie like that.
    private func isTransposedNext(_ followers: Followers, _ shape: [Int]) -> Bool {
        guard shape.count == 4, let taker = uses.onlyTaker(of: followers.result),
            nodes[taker].isStandard("Transpose"), nodes[taker].ints("perm") == [0, 2, 1, 3]
        else { return false }
        return followers.operands.allSatisfy { $0.form.descriptor.dimensions != shape }
    }

    /// `alpha · A · B + beta · C`, where A and B may lie transposed.
    mutating func addGeneralProduct(_ node: Node, _ nodes: [Node]) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), shape.count == 2, var source = try plain(node.inputs[0]),
            var weights = try plain(node.inputs[1])
        else { return false }
        if node.int("transA") ?? 0 != 0 { source.descriptor = try source.descriptor.transposed() }
        if node.int("transB") ?? 0 != 0 { weights.descriptor = try weights.descriptor.transposed() }
        let hasAddend = node.inputs.count > 2 && !node.inputs[2].isEmpty
        let alpha = node.float("alpha") ?? 1
        guard !hasAddend || alpha == 1 && node.float("beta") ?? 1 == 1 else { return false }
        var bias: Form?
        if hasAddend {
            guard let extents = self.shape(of: node.inputs[2]), extents.count <= 2 else { return false }
            bias = try plain(node.inputs[2], as: Array(repeating: 1, count: 2 - extents.count) + extents)
        }
        var start = Followers(behind: node)
        if alpha != 1 { start.multiply(by: Float(alpha)) }
        guard let followers = try self.followers(nodes, behind: start, shape: shape, axis: 1) else { return false }
        return try addProduct(
            source, weights, bias: bias, MemoryDescriptor(shape, .float32), followers, isChain: !nodes.isEmpty)
    }

    private mutating func addProduct(
        _ source: Form, _ weights: Form, bias: Form?, _ destination: MemoryDescriptor, _ followers: Followers,
        isChain: Bool
    ) throws(OneDNNError) -> Bool {
        var right = weights.descriptor
        var left = source.descriptor
        if case .constant = weights.place, right.rank == 2 {
            right = try right.with(.chosenByPrimitive, operandType)
            left = try left.retyped(operandType) ?? left
        }
        let operation = OneDNNKit.MatrixProduct(
            left, weights: right, bias: bias?.descriptor, destination: destination)
        let primitive = try Primitive(operation, followers.attributes, on: engine)
        if primitive.isReference && (isChain || operandType != .float32) { return false }
        var inputs = [try input(.source, source, of: primitive), try input(.weights, weights, of: primitive)]
        if let bias { inputs.append(try input(.bias, bias, of: primitive)) }
        try append(primitive, inputs + self.inputs(followers, of: primitive), result: followers.result)
        return true
    }
}
