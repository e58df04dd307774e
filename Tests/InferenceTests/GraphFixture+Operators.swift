import Inference

/// Random graphs of operators that every lane has a form for.
extension GraphFixture {
    /// Of one to three axes; some get their weights as an input where that may be.
    mutating func convolution(mayComputeWeights: Bool) throws -> [Node] {
        let axes = pick(1...3)
        let group = pick([1, 1, 2, 4])
        let (channels, filters) = (pick([1, 3, 8, 16]), pick([1, 4, 16]) * group)
        let kernel = list(axes, of: 1...3)
        var attributes: [String: Attribute] = [
            "strides": .ints(list(axes, of: 1...2)), "dilations": .ints(list(axes, of: 1...2)), "group": .int(group),
        ]
        if pick(0...2) == 0 {
            attributes["auto_pad"] = .string(pick(["SAME_UPPER", "SAME_LOWER", "VALID"]))
        } else {
            attributes["pads"] = .ints(list(2 * axes, of: 0...2))
        }
        try input("x", [pick(1...2), channels * group] + list(axes, of: 5...11))
        let weights = [filters, channels] + kernel
        if mayComputeWeights, pick(0...3) == 0 { try input("w", weights) } else { try constant("w", weights) }
        try constant("b", [filters])
        return [node("Conv", pick([["x", "w"], ["x", "w", "b"]]), "y", attributes)]
    }

    /// Up to four operators, some of them of two values, to which a lane may add more.
    mutating func chainBehindConvolution(
        more: [String] = [], channels: [Int] = [3, 16, 20], images: Int = 1, size: [Int] = [6, 7]
    ) throws -> [Node] {
        let channels = pick(channels)
        try input("x", [images, channels] + size)
        try constant("w", [channels, channels, 3, 3])
        try constant("k", [channels, 1, 1])
        try constant("s", [])
        var nodes = [node("Conv", ["x", "w"], "v0", ["pads": .ints([1, 1, 1, 1])])]
        for step in 1...pick(1...4) {
            let (value, name) = ("v\(step - 1)", "v\(step)")
            let next: Node =
                switch pick(0...(7 + more.count)) {
                case 0: node("Relu", [value], name)
                case 1: node("LeakyRelu", [value], name, ["alpha": .float(0.25)])
                case 2: node("Sigmoid", [value], name)
                case 3: node("HardSwish", [value], name)
                case 4: node("Clip", [value], name, ["min": .float(0), "max": .float(6)], opset: 10)
                case 5: node("Add", pick([["x", value], [value, "x"]]), name)
                case 6: node("Mul", [value, "k"], name)
                case 7: node("Add", ["s", value], name)
                default: node(pick(more), pick([["x", value], [value, "x"]]), name)
                }
            nodes.append(next)
        }
        return nodes
    }

    /// Over an odd number of channels; with other values than the standard's own now and then.
    mutating func localResponse() throws -> [Node] {
        let axes = pick(1...2)
        try input("x", [pick(1...2), pick([1, 4, 16, 21])] + list(axes, of: 1...9), in: -8...8)
        var attributes: [String: Attribute] = ["size": .int(pick([1, 3, 5, 7]))]
        if pick(0...1) == 0 {
            attributes["alpha"] = .float(0.3)
            attributes["beta"] = .float(pick([0.5, 0.75, 1.5]))
            attributes["bias"] = .float(2)
        }
        return [node("LRN", ["x"], "y", attributes)]
    }

    /// Between two values, or a value and a number, by a condition that may be repeated along some axes.
    mutating func choice(withNumber: Bool) throws -> [Node] {
        let shape = list(pick(1...4), of: 1...7)
        func repeated(_ fixture: inout GraphFixture) -> [Int] { shape.map { fixture.pick(0...2) == 0 ? 1 : $0 } }
        let condition = Array(repeated(&self).dropFirst(pick(0...1)))
        let flags = (0..<condition.reduce(1, *)).map { _ in Int64(pick(0...1)) }
        let flagTensor = try Tensor(.bool, shape: condition, integers: flags)
        if pick(0...2) == 0 { initialisers["c"] = flagTensor } else { inputs["c"] = flagTensor }
        try input("x", shape)
        if withNumber { try constant("z", pick([[], [1]])) } else { try input("z", repeated(&self)) }
        return [node("Where", pick([["c", "x", "z"], ["c", "z", "x"]]), "y")]
    }

    /// Of values some of which are no numbers.
    mutating func replacedNaN() throws -> [Node] {
        let shape = list(pick(1...3), of: 2...9)
        let values = (0..<shape.reduce(1, *)).map { $0 % 3 == 1 ? Double.nan : Double($0) }
        inputs["x"] = try Tensor(.float32, shape: shape, doubles: values)
        try constant("z", [])
        return [node("Abs", ["x"], "a"), node("IsNaN", ["a"], "n"), node("Where", ["n", "z", "a"], "y")]
    }

