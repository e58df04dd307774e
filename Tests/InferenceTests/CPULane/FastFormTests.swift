import Inference
import OneDNNKit
import Testing

/// Operators with a fast form, on random shapes, against the plain operators. A node that was evaluated plainly after all
/// is a failure.
@Suite struct FastFormTests {
    private func agree(seed: UInt64, _ make: (inout GraphFixture) throws -> [Node]) throws {
        var fixture = GraphFixture(seed: seed)
        let nodes = try make(&fixture)
        try fixture.expectAgreement(nodes, "seed \(seed): \(nodes.map(\.operatorName))")
    }

    /// Weights that are computed are laid out at each run.
    @Test(arguments: 1...60) func convolutions(seed: UInt64) throws {
        try agree(seed: seed) { try $0.convolution(mayComputeWeights: true) }
    }

    @Test(arguments: 1...30) func chainsBehindConvolutions(seed: UInt64) throws {
        try agree(seed: seed) { try $0.chainBehindConvolution() }
    }

    /// Values of one image are made where they stand in a concatenation, within another one's result too, but for one that
    /// stands in two.
    @Test(arguments: 1...20) func concatenationsInPlace(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let images = fixture.pick(1...2)
        let channels = fixture.pick(1...40)
        try fixture.input("x", [images, channels, 8, 8])
        func joined(_ sources: [String], _ name: String) -> Node { node("Concat", sources, name, ["axis": .int(1)]) }
        let nodes = [
            node("Relu", ["x"], "a"), node("Tanh", ["x"], "b"), joined(["a", "b"], "ab"),
            node("Sigmoid", ["ab"], "c"), joined(["ab", "c"], "abc"), node("Tanh", ["abc"], "d"),
            joined(["a", "d"], "y"),
        ]
        try fixture.expectAgreement(nodes, "seed \(seed): \(channels) channels of \(images) images")
        let lines = try CompiledModel(fixture.model(nodes)).stepLines
        #expect(lines.count { $0.contains("concatenation") } == (images == 1 ? 1 : 3), "\(lines)")
    }

    /// In whatever layouts the convolutions choose.
    @Test(arguments: 1...20) func concatenationsOfConvolutions(seed: UInt64) throws {
        try agree(seed: seed) { fixture in
            let side = fixture.pick([8, 16])
            let channels = (0..<4).map { _ in fixture.pick([16, 20, 32, 48]) }
            try fixture.input("x", [fixture.pick(1...2), 32, side, side])
            for (name, shape) in [
                ("a", [channels[0], 32]), ("b", [channels[1], 32]), ("c", [channels[2], channels[0] + channels[1]]),
                ("d", [channels[3], channels.prefix(3).reduce(0, +)]),
            ] {
                try fixture.constant("w" + name, shape + [3, 3])
            }
            func convolution(_ source: String, _ name: String) -> Node {
                node("Conv", [source, "w" + name], name, ["pads": .ints([1, 1, 1, 1])])
            }
            func joined(_ sources: [String], _ name: String) -> Node {
                node("Concat", sources, name, ["axis": .int(1)])
            }
            return [
                convolution("x", "a"), convolution("x", "b"), joined(["a", "b"], "ab"), convolution("ab", "c"),
                joined(["ab", "c"], "abc"), convolution("abc", "d"), joined(["a", "d"], "y"),
            ]
        }
    }

    /// Transposed, with windows side by side: a product.
    @Test(arguments: 1...30) func separateWindows(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let kernel = [fixture.pick(1...3), fixture.pick(1...3)]
        let (channels, filters) = (16 * fixture.pick(1...3), 16 * fixture.pick(1...3))
        try fixture.input("x", [fixture.pick(1...3), channels, fixture.pick(3...9), fixture.pick(3...9)])
        try fixture.constant("w", [channels, filters] + kernel)
        try fixture.constant("b", [filters])
        let nodes = [
            node("ConvTranspose", fixture.pick([["x", "w"], ["x", "w", "b"]]), "a", ["strides": .ints(kernel)]),
            node("Relu", ["a"], "y"),
        ]
        try fixture.expectAgreement(nodes, "seed \(seed): \(channels) to \(filters), \(kernel)")
        let lines = try CompiledModel(fixture.model(nodes)).stepLines
        #expect(!lines.contains { $0.contains("transposed convolution") }, "\(lines)")
    }

