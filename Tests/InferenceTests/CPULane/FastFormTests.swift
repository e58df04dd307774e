import Inference
import Testing

/// Operators with a fast form, on random shapes, against the plain operators. A node that was evaluated plainly after all
/// is a failure.
@Suite struct FastFormTests {
    @Test(arguments: 1...60) func convolutions(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let axes = fixture.pick(1...3)
        let group = fixture.pick([1, 1, 2, 4])
        let (channels, filters) = (fixture.pick([1, 3, 8, 16]), fixture.pick([1, 4, 16]) * group)
        let kernel = (0..<axes).map { _ in fixture.pick(1...3) }
        let dilations = (0..<axes).map { _ in fixture.pick(1...2) }
        let extents = (0..<axes).map { _ in fixture.pick(5...11) }
        var attributes: [String: Attribute] = [
            "strides": .ints((0..<axes).map { _ in fixture.pick(1...2) }), "dilations": .ints(dilations),
            "group": .int(group),
        ]
        if fixture.pick(0...2) == 0 {
            attributes["auto_pad"] = .string(fixture.pick(["SAME_UPPER", "SAME_LOWER", "VALID"]))
        } else {
            attributes["pads"] = .ints((0..<(2 * axes)).map { _ in fixture.pick(0...2) })
        }
        try fixture.input("x", [fixture.pick(1...2), channels * group] + extents)
        // Weights that are computed are laid out at each run.
        let weights = [filters, channels] + kernel
        if fixture.pick(0...3) == 0 { try fixture.input("w", weights) } else { try fixture.constant("w", weights) }
        try fixture.constant("b", [filters])
        var inputs = ["x", "w"]
        if fixture.pick(0...1) == 0 { inputs.append("b") }
        try fixture.expectAgreement([node("Conv", inputs, "y", attributes)], "seed \(seed)")
    }

    @Test(arguments: 1...30) func chainsBehindConvolutions(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let channels = fixture.pick([3, 16, 20])
        try fixture.input("x", [1, channels, 6, 7])
        try fixture.constant("w", [channels, channels, 3, 3])
        try fixture.constant("k", [channels, 1, 1])
        try fixture.constant("s", [])
        var nodes = [node("Conv", ["x", "w"], "v0", ["pads": .ints([1, 1, 1, 1])])]
        for step in 1...fixture.pick(1...4) {
            let value = "v\(step - 1)"
            let next: Node =
                switch fixture.pick(0...7) {
                case 0: node("Relu", [value], "v\(step)")
                case 1: node("LeakyRelu", [value], "v\(step)", ["alpha": .float(0.25)])
                case 2: node("Sigmoid", [value], "v\(step)")
                case 3: node("HardSwish", [value], "v\(step)")
                case 4: node("Clip", [value], "v\(step)", ["min": .float(0), "max": .float(6)], opset: 10)
                case 5: node("Add", fixture.pick([["x", value], [value, "x"]]), "v\(step)")
                case 6: node("Mul", [value, "k"], "v\(step)")
                default: node("Add", ["s", value], "v\(step)")
                }
            nodes.append(next)
        }
        try fixture.expectAgreement(nodes, "seed \(seed): \(nodes.map(\.operatorName))")
    }

    @Test(arguments: 1...30) func matrixProducts(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let (m, k, n) = (fixture.pick(1...20), fixture.pick(1...40), fixture.pick([1, 7, 16, 33]))
        let batches = (0..<fixture.pick(0...2)).map { _ in fixture.pick(1...3) }
        let (stack, matrix) = (batches + [m, k], batches + [k, n])
        var shapes = [stack, matrix]
        switch fixture.pick(0...3) {
        case 0: shapes[0] = [m, k]
        case 1: shapes[1] = [k, n]
        case 2: shapes[1] = batches.map { _ in 1 } + [k, n]
        default: break
        }
        if fixture.pick(0...5) == 0 { shapes = [[k], matrix] }
        if fixture.pick(0...5) == 0 { shapes = [stack, [k]] }
        try fixture.input("a", shapes[0])
        if fixture.pick(0...1) == 0 { try fixture.input("b", shapes[1]) } else { try fixture.constant("b", shapes[1]) }
        var nodes = [node("MatMul", ["a", "b"], "p")]
        if shapes.allSatisfy({ $0.count > 1 }) {
            try fixture.constant("bias", [n])
            nodes += [node("Add", ["p", "bias"], "s"), node("Relu", ["s"], "y")]
        }
        try fixture.expectAgreement(nodes, "seed \(seed): \(shapes)")
    }