    mutating func matrixProduct() throws -> [Node] {
        let (m, k, n) = (pick(1...20), pick(1...40), pick([1, 7, 16, 33, 130]))
        let batches = list(pick(0...3), of: 1...3)
        let (stack, matrix) = (batches + [m, k], batches + [k, n])
        var shapes = [stack, matrix]
        switch pick(0...3) {
        case 0: shapes[0] = [m, k]
        case 1: shapes[1] = [k, n]
        case 2: shapes[1] = batches.map { _ in 1 } + [k, n]
        default: break
        }
        if pick(0...5) == 0 { shapes = [[k], matrix] }
        if pick(0...5) == 0 { shapes = [stack, [k]] }
        try input("a", shapes[0])
        try inputOrConstant("b", shapes[1])
        guard shapes.allSatisfy({ $0.count > 1 }) else { return [node("MatMul", ["a", "b"], "p")] }
        try constant("bias", [n])
        return [node("MatMul", ["a", "b"], "p"), node("Add", ["p", "bias"], "s"), node("Relu", ["s"], "y")]
    }

    mutating func generalProduct() throws -> [Node] {
        let (m, k, n) = (pick(1...20), pick([2, 17, 40, 900]), pick([1, 7, 16, 33]))
        let (first, second) = (pick(0...1), pick(0...1))
        try input("a", first == 1 ? [k, m] : [m, k])
        try inputOrConstant("b", second == 1 ? [n, k] : [k, n])
        try constant("c", pick([[n], [1, n], [m, n], [1], []]))
        return [
            node(
                "Gemm", pick([["a", "b"], ["a", "b", "c"]]), "p", ["transA": .int(first), "transB": .int(second)]),
            node("Relu", ["p"], "y"),
        ]
    }

    mutating func pooling() throws -> [Node] {
        let axes = pick(1...3)
        try input("x", [pick(1...2), pick([1, 3, 16])] + list(axes, of: 6...9))
        let name = pick(["MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"])
        guard !name.hasPrefix("Global") else { return [node(name, ["x"], "y")] }
        let roundsUp = pick(0...1)
        var attributes: [String: Attribute] = [
            "kernel_shape": .ints(list(axes, of: 2...3)), "strides": .ints(list(axes, of: 1...3)),
            "pads": .ints(list(2 * axes, of: 0...1)), "ceil_mode": .int(roundsUp),
        ]
        // Both at once are left to the plain operator where windows are cut.
        if name == "AveragePool" { attributes["count_include_pad"] = .int(roundsUp == 1 ? 0 : pick(0...1)) }
        return [node(name, ["x"], "y", attributes)]
    }

    /// One operator of those named, of a value and a part of its shape; the ordered ones have the larger value first.
    mutating func arithmeticOfTwo(_ names: [String], ordered: Set<String> = []) throws -> [Node] {
        let shape = list(pick(1...4), of: 1...9)
        var part = shape
        switch pick(0...3) {
        case 0: part = Array(shape.dropFirst())
        case 1: part = []
        case 2: for axis in part.indices where pick(0...1) == 0 { part[axis] = 1 }
        default: break
        }
        // Positive, for divisors and bases of powers.
        try input("a", shape, in: 0.5...2)
        try input("b", part, in: 0.5...2)
        let name = pick(names)
        return [
            node(name, ordered.contains(name) ? ["a", "b"] : pick([["a", "b"], ["b", "a"]]), "s"),
            node("Relu", ["s"], "y"),
        ]
    }

    mutating func movedOrRenamed() throws -> [Node] {
        try input("x", [2, 16, 4, 5])
        try constant("w", [32, 16, 1, 1])
        initialisers["axes"] = try Tensor(indices: [1])
        initialisers["shape"] = try Tensor(indices: [2, 32, 20])
        return [
            node("Conv", ["x", "w"], "c"), node("Concat", ["c", "x", "c"], "k", ["axis": .int(1)]),
            node("Conv", ["x", "w"], "d"), node("Reshape", ["d", "shape"], "r"),
            node("Transpose", ["r"], "t", ["perm": .ints([0, 2, 1])]), node("MatMul", ["t", "r"], "p"),
            node("Unsqueeze", ["p", "axes"], "u"), node("Squeeze", ["u", "axes"], "q"),
            node("Flatten", ["q"], "f", ["axis": .int(1)]), node("Flatten", ["k"], "g"),
            node("Concat", ["f", "g"], "y", ["axis": .int(-1)]),
        ]
    }

    /// Two convolutions with a residual sum `s`, of 20 x 12 x 12, and what follows it.
    static func network(_ rest: [Node]) throws -> (model: Model, inputs: [String: Tensor]) {
        var fixture = GraphFixture(seed: 7)
        try fixture.input("x", [1, 20, 12, 12])
        try fixture.constant("w", [40, 20, 3, 3])
        try fixture.constant("v", [20, 40, 3, 3])
        let model = fixture.model(
            [
                node("Conv", ["x", "w"], "c", ["pads": .ints([1, 1, 1, 1])]), node("Relu", ["c"], "r"),
                node("Conv", ["r", "v"], "d", ["pads": .ints([1, 1, 1, 1])]), node("Add", ["d", "x"], "s"),
            ] + rest)
        return (model, fixture.inputs)
    }

    private mutating func list(_ count: Int, of range: ClosedRange<Int>) -> [Int] {
        (0..<count).map { _ in pick(range) }
    }

    private mutating func inputOrConstant(_ name: String, _ shape: [Int]) throws {
        if pick(0...1) == 0 { try input(name, shape) } else { try constant(name, shape) }
    }
}
