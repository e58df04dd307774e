import Inference
import Testing

/// What is cut, chosen, turned or put together, and products of such values, against the plain operators.
@Suite struct MovedValueTests {
    @Test(arguments: 1...30) func rowsChosenByIndices(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let shape = (0..<fixture.pick(1...3)).map { _ in fixture.pick(1...6) }
        let axis = fixture.pick(0...(shape.count - 1))
        let isTable = fixture.pick(0...1) == 0
        if isTable { try fixture.constant("x", shape) } else { try fixture.input("x", shape) }
        let places = (0..<fixture.pick(1...5)).map { _ in fixture.pick(-shape[axis]...(shape[axis] - 1)) }
        let list = try Tensor(indices: places, shape: fixture.pick([[places.count], [1, places.count]]))
        // Of constants alone nothing would be left to do.
        if isTable || fixture.pick(0...1) == 0 { fixture.inputs["i"] = list } else { fixture.initialisers["i"] = list }
        try fixture.expectAgreement(
            [node("Gather", ["x", "i"], "g", ["axis": .int(axis)]), node("Abs", ["g"], "y")],
            "seed \(seed): \(places) of \(shape) along \(axis)")
    }

    @Test func anIndexOutsideIsRefused() throws {
        var fixture = GraphFixture(seed: 1)
        try fixture.constant("x", [3, 2])
        fixture.inputs["i"] = try Tensor(indices: [0, 3])
        let compiled = try CompiledModel(fixture.model([node("Gather", ["x", "i"], "y")]))
        let error = #expect(throws: ModelError.self) { try compiled.execute(fixture.inputs) }
        #expect(error?.code == .wrongValue)
    }

    @Test(arguments: 1...40) func partsOfValues(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let shape = (0..<fixture.pick(1...4)).map { _ in fixture.pick(2...7) }
        let axis = fixture.pick(0...(shape.count - 1))
        try fixture.input("x", shape)
        var nodes: [Node]
        switch fixture.pick(0...2) {
        case 0:
            fixture.initialisers["i"] = try Tensor(
                indices: [fixture.pick(-shape[axis]...(shape[axis] - 1))], shape: fixture.pick([[], [1]]))
            nodes = [node("Gather", ["x", "i"], "p", ["axis": .int(axis)])]
        case 1:
            let start = fixture.pick(-shape[axis]...(shape[axis] - 1))
            fixture.initialisers["starts"] = try Tensor(indices: [start])
            fixture.initialisers["ends"] = try Tensor(indices: [fixture.pick([Int.max, shape[axis]])])
            fixture.initialisers["axes"] = try Tensor(indices: [axis - fixture.pick([0, shape.count])])
            fixture.initialisers["steps"] = try Tensor(indices: [1])
            nodes = [node("Slice", ["x", "starts", "ends", "axes", "steps"], "p")]
        default:
            let first = fixture.pick(1...(shape[axis] - 1))
            fixture.initialisers["split"] = try Tensor(indices: [first, shape[axis] - first])
            nodes = [
                Node(
                    "Split", opset: 17, inputs: ["x", "split"], outputs: fixture.pick([["p", "q"], ["q", "p"]]),
                    attributes: ["axis": .int(axis)])
            ]
        }
        // As it lies, in another order, and as an output.
        switch fixture.pick(0...2) {
        case 0: nodes.append(node("Relu", ["p"], "y"))
        case 1: nodes += [node("Transpose", ["p"], "t"), node("Add", ["t", "t"], "y")]
        default: nodes.append(node("Identity", ["p"], "y"))
        }
        try fixture.expectAgreement(nodes, "seed \(seed): \(nodes.map(\.operatorName)) of \(shape) along \(axis)")
    }

    @Test(arguments: ["CRD", "DCR"], [1, 16, 20]) func blocksBecomePixels(mode: String, channels: Int) throws {
        var fixture = GraphFixture(seed: 2)
        try fixture.input("x", [2, 16, 5, 4])
        try fixture.constant("w", [4 * channels, 16, 3, 3])
        try fixture.constant("v", [3, channels, 1, 1])
        let nodes = [
            node("Conv", ["x", "w"], "c"),
            node("DepthToSpace", ["c"], "y", ["blocksize": .int(2), "mode": .string(mode)]),
        ]
        try fixture.expectAgreement(nodes)
        try fixture.expectAgreement(nodes + [node("Conv", ["y", "v"], "z")])
    }