    @Test(arguments: 1...20) func generalProducts(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let (m, k, n) = (fixture.pick(1...20), fixture.pick(2...40), fixture.pick([1, 7, 16, 33]))
        let (first, second) = (fixture.pick(0...1), fixture.pick(0...1))
        try fixture.input("a", first == 1 ? [k, m] : [m, k])
        let right = second == 1 ? [n, k] : [k, n]
        if fixture.pick(0...1) == 0 { try fixture.input("b", right) } else { try fixture.constant("b", right) }
        try fixture.constant("c", fixture.pick([[n], [1, n], [m, n], [1], []]))
        let inputs = fixture.pick([["a", "b"], ["a", "b", "c"]])
        try fixture.expectAgreement(
            [node("Gemm", inputs, "p", ["transA": .int(first), "transB": .int(second)]), node("Relu", ["p"], "y")],
            "seed \(seed)")
    }

    @Test(arguments: 1...40) func poolings(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let axes = fixture.pick(1...3)
        let extents = (0..<axes).map { _ in fixture.pick(6...9) }
        try fixture.input("x", [fixture.pick(1...2), fixture.pick([1, 3, 16])] + extents)
        let name = fixture.pick(["MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"])
        var attributes: [String: Attribute] = [:]
        if !name.hasPrefix("Global") {
            attributes = [
                "kernel_shape": .ints((0..<axes).map { _ in fixture.pick(2...3) }),
                "strides": .ints((0..<axes).map { _ in fixture.pick(1...3) }),
                "pads": .ints((0..<(2 * axes)).map { _ in fixture.pick(0...1) }),
            ]
            attributes["ceil_mode"] = .int(fixture.pick(0...1))
            if name == "AveragePool" { attributes["count_include_pad"] = .int(fixture.pick(0...1)) }
        }
        try fixture.expectAgreement([node(name, ["x"], "y", attributes)], "seed \(seed): \(name)")
    }

