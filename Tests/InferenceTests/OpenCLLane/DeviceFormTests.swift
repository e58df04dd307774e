import Inference
import Testing

/// Operators with a kernel, on random shapes, in both forms of the kernels, against the plain operators. A node that was
/// evaluated plainly after all is a failure. Once with float32, and once with half as many bits stored.
@Suite struct DeviceFormTests {
    /// Runs `make` with the seeds and compares what its nodes give.
    private func agree(
        _ form: OpenCLFixture.Form, seeds: ClosedRange<UInt64>, tolerance: Double = 1e-5, tuning: KernelTuning? = nil,
        _ make: (inout GraphFixture) throws -> [Node]
    ) throws {
        let devices = try ElementStorage.allCases.map {
            try OpenCLFixture.device(form, tuning: tuning, storage: $0)
        }
        for (seed, device) in seeds.flatMap({ seed in devices.map { (seed, $0) } }) {
            var fixture = GraphFixture(seed: seed)
            let nodes = try make(&fixture)
            let note = "\(device.storage), seed \(seed): \(nodes.map(\.operatorName))"
            let model = fixture.model(nodes)
            let compiled = try OpenCLModel(model, on: device)
            #expect(compiled.plainNodes.map(\.place) == [], "\(note)")
            let name = model.graph.outputs[0].name
            let found = try #require(try compiled.execute(fixture.inputs)[name])
            let wanted = try ReferenceRunner().run(model, inputs: fixture.inputs)[0]
            expectClose(found, wanted, tolerance: device.storage == .float32 ? tolerance : 400 * tolerance + 1e-3, note)
        }
    }

    // MARK: Products

    @Test(arguments: OpenCLFixture.Form.allCases) func convolutions(form: OpenCLFixture.Form) throws {
        try agree(form, seeds: 1...60) { try $0.convolution(mayComputeWeights: false) }
    }

    @Test func vectorsOfOtherLengths() throws {
        for width in [4, 8] {
            var tuning = KernelTuning.shortVectors
            tuning.width = width
            try agree(.vectors, seeds: 1...6, tuning: tuning) { fixture in
                let channels = fixture.pick([3, 16])
                try fixture.input("x", [1, channels, fixture.pick(5...9), fixture.pick(5...19)])
                try fixture.constant("w", [20, channels, 3, 3])
                try fixture.constant("d", [20, 1, 3, 3])
                return [
                    node("Conv", ["x", "w"], "c", ["pads": .ints([1, 1, 1, 1])]), node("Relu", ["c"], "r"),
                    node("Conv", ["r", "d"], "e", ["pads": .ints([1, 1, 1, 1]), "group": .int(20)]),
                    node("MaxPool", ["e"], "m", ["kernel_shape": .ints([2, 2])]),
                    node("Softmax", ["m"], "y", ["axis": .int(-1)]),
                ]
            }
        }
    }

