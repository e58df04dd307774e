import Inference
import Testing

/// Each pass on a small graph: its nodes before and after, and the same results.
@Suite struct PassTests {
    private func expect(
        _ pass: any GraphPass, _ fixture: GraphFixture, _ nodes: [Node], outputs: [String]? = nil,
        gives lines: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let model = fixture.model(nodes, outputs: outputs)
        var changed = model
        changed.graph = try pass.apply(model.graph, try ShapeInference().infer(model.graph).facts)
        #expect(changed.graph.lines == lines, sourceLocation: sourceLocation)
        let before = try ReferenceRunner().run(model, inputs: fixture.inputs)
        let after = try ReferenceRunner().run(changed, inputs: fixture.inputs)
        for (found, wanted) in zip(after, before) {
            expectClose(found, wanted, tolerance: 1e-5, sourceLocation: sourceLocation)
        }
    }

    @Test func whatIsKnownBecomesAnInitialiser() throws {
        var fixture = GraphFixture(seed: 1)
        try fixture.input("x", [2, 3])
        try fixture.constant("k", [2])
        try expect(
            FoldConstants(), fixture,
            [
                node("Shape", ["x"], "s"), node("Reshape", ["x", "s"], "r"), node("Neg", ["k"], "n"),
                node("Add", ["n", "k"], "z"), node("Concat", ["r", "r"], "y", ["axis": .int(0)]),
            ],
            gives: ["r = Reshape(x, s)", "y = Concat(r, r)"])
    }

    @Test func zerosAroundAConvolutionBecomeItsPadding() throws {
        var fixture = GraphFixture(seed: 9)
        try fixture.input("x", [1, 2, 5, 5])
        try fixture.constant("w", [2, 2, 3, 3])
        fixture.initialisers["pads"] = try Tensor(indices: [0, 0, 1, 0, 0, 0, 2, 1])
        fixture.initialisers["channels"] = try Tensor(indices: [0, 1, 0, 0, 0, 0, 0, 0])
        fixture.initialisers["one"] = try Tensor(.float32, shape: [], doubles: [1])
        try expect(
            FoldPadding(), fixture,
            [
                node("Pad", ["x", "pads"], "a"), node("Conv", ["a", "w"], "b", ["pads": .ints([1, 1, 0, 0])]),
                node("Pad", ["b", "pads", "one"], "c"), node("Conv", ["c", "w"], "d"),
                node("Pad", ["d", "pads"], "e", ["mode": .string("edge")]), node("Conv", ["e", "w"], "y"),
            ],
            gives: ["b = Conv(x, w)", "c = Pad(b, pads, one)", "d = Conv(c, w)", "e = Pad(d, pads)", "y = Conv(e, w)"])
        try fixture.constant("v", [2, 3, 3, 3])
        try expect(
            FoldPadding(), fixture, [node("Pad", ["x", "channels"], "p"), node("Conv", ["p", "v"], "y")],
            gives: ["p = Pad(x, channels)", "y = Conv(p, v)"])
    }

    @Test func whatPassesThroughIsTakenOut() throws {
        var fixture = GraphFixture(seed: 2)
        try fixture.input("x", [2, 3])
        try expect(
            RemovePassThrough(), fixture,
            [
                node("Relu", ["x"], "a"), node("Identity", ["a"], "b"), node("Dropout", ["b"], "c"),
                node("Neg", ["c"], "d"), node("Identity", ["d"], "y"),
            ],
            gives: ["a = Relu(x)", "d = Neg(a)", "y = Identity(d)"])
    }

    @Test func whatASubgraphTakesStays() throws {
        var fixture = GraphFixture(seed: 2)
        try fixture.input("x", [2, 3])
        fixture.initialisers["flag"] = try Tensor(shape: [], flags: [true])
        let branch = Graph(inputs: [], outputs: [Graph.Port("t", nil)], nodes: [node("Neg", ["b"], "t")])
        try expect(
            RemovePassThrough(), fixture,
            [
                node("Relu", ["x"], "a"), node("Identity", ["a"], "b"),
                node("If", ["flag"], "y", ["then_branch": .graph(branch), "else_branch": .graph(branch)]),
            ],
            gives: ["a = Relu(x)", "b = Identity(a)", "y = If(flag)"])
    }

    private func normalised(_ seed: UInt64) throws -> GraphFixture {
        var fixture = GraphFixture(seed: seed)
        try fixture.input("x", [1, 2, 4, 4])
        try fixture.constant("w", [3, 2, 3, 3])
        for name in ["shift", "mean", "b"] { try fixture.constant(name, [3]) }
        for name in ["scale", "variance"] { try fixture.constant(name, [3], in: 0.5...2) }
        return fixture
    }