    /// What lies in one order for one of them lies in another for the other.
    @Test func bothKindsOfConvolutionsMayShareWeights() throws {
        for order in [["Conv", "ConvTranspose"], ["ConvTranspose", "Conv"]] {
            var fixture = GraphFixture(seed: 9)
            try fixture.input("x", [1, 32, 12, 12])
            try fixture.constant("v", [32, 32, 3, 3])
            try fixture.constant("w", [32, 32, 1, 1])
            try fixture.expectAgreement(
                [node("Conv", ["x", "v"], "a"), node(order[0], ["a", "w"], "b"), node(order[1], ["b", "w"], "y")],
                "\(order)")
        }
    }

    @Test(arguments: 1...30) func matrixProducts(seed: UInt64) throws {
        try agree(seed: seed) { try $0.matrixProduct() }
    }

    @Test(arguments: 1...20) func generalProducts(seed: UInt64) throws {
        try agree(seed: seed) { try $0.generalProduct() }
    }

    @Test(arguments: 1...40) func poolings(seed: UInt64) throws {
        try agree(seed: seed) { try $0.pooling() }
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
        try agree(seed: seed) {
            try $0.arithmeticOfTwo(["Add", "Sub", "Mul", "Div", "Max", "Min"], ordered: ["Sub", "Div"])
        }
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

    @Test(arguments: 1...30) func localResponses(seed: UInt64) throws {
        try agree(seed: seed) { try $0.localResponse() }
    }

    /// oneDNN takes one channel less.
    @Test func localResponsesOverAnEvenNumberOfChannelsAreEvaluatedPlainly() throws {
        var fixture = GraphFixture(seed: 1)
        try fixture.input("x", [1, 9, 4, 5], in: -8...8)
        let model = fixture.model([node("LRN", ["x"], "y", ["size": .int(4), "alpha": .float(1)])])
        let compiled = try CompiledModel(model)
        #expect(compiled.plainNodes.count == 1)
        let found = try #require(try compiled.execute(fixture.inputs)["y"])
        expectClose(found, try ReferenceRunner().run(model, inputs: fixture.inputs)[0], tolerance: 1e-6)
    }

    @Test(arguments: 1...60) func choices(seed: UInt64) throws {
        try agree(seed: seed) { try $0.choice(withNumber: false) }
    }

    @Test(arguments: 1...20) func choicesOfNumbers(seed: UInt64) throws {
        try agree(seed: seed) { try $0.choice(withNumber: true) }
    }

    @Test(arguments: 1...10) func numbersInThePlaceOfNaN(seed: UInt64) throws {
        try agree(seed: seed) { try $0.replacedNaN() }
    }

    /// Then the test has a result that somebody wants.
    @Test func testsForNaNThatAreResultsAreEvaluatedPlainly() throws {
        var fixture = GraphFixture(seed: 1)
        let nodes = try fixture.replacedNaN()
        let model = fixture.model(nodes, outputs: ["y", "n"])
        let compiled = try CompiledModel(model)
        #expect(compiled.plainNodes.map(\.operatorName) == ["IsNaN"])
        let (found, wanted) = (
            try compiled.execute(fixture.inputs), try ReferenceRunner().run(model, inputs: fixture.inputs)
        )
        expectClose(try #require(found["y"]), wanted[0], tolerance: 0)
        expectClose(try #require(found["n"]), wanted[1], tolerance: 0)
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

    /// Each image and channel is one number.
    @Test(arguments: [[2, 2, 1, 1], [3, 20, 1], [2, 16, 1, 1, 1], [1, 3, 1, 1], [4, 5]])
    func arithmeticByChannelOfSinglePixels(shape: [Int]) throws {
        var fixture = GraphFixture(seed: 6)
        try fixture.input("x", shape)
        for name in ["shift", "mean"] { try fixture.constant(name, [shape[1]]) }
        for name in ["scale", "variance"] { try fixture.constant(name, [shape[1]], in: 0.5...2) }
        try fixture.expectAgreement(
            [node("BatchNormalization", ["x", "scale", "shift", "mean", "variance"], "n"), node("Relu", ["n"], "y")])
        var channels = shape.map { _ in 1 }
        channels[1] = shape[1]
        for name in ["q", "p"] { try fixture.constant(name, channels) }
        try fixture.expectAgreement([node("Mul", ["x", "q"], "m"), node("Add", ["m", "p"], "y")])
        try fixture.expectAgreement([node("Add", ["x", "q"], "m"), node("Mul", ["m", "p"], "y")])
    }

    @Test func valuesThatAreMovedOrRenamed() throws {
        try agree(seed: 5) { try $0.movedOrRenamed() }
    }
}
