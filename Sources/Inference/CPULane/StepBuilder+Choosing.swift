import OneDNNKit

extension StepBuilder {
    /// One value where a condition holds, another elsewhere.
    mutating func addWhere(_ node: Node) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result) else { return false }
        if let input = nanTests[node.inputs[0]], let filler = filler(of: node), let source = try form(input) {
            let place = append(.replaceNaN(by: filler), source, byteCount: source.descriptor.byteCount)
            bind(node.result, to: Form(place: place, descriptor: source.descriptor))
            return true
        }
        guard let type = type(of: node.inputs[0]), type.elementType == .bool, let condition = type.extents,
            let first = self.shape(of: node.inputs[1]), let second = self.shape(of: node.inputs[2]),
            let one = try plain(node.inputs[1]), let other = try plain(node.inputs[2])
        else { return false }
        try hold(node.inputs[0])
        let choice = ElementChoice(shape, operands: [condition, first, second])
        let target = try MemoryDescriptor(Self.dimensions(shape), .float32)
        let place = append(choice, condition: node.inputs[0], one, other, byteCount: target.byteCount)
        bind(node.result, to: Form(place: place, descriptor: target))
        return true
    }

    /// A test whose only use is to put a number in the place of NaN is made together with that, as attention has it for rows
    /// that are masked as a whole.
    mutating func defersToWhere(_ node: Node) throws(OneDNNError) -> Bool {
        guard let taker = uses.onlyTaker(of: node.result).map({ nodes[$0] }), taker.isStandard("Where"),
            taker.inputs[0] == node.result, taker.inputs[2] == node.inputs[0], filler(of: taker) != nil,
            let shape = self.shape(of: taker.result), shape == self.shape(of: node.inputs[0]),
            try form(node.inputs[0]) != nil
        else { return false }
        nanTests[node.result] = node.inputs[0]
        return true
    }

    /// The constant that a `Where` gives where its condition holds.
    private func filler(of node: Node) -> Float? {
        guard let tensor = initialisers[node.inputs[1]], tensor.elementType == .float32, tensor.count == 1 else {
            return nil
        }
        return tensor.elements(as: Float.self).first
    }
}