    private let normalisation = node("BatchNormalization", ["c", "scale", "shift", "mean", "variance"], "n")

    @Test(arguments: [["x", "w"], ["x", "w", "b"]]) func normalisationGoesIntoTheConvolution(inputs: [String]) throws {
        try expect(
            FoldBatchNormalization(), try normalised(3),
            [node("Conv", inputs, "c"), normalisation, node("Relu", ["n"], "y")],
            gives: ["n = Conv(x, n folded weights, n folded bias)", "y = Relu(n)"])
    }

    @Test func normalisationOfAValueThatIsUsedElsewhereStays() throws {
        try expect(
            FoldBatchNormalization(), try normalised(4),
            [node("Conv", ["x", "w"], "c"), normalisation, node("Add", ["n", "c"], "y")],
            gives: ["c = Conv(x, w)", "n = BatchNormalization(c, scale, shift, mean, variance)", "y = Add(n, c)"])
    }

    @Test func activationsInSeveralNodesBecomeOne() throws {
        var fixture = GraphFixture(seed: 5)
        try fixture.input("x", [2, 30], in: -5...5)
        fixture.initialisers = [
            "three": try Tensor(.float32, shape: [], doubles: [3]),
            "six": try Tensor(.float32, shape: [], doubles: [6]),
            "zero": try Tensor(.float32, shape: [], doubles: [0]),
        ]
        try expect(
            RecogniseActivations(), fixture, [node("Sigmoid", ["x"], "s"), node("Mul", ["x", "s"], "y")],
            gives: ["y = Swish(x)"])
        try expect(
            RecogniseActivations(), fixture,
            [
                node("HardSigmoid", ["x"], "s", ["alpha": .float(1 / 6), "beta": .float(0.5)]),
                node("Mul", ["s", "x"], "y"),
            ], gives: ["y = HardSwish(x)"])
        let long = [
            node("Add", ["x", "three"], "a"), node("Clip", ["a", "zero", "six"], "c"), node("Mul", ["x", "c"], "m"),
            node("Div", ["m", "six"], "y"),
        ]
        try expect(RecogniseActivations(), fixture, long, gives: ["y = HardSwish(x)"])
        try expect(
            RecogniseActivations(), fixture, long, outputs: ["y", "c"],
            gives: ["a = Add(x, three)", "c = Clip(a, zero, six)", "m = Mul(x, c)", "y = Div(m, six)"])
    }

    /// HardSwish takes no integers, and gives the shape of its input.
    @Test(arguments: [(ElementType.int32, [2, 6]), (.int64, [2, 6]), (.float32, [])])
    func activationsOfOtherTypesStay(type: ElementType, shape: [Int]) throws {
        var fixture = GraphFixture(seed: 5)
        let count = shape.reduce(1, *)
        fixture.inputs["x"] = try Tensor(type, shape: shape, doubles: (0..<count).map { Double($0 - 5) })
        for (name, value) in [("three", 3.0), ("six", 6)] {
            fixture.initialisers[name] = try Tensor(type, shape: [1], doubles: [value])
        }
        for (name, value) in [("low", 0.0), ("high", 6)] {
            fixture.initialisers[name] = try Tensor(type, shape: [], doubles: [value])
        }
        try expect(
            RecogniseActivations(), fixture,
            [
                node("Add", ["x", "three"], "a"), node("Clip", ["a", "low", "high"], "c"),
                node("Mul", ["x", "c"], "m"), node("Div", ["m", "six"], "y"),
            ], gives: ["a = Add(x, three)", "c = Clip(a, low, high)", "m = Mul(x, c)", "y = Div(m, six)"])
    }

    @Test func residualAndActivationFollowTheConvolution() throws {
        var fixture = try normalised(6)
        try fixture.constant("v", [2, 3, 3, 3])
        let nodes = [
            node("Conv", ["x", "w"], "c", ["pads": .ints([1, 1, 1, 1])]), node("Relu", ["c"], "r"),
            node("Conv", ["r", "v"], "d", ["pads": .ints([1, 1, 1, 1])]), node("Add", ["x", "d"], "s"),
            node("Relu", ["s"], "y"),
        ]
        try expect(
            FuseFollowers(), fixture, nodes,
            gives: ["c = Conv(x, w); r = Relu(c)", "d = Conv(r, v); s = Add(x, d); y = Relu(s)"])
        // What is taken twice, or given out, ends a chain.
        try expect(
            FuseFollowers(), fixture, nodes, outputs: ["y", "s"],
            gives: ["c = Conv(x, w); r = Relu(c)", "d = Conv(r, v); s = Add(x, d)", "y = Relu(s)"])
    }

