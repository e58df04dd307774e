import OneDNNKit

extension StepBuilder {
    /// Another size of the axes behind the second, where the elements that the node takes are oneDNN's.
    mutating func addResizing(_ node: Node) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), let input = self.shape(of: node.inputs[0]),
            (3...5).contains(shape.count), shape[..<2] == input[..<2],
            let plan = ResizePlan(node, input: input, known: { initialisers[$0] ?? facts[$0]?.value }),
            plan.output == shape, let kind = plan.resampling
        else { return false }
        for isPlain in [false, true] {
            guard let source = try isPlain ? plain(node.inputs[0]) : form(node.inputs[0]),
                let primitive = try self.primitive(
                    Resampling(
                        kind, source.descriptor,
                        destination: try MemoryDescriptor(shape, .float32, .chosenByPrimitive))),
                !primitive.isReference
            else { continue }
            try append(primitive, [self.input(.source, source, of: primitive)], result: node.result)
            return true
        }
        return false
    }
}

extension ResizePlan {
    /// What oneDNN does with the same weights of the same elements.
    fileprivate var resampling: Resampling.Kind? {
        let kind: Resampling.Kind
        switch mode.interpolation {
        case "nearest": kind = .nearest
        case "linear", "bilinear": kind = .linear
        default: return nil
        }
        return input.indices.dropFirst(2).allSatisfy { agrees(with: kind, $0) } ? kind : nil
    }

    private func agrees(with kind: Resampling.Kind, _ axis: Int) -> Bool {
        let last = input[axis] - 1
        func inside(_ index: Float) -> Int { min(max(Int(index), 0), last) }
        return (0..<output[axis]).allSatisfy { place in
            // In float32, as oneDNN has it: ties are decided there.
            let x = (Float(place) + 0.5) * Float(input[axis]) / Float(output[axis]) - 0.5
            var weights: [Int: Double] = [:]
            if kind == .nearest {
                weights[inside(x.rounded(.toNearestOrAwayFromZero))] = 1
            } else {
                let low = x.rounded(.down)
                weights[inside(low), default: 0] += 1 - Double(x - low)
                weights[inside(low + 1), default: 0] += Double(x - low)
            }
            for tap in taps(place, axis) { weights[tap.index, default: 0] -= tap.weight }
            return weights.values.allSatisfy { abs($0) < 1e-5 }
        }
    }
}
