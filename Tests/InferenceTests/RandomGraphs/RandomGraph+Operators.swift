import Inference

extension RandomGraph {
    /// An operator on a value; nil where that kind does not fit it.
    mutating func drawn(on name: String, _ tensor: Tensor) throws -> Node? {
        switch fixture.pick(0...19) {
        case 0...5: try layout(name, tensor.shape)
        case 6...11: try arithmetic(name, tensor)
        case 12...15: try function(name, tensor)
        case 16: try product(name, tensor.shape)
        case 17: try convolution(name, tensor.shape)
        case 18: try reduction(name, tensor.shape)
        default: try choice(name, tensor)
        }
    }

    private mutating func made(
        _ operatorName: String, _ inputs: [String], _ attributes: [String: Attribute] = [:], opset: Int = 18
    ) -> Node {
        node(operatorName, inputs, newName(), attributes, opset: opset)
    }

    // MARK: What moves elements

    private mutating func layout(_ name: String, _ shape: [Int]) throws -> Node? {
        guard !shape.isEmpty else { return made("Unsqueeze", [name, try indices([0])]) }
        let axis = fixture.pick(0...(shape.count - 1))
        // Files write axes from behind as well.
        let written = axis - fixture.pick([0, shape.count])
        switch fixture.pick(0...9) {
        case 0, 1:
            return made("Transpose", [name], ["perm": .ints(shape.indices.shuffled(using: &fixture.random))])
        case 2:
            guard shape[axis] > 1 else { return nil }
            let first = fixture.pick(1...(shape[axis] - 1))
            let equal = shape[axis] % 2 == 0 && fixture.pick(0...1) == 0
            let sizes = equal ? [shape[axis] / 2, shape[axis] / 2] : [first, shape[axis] - first]
            let outputs = [newName() + "a", newName() + "b"]
            return Node(
                "Split", name: outputs[0], opset: 18, inputs: [name, try indices(sizes)], outputs: outputs,
                attributes: ["axis": .int(written)])
        case 3:
            guard shape[axis] > 0 else { return nil }
            let start = fixture.pick(0...(shape[axis] - 1))
            let end = fixture.pick((start + 1)...shape[axis])
            let step = fixture.pick([1, 1, 2])
            return made(
                "Slice",
                [
                    name, try indices([start]), try indices([end]), try indices([written]), try indices([step]),
                ])
        case 4:
            guard shape[axis] > 0 else { return nil }
            let places = (0..<fixture.pick(1...3)).map { _ in fixture.pick(-shape[axis]...(shape[axis] - 1)) }
            let list = try fixture.pick(0...1) == 0 ? indices([places[0]], shape: []) : indices(places)
            return made("Gather", [name, list], ["axis": .int(written)])
        case 5:
            // Neighbours become one, or one is parted.
            var target = shape
            if shape.count > 1, fixture.pick(0...1) == 0 {
                let place = fixture.pick(0...(shape.count - 2))
                target[place] *= target.remove(at: place + 1)
            } else if let factor = [2, 3, 4].first(where: { shape[axis] > $0 && shape[axis] % $0 == 0 }) {
                target[axis] /= factor
                target.insert(factor, at: axis + fixture.pick(0...1))
            } else {
                return nil
            }
            return made("Reshape", [name, try indices(target)])
        case 6:
            return shape.count < 6 ? made("Unsqueeze", [name, try indices([fixture.pick(0...shape.count)])]) : nil
        case 7:
            guard let one = shape.indices.filter({ shape[$0] == 1 }).randomElement(using: &fixture.random) else {
                return nil
            }
            return made("Squeeze", [name, try indices([one])])
        case 8:
            let fitting = values.filter { other in
                other.tensor.shape.count == shape.count
                    && shape.indices.allSatisfy { $0 == axis || other.tensor.shape[$0] == shape[$0] }
            }
            guard let other = fitting.randomElement(using: &fixture.random) else { return nil }
            return made("Concat", fixture.pick([[name, other.name], [other.name, name]]), ["axis": .int(written)])
        default:
            guard shape.count == 4, shape[1] % 4 == 0 else { return nil }
            return made(
                "DepthToSpace", [name], ["blocksize": .int(2), "mode": .string(fixture.pick(["DCR", "CRD"]))])
        }
    }

    // MARK: What computes

    private mutating func arithmetic(_ name: String, _ tensor: Tensor) throws -> Node? {
        let operatorName = fixture.pick(["Add", "Add", "Sub", "Mul", "Mul", "Div", "Max", "Min", "Sum"])
        if operatorName == "Div" {
            let shape = tensor.shape.map { fixture.pick(0...1) == 0 ? 1 : $0 }
            return made("Div", [name, try constant(shape, in: 0.5...2)])
        }
        let other = try other(than: name, tensor.shape)
        return made(operatorName, fixture.pick([[name, other], [other, name]]))
    }