    private func numbers(_ values: [String: Double], _ fixture: inout GraphFixture) throws {
        for (name, value) in values { fixture.initialisers[name] = try Tensor(.float32, shape: [], doubles: [value]) }
    }

    @Test(arguments: 1...20) func geluInSeveralNodesBecomesOne(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        try fixture.input("x", [2, fixture.pick(1...40)], in: -5...5)
        try numbers(
            [
                "root": 2.0.squareRoot(), "inverse": 0.5.squareRoot(), "one": 1, "half": 0.5, "two": 2, "three": 3,
                "cube": 0.044715, "pi": (2 / Double.pi).squareRoot(),
            ], &fixture)
        let isTanh = seed % 2 == 0
        var nodes: [Node]
        if isTanh {
            nodes = [
                node("Pow", ["x", "three"], "x3"), node("Mul", ["cube", "x3"], "c"), node("Add", ["x", "c"], "i"),
                node("Mul", fixture.pick([["i", "pi"], ["pi", "i"]]), "u"), node("Tanh", ["u"], "f"),
            ]
        } else {
            nodes = [
                fixture.pick([node("Div", ["x", "root"], "u"), node("Mul", ["inverse", "x"], "u")]),
                node("Erf", ["u"], "f"),
            ]
        }
        nodes.append(node("Add", fixture.pick([["f", "one"], ["one", "f"]]), "s"))
        nodes += fixture.pick([
            [node("Mul", ["x", "s"], "p"), node("Mul", ["p", "half"], "y")],
            [node("Mul", ["s", "x"], "p"), node("Div", ["p", "two"], "y")],
            [node("Mul", ["half", "s"], "p"), node("Mul", ["x", "p"], "y")],
            [node("Mul", ["x", "half"], "h"), node("Mul", ["h", "s"], "y")],
        ])
        try expect(RecogniseGelu(), fixture, nodes, gives: ["y = Gelu(x)"])
        // A value that is taken elsewhere stays, and so does the rest.
        try expect(
            RecogniseGelu(), fixture, nodes, outputs: ["y", "s"], gives: fixture.model(nodes).graph.lines)
    }

    @Test(arguments: 1...20) func layerNormalisationInSeveralNodesBecomesOne(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let shape = [2, 3, fixture.pick(2...9)]
        let count = fixture.pick(1...2)
        let axes = Array((3 - count)..<3)
        try fixture.input("x", shape)
        try fixture.constant("scale", Array(shape[axes[0]...]))
        try fixture.constant("shift", Array(shape[axes[0]...]))
        try numbers(["two": 2, "epsilon": 1e-5], &fixture)
        fixture.initialisers["axes"] = try Tensor(indices: axes)
        let takesInput = fixture.pick(0...1) == 0
        func mean(_ input: String, _ output: String) -> Node {
            takesInput
                ? node("ReduceMean", [input, "axes"], output, opset: 18)
                : node("ReduceMean", [input], output, ["axes": .ints(axes.map { $0 - 3 })])
        }
        // PyTorch writes the difference twice.
        let other = fixture.pick(["d", "e"])
        var nodes = [mean("x", "m"), node("Sub", ["x", "m"], "d")]
        if other == "e" { nodes.append(node("Sub", ["x", "m"], "e")) }
        nodes += [
            fixture.pick([node("Pow", ["d", "two"], "q"), node("Mul", ["d", "d"], "q")]), mean("q", "v"),
            node("Add", fixture.pick([["v", "epsilon"], ["epsilon", "v"]]), "a"), node("Sqrt", ["a"], "r"),
            node("Div", [other, "r"], "n"), node("Mul", fixture.pick([["n", "scale"], ["scale", "n"]]), "w"),
            node("Add", ["w", "shift"], "y"),
        ]
        try expect(
            RecogniseLayerNormalization(), fixture, nodes, gives: ["y = LayerNormalization(x, scale, shift)"])
        try expect(
            RecogniseLayerNormalization(), fixture, nodes, outputs: ["y", "d"],
            gives: fixture.model(nodes).graph.lines)
        // The mean over other axes than the variance is something else.
        nodes[0] = node("ReduceMean", ["x"], "m", ["axes": .ints([0])])
        try expect(
            RecogniseLayerNormalization(), fixture, nodes, gives: fixture.model(nodes).graph.lines)
    }
}