    @Test(arguments: 1...60) func transposedConvolutions(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let axes = fixture.pick(1...3)
        let group = fixture.pick([1, 1, 2])
        let (channels, filters) = (fixture.pick([1, 3, 8, 16]) * group, fixture.pick([1, 4, 16]))
        let kernel = (0..<axes).map { _ in fixture.pick(1...3) }
        let isSplit = fixture.pick(0...2) == 0
        let strides = isSplit ? kernel : (0..<axes).map { _ in fixture.pick(1...2) }
        var attributes: [String: Attribute] = ["strides": .ints(strides), "group": .int(group)]
        if !isSplit {
            attributes["pads"] = .ints((0..<axes).map { fixture.pick(0...(kernel[$0] - 1)) } + kernel.map { _ in 0 })
            attributes["output_padding"] = .ints(strides.map { fixture.pick(0...($0 - 1)) })
        }
        try fixture.input("x", [fixture.pick(1...2), channels] + (0..<axes).map { _ in fixture.pick(3...6) })
        try fixture.constant("w", [channels, filters] + kernel)
        try fixture.constant("b", [filters * group])
        try fixture.expectAgreement(
            [
                node("ConvTranspose", fixture.pick([["x", "w"], ["x", "w", "b"]]), "c", attributes),
                node("Relu", ["c"], "y"),
            ], "seed \(seed): \(attributes)")
    }

    /// Heads in the middle of values, keys turned, a scale before or behind, a mask for each batch.
    @Test(arguments: 1...40) func attention(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let (batch, heads, size, tokens) = (
            fixture.pick(1...3), fixture.pick([1, 2, 3]), fixture.pick([4, 16]), fixture.pick([5, 17, 32])
        )
        let width = heads * size
        try fixture.input("x", [batch, tokens, width])
        fixture.inputs["mask"] = try fixture.tensor([batch, 1, 1, tokens], in: -3...0)
        fixture.initialisers["scale"] = try Tensor(.float32, shape: [], doubles: [0.25])
        fixture.initialisers["parts"] = try Tensor(indices: [0, tokens, heads, size])
        fixture.initialisers["packed"] = try Tensor(indices: [0, tokens, 3, heads, size])
        fixture.initialisers["whole"] = try Tensor(indices: [0, 0, width])
        for place in 0..<3 { fixture.initialisers["\(place)"] = try Tensor(indices: [place], shape: []) }
        var nodes: [Node] = []
        let isPacked = fixture.pick(0...1) == 0
        if isPacked {
            try fixture.constant("w", [width, 3 * width])
            nodes += [
                node("MatMul", ["x", "w"], "p"), node("Reshape", ["p", "packed"], "r"),
                node("Transpose", ["r"], "t", ["perm": .ints([2, 0, 3, 1, 4])]),
                node("Gather", ["t", "0"], "q"), node("Gather", ["t", "1"], "k"), node("Gather", ["t", "2"], "v"),
                node("Transpose", ["k"], "kt", ["perm": .ints([0, 1, 3, 2])]),
            ]
        } else {
            for (name, result, order) in [
                ("q", "q", [0, 2, 1, 3]), ("k", "kt", [0, 2, 3, 1]), ("v", "v", [0, 2, 1, 3]),
            ] {
                try fixture.constant("w\(name)", [width, width])
                try fixture.constant("b\(name)", [width])
                nodes += [
                    node("MatMul", ["x", "w\(name)"], "m\(name)"), node("Add", ["b\(name)", "m\(name)"], "a\(name)"),
                    node("Reshape", ["a\(name)", "parts"], "r\(name)"),
                    node("Transpose", ["r\(name)"], result, ["perm": .ints(order)]),
                ]
            }
        }
        if fixture.pick(0...1) == 0 {
            nodes += [node("Mul", ["q", "scale"], "qs"), node("MatMul", ["qs", "kt"], "s")]
        } else {
            nodes += [node("MatMul", ["q", "kt"], "sr"), node("Div", ["sr", "scale"], "s")]
        }
        if fixture.pick(0...2) > 0 { nodes += [node("Add", ["s", "mask"], "sm")] }
        nodes += [
            node("Softmax", [nodes[nodes.count - 1].outputs[0]], "a", ["axis": .int(-1)]),
            node("MatMul", ["a", "v"], "o"), node("Transpose", ["o"], "ot", ["perm": .ints([0, 2, 1, 3])]),
            node("Reshape", ["ot", "whole"], "y"),
        ]
        if !nodes.contains(where: { $0.inputs.contains("mask") }) { fixture.inputs["mask"] = nil }
        try fixture.expectAgreement(
            nodes, tolerance: 1e-4, "seed \(seed): \(batch) of \(heads) heads, packed \(isPacked)")
    }

    @Test(arguments: 1...40) func arithmeticWithOneNumber(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let shape = (0..<fixture.pick(1...4)).map { _ in fixture.pick(1...9) }
        try fixture.input("x", shape)
        fixture.initialisers["k"] = try Tensor(
            .float32, shape: fixture.pick([[], [1], Array(repeating: 1, count: shape.count + 1)]),
            doubles: [fixture.pick([2.5, -0.125, 3])])
        let name = fixture.pick(["Add", "Sub", "Mul", "Div"])
        let inputs = name == "Div" ? ["x", "k"] : fixture.pick([["x", "k"], ["k", "x"]])
        try fixture.expectAgreement(
            [node(name, inputs, "s"), node("Relu", ["s"], "y")], "seed \(seed): \(name) of \(shape), \(inputs)")
    }
}