    private mutating func function(_ name: String, _ tensor: Tensor) throws -> Node? {
        switch fixture.pick(0...13) {
        case 0, 1: return made("Relu", [name])
        case 2: return made("LeakyRelu", [name], ["alpha": .float(0.25)])
        case 3: return made("Sigmoid", [name])
        case 4: return made("Tanh", [name])
        case 5: return made("Clip", [name, try constant([], in: -1...0), try constant([], in: 0.5...3)])
        case 6: return made("HardSwish", [name])
        case 7: return made("Abs", [name])
        case 8: return made("Exp", [name])
        case 9: return made("Erf", [name])
        case 10: return made("Elu", [name], ["alpha": .float(0.5)])
        case 11: return made("Gelu", [name], fixture.pick([[:], ["approximate": .string("tanh")]]), opset: 20)
        case 12: return made("Neg", [name])
        default:
            guard !tensor.shape.isEmpty else { return nil }
            let axis = fixture.pick(-tensor.shape.count...(tensor.shape.count - 1))
            return made(fixture.pick(["Softmax", "LogSoftmax"]), [name], ["axis": .int(axis)])
        }
    }

    /// Two values, or a value and weights; with an operand that lies transposed now and then.
    private mutating func product(_ name: String, _ shape: [Int]) throws -> Node? {
        guard shape.count > 1, let depth = shape.last, depth > 0 else { return nil }
        let fitting = values.filter { other in
            let rows = other.tensor.shape.dropLast().last
            return other.tensor.shape.count > 1 && rows == depth
                && Self.broadcasts(Array(other.tensor.shape.dropLast(2)), Array(shape.dropLast(2)))
        }
        if fixture.pick(0...1) == 0, let other = fitting.randomElement(using: &fixture.random) {
            return made("MatMul", [name, other.name])
        }
        let columns = fixture.pick([1, 3, 8, 16, 17])
        if shape.count == 2, fixture.pick(0...1) == 0 {
            let transposed = fixture.pick(0...1)
            let weights = try constant(transposed == 1 ? [columns, depth] : [depth, columns], in: -0.5...0.5)
            return made("Gemm", [name, weights, try constant([columns])], ["transB": .int(transposed)])
        }
        let stack = fixture.pick(0...2) == 0 ? Array(shape.dropLast(2)) : []
        return made("MatMul", [name, try constant(stack + [depth, columns], in: -0.5...0.5)])
    }

    private mutating func convolution(_ name: String, _ shape: [Int]) throws -> Node? {
        guard (3...4).contains(shape.count), !shape.contains(0) else { return nil }
        let spatial = shape.count - 2
        if fixture.pick(0...2) == 0 {
            guard shape[2...].allSatisfy({ $0 > 1 }) else {
                return made(fixture.pick(["GlobalAveragePool", "GlobalMaxPool"]), [name])
            }
            let kind = fixture.pick(["MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"])
            if kind.hasPrefix("Global") { return made(kind, [name]) }
            return made(
                kind, [name],
                [
                    "kernel_shape": .ints(shape[2...].map { _ in 2 }),
                    "strides": .ints(shape[2...].map { _ in fixture.pick(1...2) }),
                ])
        }
        let filters = fixture.pick([1, 3, 8, 16, 20])
        let kernel = fixture.pick([1, 3])
        let weights = try constant([filters, shape[1]] + Array(repeating: kernel, count: spatial), in: -0.3...0.3)
        let pads: Attribute = .ints(Array(repeating: kernel / 2, count: 2 * spatial))
        let bias = fixture.pick(0...1) == 0 ? [try constant([filters])] : []
        return made("Conv", [name, weights] + bias, ["pads": pads])
    }

    private mutating func reduction(_ name: String, _ shape: [Int]) throws -> Node? {
        guard !shape.isEmpty, !shape.contains(0) else { return nil }
        if fixture.pick(0...3) == 0, shape[shape.count - 1] > 3 {
            return made(
                "LayerNormalization", [name, try constant([shape[shape.count - 1]])],
                ["axis": .int(-1), "epsilon": .float(0.1)])
        }
        let axes = shape.indices.filter { _ in fixture.pick(0...1) == 0 }
        let kind = fixture.pick(["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"])
        let keeps: [String: Attribute] = ["keepdims": .int(fixture.pick(0...1))]
        return made(kind, [name] + (axes.isEmpty ? [] : [try indices(axes)]), keeps)
    }

    private mutating func choice(_ name: String, _ tensor: Tensor) throws -> Node? {
        let flags = "f\(nodes.count)_\(fixture.initialisers.count)"
        let shape = tensor.shape.map { fixture.pick(0...2) == 0 ? 1 : $0 }
        let count = shape.reduce(1, *)
        fixture.initialisers[flags] = try Tensor(
            .bool, shape: shape, integers: (0..<count).map { _ in Int64(fixture.pick(0...1)) })
        let other = try constant([])
        if isNonFinite, fixture.pick(0...1) == 0 {
            fixture.initialisers[other] = try Tensor(
                .float32, shape: [], doubles: [fixture.pick([.infinity, -.infinity])])
        }
        return made("Where", fixture.pick([[flags, name, other], [flags, other, name]]))
    }
}