    @Test(arguments: 1...40) func resizings(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let (height, width) = (fixture.pick(2...9), fixture.pick(2...9))
        try fixture.input("x", [fixture.pick(1...2), fixture.pick([1, 3, 16]), height, width])
        let mode = fixture.pick(["nearest", "linear"])
        var attributes: [String: Attribute] = ["mode": .string(mode)]
        let factors = [fixture.pick(1...4), fixture.pick(1...4)]
        if mode == "nearest", fixture.pick(0...1) == 0 {
            attributes["coordinate_transformation_mode"] = .string("asymmetric")
            attributes["nearest_mode"] = .string("floor")
        }
        if fixture.pick(0...1) == 0 {
            fixture.initialisers["scales"] = try Tensor(
                .float32, shape: [4], doubles: [1, 1] + factors.map { Double($0) })
            try fixture.expectAgreement([node("Resize", ["x", "", "scales"], "y", attributes)], "seed \(seed)")
        } else {
            let sizes = mode == "linear" ? [fixture.pick(1...20), fixture.pick(1...20)] : [2 * height, 3 * width]
            fixture.initialisers["sizes"] = try Tensor(
                indices: Array(try #require(fixture.inputs["x"]).shape[..<2]) + sizes)
            try fixture.expectAgreement([node("Resize", ["x", "", "", "sizes"], "y", attributes)], "seed \(seed)")
        }
    }

    @Test func resizingsWithOtherPlacesAreEvaluatedPlainly() throws {
        var fixture = GraphFixture(seed: 1)
        try fixture.input("x", [1, 2, 5, 6])
        fixture.initialisers["scales"] = try Tensor(.float32, shape: [4], doubles: [1, 1, 2, 1.5])
        for (name, value) in [
            ("coordinate_transformation_mode", "align_corners"), ("coordinate_transformation_mode", "asymmetric"),
            ("mode", "cubic"),
        ] {
            var attributes: [String: Attribute] = ["mode": .string("linear")]
            attributes[name] = .string(value)
            let model = fixture.model([node("Resize", ["x", "", "scales"], "y", attributes)])
            let compiled = try CompiledModel(model)
            #expect(compiled.plainNodes.count == 1, "\(value)")
            let found = try #require(try compiled.execute(fixture.inputs)["y"])
            expectClose(found, try ReferenceRunner().run(model, inputs: fixture.inputs)[0], tolerance: 1e-6, value)
        }
    }

    @Test(arguments: 1...40) func reductions(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let shape = (0..<fixture.pick(1...5)).map { _ in fixture.pick(1...6) }
        try fixture.input("x", shape)
        var attributes: [String: Attribute] = ["keepdims": .int(fixture.pick(0...1))]
        let planes = shape.count > 2 ? [Array(2..<shape.count)] : []
        let some = shape.indices.filter { _ in fixture.pick(0...1) == 0 }
        let axes = fixture.pick(planes + [some])
        if !axes.isEmpty { attributes["axes"] = .ints(axes.map { fixture.pick([$0, $0 - shape.count]) }) }
        let name = fixture.pick(["ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum"])
        try fixture.expectAgreement([node(name, ["x"], "y", attributes, opset: 11)], "seed \(seed): \(name) \(axes)")
    }

    @Test(arguments: 1...40) func arithmeticOfTwo(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let shape = (0..<fixture.pick(1...4)).map { _ in fixture.pick(1...9) }
        var part = shape
        switch fixture.pick(0...3) {
        case 0: part = Array(shape.dropFirst())
        case 1: part = []
        case 2: for axis in part.indices where fixture.pick(0...1) == 0 { part[axis] = 1 }
        default: break
        }
        try fixture.input("a", shape)
        try fixture.input("b", part, in: 0.5...2)
        let name = fixture.pick(["Add", "Sub", "Mul", "Div", "Max", "Min"])
        let inputs = ["Sub", "Div"].contains(name) ? ["a", "b"] : fixture.pick([["a", "b"], ["b", "a"]])
        try fixture.expectAgreement(
            [node(name, inputs, "s"), node("Relu", ["s"], "y")], "seed \(seed): \(name) of \(shape) and \(part)")
    }

    @Test(arguments: [
        "Relu", "LeakyRelu", "Elu", "Sigmoid", "Tanh", "HardSwish", "HardSigmoid", "Exp", "Abs", "Mish",
    ])
    func functions(name: String) throws {
        var fixture = GraphFixture(seed: 1)
        try fixture.input("x", [3, 50], in: -4...4)
        try fixture.expectAgreement([node(name, ["x"], "y", opset: name == "Mish" ? 18 : 17)], name)
    }

    @Test(arguments: [11, 13], [-1, 0, 1, 2]) func softmax(opset: Int, axis: Int) throws {
        var fixture = GraphFixture(seed: 2)
        try fixture.input("x", [2, 5, 7], in: -4...4)
        for name in ["Softmax", "LogSoftmax"] {
            try fixture.expectAgreement([node(name, ["x"], "y", ["axis": .int(axis)], opset: opset)], name)
        }
    }

    @Test(arguments: [1, 2, -1]) func layerNormalization(axis: Int) throws {
        var fixture = GraphFixture(seed: 3)
        let shape = [2, 3, 4]
        try fixture.input("x", shape)
        let inner = Array(shape[(axis < 0 ? axis + 3 : axis)...])
        try fixture.constant("scale", inner)
        try fixture.constant("bias", inner)
        for inputs in [["x", "scale"], ["x", "scale", "bias"]] {
            try fixture.expectAgreement([node("LayerNormalization", inputs, "y", ["axis": .int(axis)])])
        }
    }

    @Test func batchNormalizationByItself() throws {
        var fixture = GraphFixture(seed: 4)
        try fixture.input("x", [2, 5, 3, 3])
        for name in ["shift", "mean"] { try fixture.constant(name, [5]) }
        for name in ["scale", "variance"] { try fixture.constant(name, [5], in: 0.5...2) }
        try fixture.expectAgreement([
            node("BatchNormalization", ["x", "scale", "shift", "mean", "variance"], "n"), node("Relu", ["n"], "y"),
        ])
    }

    @Test func valuesThatAreMovedOrRenamed() throws {
        var fixture = GraphFixture(seed: 5)
        try fixture.input("x", [2, 16, 4, 5])
        try fixture.constant("w", [32, 16, 1, 1])
        fixture.initialisers["axes"] = try Tensor(indices: [1])
        fixture.initialisers["shape"] = try Tensor(indices: [2, 32, 20])
        try fixture.expectAgreement([
            node("Conv", ["x", "w"], "c"), node("Concat", ["c", "x", "c"], "k", ["axis": .int(1)]),
            node("Conv", ["x", "w"], "d"), node("Reshape", ["d", "shape"], "r"),
            node("Transpose", ["r"], "t", ["perm": .ints([0, 2, 1])]), node("MatMul", ["t", "r"], "p"),
            node("Unsqueeze", ["p", "axes"], "u"), node("Squeeze", ["u", "axes"], "q"),
            node("Flatten", ["q"], "f", ["axis": .int(1)]), node("Flatten", ["k"], "g"),
            node("Concat", ["f", "g"], "y", ["axis": .int(-1)]),
        ])
    }
}