    /// Deep enough for several blocks of depth, and wide enough for several tiles.
    @Test(arguments: OpenCLFixture.Form.allCases) func largeConvolutions(form: OpenCLFixture.Form) throws {
        try agree(form, seeds: 1...4) { fixture in
            let channels = [60, 130, 40, 33][fixture.pick(0...3)]
            try fixture.input("x", [1, channels, fixture.pick(13...20), fixture.pick(13...20)])
            try fixture.constant("w", [70, channels, 3, 3], in: -0.1...0.1)
            try fixture.constant("b", [70])
            return [node("Conv", ["x", "w", "b"], "c", ["pads": .ints([1, 1, 1, 1])]), node("Relu", ["c"], "y")]
        }
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func convolutionsInFewerProducts(form: OpenCLFixture.Form) throws {
        var tuning = try OpenCLFixture.device(form).tuning
        tuning.winogradChannels = 1
        try agree(form, seeds: 1...20, tuning: tuning) { fixture in
            let (channels, filters) = (fixture.pick([1, 7, 20]), fixture.pick([1, 9, 33]))
            let (height, width) = (fixture.pick(3...21), fixture.pick(3...37))
            try fixture.input("x", [fixture.pick(1...2), channels, height, width])
            try fixture.constant("w", [filters, channels, 3, 3])
            try fixture.constant("b", [filters])
            let pads = (0..<4).map { _ in fixture.pick(0...2) }
            return [
                node("Conv", ["x", "w", "b"], "c", ["pads": .ints(pads)]), node("Sigmoid", ["c"], "s"),
                node("Mul", ["c", "s"], "y"),
            ]
        }
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func transposedConvolutions(form: OpenCLFixture.Form) throws {
        try agree(form, seeds: 1...30) { fixture in
            let axes = fixture.pick(1...2)
            let group = fixture.pick(1...2)
            let (channels, filters) = (fixture.pick([2, 6]) * group, fixture.pick([1, 5]))
            let kernel = (0..<axes).map { _ in fixture.pick(1...4) }
            try fixture.input("x", [fixture.pick(1...2), channels] + (0..<axes).map { _ in fixture.pick(3...6) })
            try fixture.constant("w", [channels, filters] + kernel)
            try fixture.constant("b", [filters * group])
            let strides = (0..<axes).map { _ in fixture.pick(1...3) }
            return [
                node(
                    "ConvTranspose", ["x", "w", "b"], "c",
                    [
                        "strides": .ints(strides), "group": .int(group),
                        "pads": .ints((0..<(2 * axes)).map { _ in fixture.pick(0...1) }),
                        "output_padding": .ints(strides.map { $0 - 1 }),
                    ]), node("Relu", ["c"], "y"),
            ]
        }
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func depthwiseConvolutions(form: OpenCLFixture.Form) throws {
        try agree(form, seeds: 1...20) { fixture in
            let (channels, multiplier) = (fixture.pick([2, 5, 16]), fixture.pick(1...2))
            try fixture.input("x", [fixture.pick(1...2), channels, fixture.pick(5...9), fixture.pick(5...20)])
            let size = fixture.pick([1, 3, 5])
            try fixture.constant("w", [channels * multiplier, 1, size, size])
            try fixture.constant("b", [channels * multiplier])
            let stride = fixture.pick(1...2)
            return [
                node(
                    "Conv", ["x", "w", "b"], "c",
                    [
                        "group": .int(channels), "strides": .ints([stride, stride]),
                        "pads": .ints(Array(repeating: size / 2, count: 4)),
                    ]), node("HardSwish", ["c"], "y"),
            ]
        }
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func chainsBehindConvolutions(form: OpenCLFixture.Form) throws {
        try agree(form, seeds: 1...30) { try $0.chainBehindConvolution(more: ["Sub"]) }
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func matrixProducts(form: OpenCLFixture.Form) throws {
        try agree(form, seeds: 1...40) { try $0.matrixProduct() }
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func generalProducts(form: OpenCLFixture.Form) throws {
        try agree(form, seeds: 1...20) { try $0.generalProduct() }
    }

    /// As exporters write it: heads are cut out of one product, and the scores have a scale and a mask.
    @Test(arguments: OpenCLFixture.Form.allCases) func attention(form: OpenCLFixture.Form) throws {
        // Scores of up to a hundred lose digits before their exponentials are taken.
        try agree(form, seeds: 1...20, tolerance: 1e-4) { fixture in
            let (batch, heads) = (fixture.pick(1...2), fixture.pick(1...3))
            let (rows, keys) = (fixture.pick([1, 5, 70]), fixture.pick([1, 9, 64, 150]))
            let (depth, columns) = (fixture.pick([4, 16, 64]), fixture.pick([3, 32, 64, 250]))
            try fixture.input("q", [batch, heads, rows, depth], in: -3...3)
            try fixture.input("k", [batch, keys, heads, depth], in: -3...3)
            try fixture.input("v", [batch, heads, keys, columns])
            try fixture.constant("scale", [], in: 0.1...0.5)
            try fixture.input(
                "mask", fixture.pick([[rows, keys], [batch, 1, 1, keys], [batch, heads, rows, keys]]), in: -9...0)
            var nodes = [
                node("Transpose", ["k"], "t", ["perm": .ints([0, 2, 3, 1])]), node("MatMul", ["q", "t"], "s"),
                node(fixture.pick(["Mul", "Div"]), ["s", "scale"], "f"),
            ]
            let isMasked = fixture.pick(0...1) == 0
            if isMasked { nodes.append(node("Add", ["f", "mask"], "m")) }
            nodes += [
                node("Softmax", [isMasked ? "m" : "f"], "p", ["axis": .int(-1)]), node("MatMul", ["p", "v"], "o"),
                node("Transpose", ["o"], "y", ["perm": .ints([0, 2, 1, 3])]),
            ]
            return nodes
        }
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func attentionStoresNoScores(form: OpenCLFixture.Form) throws {
        var fixture = GraphFixture(seed: 1)
        try fixture.input("q", [4, 300, 16])
        try fixture.input("k", [4, 16, 300])
        try fixture.input("v", [4, 300, 16])
        let model = fixture.model([
            node("MatMul", ["q", "k"], "s"), node("Softmax", ["s"], "p"), node("MatMul", ["p", "v"], "y"),
        ])
        let compiled = try OpenCLModel(model, on: OpenCLFixture.device(form))
        #expect(compiled.stepLines.filter { $0.hasSuffix(": attention") }.count == 1)
        #expect(compiled.arenaByteCount < 4 * 300 * 300 * 4)
        let found = try #require(try compiled.execute(fixture.inputs)["y"])
        expectClose(found, try ReferenceRunner().run(model, inputs: fixture.inputs)[0], tolerance: 1e-5)
    }

    // MARK: Windows, rows and elements

    @Test(arguments: OpenCLFixture.Form.allCases) func poolings(form: OpenCLFixture.Form) throws {
        try agree(form, seeds: 1...40) { try $0.pooling() }
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func arithmeticOfTwo(form: OpenCLFixture.Form) throws {
        try agree(form, seeds: 1...40) {
            try $0.arithmeticOfTwo(["Add", "Sub", "Mul", "Div", "Max", "Min", "Pow"])
        }
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func functions(form: OpenCLFixture.Form) throws {
        let names = [
            "Relu", "LeakyRelu", "Elu", "Selu", "Sigmoid", "Tanh", "HardSwish", "HardSigmoid", "Exp", "Abs", "Mish",
            "Erf",
            "Neg", "Floor", "Ceil", "Round", "Sin", "Cos", "Sign", "Softplus", "Softsign", "Gelu", "Reciprocal", "Sqrt",
            "Log",
        ]
        try agree(form, seeds: 1...UInt64(names.count), tolerance: 1e-6) { fixture in
            let name = names[Int(fixture.seed) - 1]
            try fixture.input("x", [3, 50], in: ["Reciprocal", "Sqrt", "Log"].contains(name) ? 0.5...4 : -4...4)
            return [node(name, ["x"], "y", opset: name == "Mish" ? 18 : name == "Gelu" ? 20 : 17)]
        }
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func rows(form: OpenCLFixture.Form) throws {
        let reductions = [
            "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
            "ReduceSumSquare",
        ]
        try agree(form, seeds: 1...40) { fixture in
            let shape = [fixture.pick(1...3), fixture.pick(1...40), fixture.pick(1...20)]
            try fixture.input("x", shape, in: -2...2)
            if fixture.pick(0...1) == 0 {
                return [
                    node(
                        fixture.pick(["Softmax", "LogSoftmax"]), ["x"], "y", ["axis": .int(fixture.pick(-1...2))],
                        opset: fixture.pick([11, 13]))
                ]
            }
            let axes = fixture.pick([[0], [1], [2], [-1], [0, 1], [1, 2], [0, 2], [0, 1, 2]])
            return [
                node(
                    fixture.pick(reductions), ["x"], "y", ["axes": .ints(axes), "keepdims": .int(fixture.pick(0...1))],
                    opset: 11)
            ]
        }
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func normalisations(form: OpenCLFixture.Form) throws {
        try agree(form, seeds: 1...20) { fixture in
            let shape = [2, 6, fixture.pick(1...7), fixture.pick(1...9)]
            try fixture.input("x", shape)
            switch fixture.pick(0...3) {
            case 0:
                let axis = fixture.pick(1...3)
                for name in ["s", "b"] { try fixture.constant(name, Array(shape[axis...])) }
                return [
                    node(
                        "LayerNormalization", fixture.pick([["x", "s"], ["x", "s", "b"]]), "y", ["axis": .int(axis)])
                ]
            case 1:
                for name in ["s", "b"] { try fixture.constant(name, [6]) }
                return [node("InstanceNormalization", ["x", "s", "b"], "y")]
            case 2:
                let isByGroup = fixture.pick(0...1) == 0
                for name in ["s", "b"] { try fixture.constant(name, [isByGroup ? 3 : 6]) }
                return [
                    node(
                        "GroupNormalization", ["x", "s", "b"], "y", ["num_groups": .int(3)], opset: isByGroup ? 18 : 21)
                ]
            default:
                for name in ["shift", "mean"] { try fixture.constant(name, [6]) }
                for name in ["scale", "variance"] { try fixture.constant(name, [6], in: 0.5...2) }
                return [
                    node("BatchNormalization", ["x", "scale", "shift", "mean", "variance"], "n"),
                    node("Relu", ["n"], "y"),
                ]
            }
        }
    }

    /// Even numbers of channels as well, which the CPU lane leaves to the plain operators.
    @Test(arguments: OpenCLFixture.Form.allCases) func localResponses(form: OpenCLFixture.Form) throws {
        try agree(form, seeds: 1...30) { try $0.localResponse() }
        try agree(form, seeds: 1...4) { fixture in
            try fixture.input("x", [2, 9, 4, 5], in: -8...8)
            return [node("LRN", ["x"], "y", ["size": .int(2 * fixture.pick(1...3)), "alpha": .float(1)])]
        }
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func choicesOfNumbers(form: OpenCLFixture.Form) throws {
        try agree(form, seeds: 1...40, tolerance: 0) { try $0.choice(withNumber: true) }
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func numbersInThePlaceOfNaN(form: OpenCLFixture.Form) throws {
        try agree(form, seeds: 1...10, tolerance: 0) { try $0.replacedNaN() }
    }

    // MARK: Arrangement

    @Test(arguments: OpenCLFixture.Form.allCases) func valuesThatAreMovedOrRenamed(form: OpenCLFixture.Form) throws {
        try agree(form, seeds: 1...5) { try $0.movedOrRenamed() }
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func partsAndRepetitions(form: OpenCLFixture.Form) throws {
        try agree(form, seeds: 1...40, tolerance: 0) { fixture in
            try fixture.input("x", [2, 8, 6, 4])
            func list(_ name: String, _ list: [Int]) throws { fixture.initialisers[name] = try Tensor(indices: list) }
            switch fixture.pick(0...8) {
            case 0:
                try list("starts", [fixture.pick(-6...3), fixture.pick(-1...7)])
                try list("ends", [6, fixture.pick([-9, 100])])
                try list("axes", [2, 1])
                try list("steps", [fixture.pick(1...2), -1])
                try list("ends", [6, -100])
                return [node("Slice", ["x", "starts", "ends", "axes", "steps"], "y")]
            case 1:
                try list("shape", [3, 2, 8, 6, 4])
                return [node("Expand", ["x", "shape"], "y")]
            case 2:
                try list("times", [1, 2, fixture.pick(1...3), 2])
                return [node("Tile", ["x", "times"], "y")]
            case 3:
                try list("pads", (0..<8).map { _ in fixture.pick(-1...2) })
                try fixture.constant("value", [])
                return [node("Pad", ["x", "pads", "value"], "y")]
            case 4:
                return [
                    node(
                        "DepthToSpace", ["x"], "y",
                        ["blocksize": .int(2), "mode": .string(fixture.pick(["DCR", "CRD"]))])
                ]
            case 5: return [node("SpaceToDepth", ["x"], "y", ["blocksize": .int(2)])]
            case 6:
                try list("i", fixture.pick([[3], [0, -1, 2], [5, 1, 1, 0]]))
                return [node("Gather", ["x", "i"], "y", ["axis": .int(fixture.pick(1...2))])]
            case 7:
                fixture.inputs["i"] = try Tensor(indices: [1, -2, 0, 3, 3, 2], shape: [2, 3])
                return [node("Gather", ["x", "i"], "y", ["axis": .int(fixture.pick(1...3))])]
            default:
                return [
                    Node(
                        "Split", name: "split", opset: 17, inputs: ["x"], outputs: ["a", "b"],
                        attributes: ["axis": .int(1)]), node("Sub", ["b", "a"], "y"),
                ]
            }
        }
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func resizings(form: OpenCLFixture.Form) throws {
        try agree(form, seeds: 1...20) { fixture in
            try fixture.input("x", [1, 3, fixture.pick(3...8), fixture.pick(3...8)])
            try fixture.constant("scales", [4])
            fixture.initialisers["scales"] = try Tensor(
                .float32, shape: [4], doubles: [1, 1, fixture.pick([0.5, 1.5, 2]), fixture.pick([0.75, 1, 3])])
            return [
                node(
                    "Resize", ["x", "", "scales"], "y",
                    [
                        "mode": .string(fixture.pick(["nearest", "linear", "cubic"])),
                        "coordinate_transformation_mode": .string(
                            fixture.pick(["half_pixel", "align_corners", "asymmetric"])),
                    ])
            ]
        }
    }
}
