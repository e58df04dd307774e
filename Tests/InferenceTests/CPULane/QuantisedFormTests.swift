import Inference
import Testing

/// Operators between DequantizeLinear and QuantizeLinear, on random 8-bit integers, against the plain operators in float32:
/// no element may be further than one level away, and at most one in fifty may be away at all.
@Suite struct QuantisedFormTests {
    @Test(arguments: 1...60) func convolutions(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let group = fixture.pick([1, 1, 2, 4])
        let (channels, filters) = (fixture.pick([1, 3, 8, 16]), fixture.pick([1, 4, 16]) * group)
        let kernel = fixture.pick(1...3)
        try fixture.quantised("x", [fixture.pick(1...2), channels * group, fixture.pick(5...11), fixture.pick(5...11)])
        try fixture.weights("w", [filters, channels, kernel, kernel], axis: 0)
        let isBiased = fixture.pick(0...1) == 0
        if isBiased { try fixture.bias("b", filters, of: "x", "w") }
        var nodes = [
            node(
                "Conv", isBiased ? ["x", "w", "b"] : ["x", "w"], "v0",
                [
                    "strides": .ints([fixture.pick(1...2), 1]), "group": .int(group),
                    "pads": .ints((0..<4).map { _ in fixture.pick(0...1) }),
                ])
        ]
        nodes += fixture.activations(from: "v0")
        try fixture.result("y", of: nodes[nodes.count - 1].result, taps: channels * kernel * kernel)
        try fixture.expectLevels(nodes, "seed \(seed)")
    }

    @Test(arguments: 1...40) func products(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let (m, k, n) = (fixture.pick(1...20), fixture.pick(2...40), fixture.pick([1, 7, 16, 33]))
        var nodes: [Node]
        if fixture.pick(0...1) == 0 {
            try fixture.quantised("x", (0..<fixture.pick(0...2)).map { _ in fixture.pick(1...3) } + [m, k])
            try fixture.weights("w", [k, n], axis: 1)
            nodes = [node("MatMul", ["x", "w"], "v0")]
            if fixture.pick(0...1) == 0 {
                try fixture.bias("b", n, of: "x", "w")
                nodes.append(node("Add", fixture.pick([["b", "v0"], ["v0", "b"]]), "v1"))
            }
        } else {
            let isTransposed = fixture.pick(0...1)
            try fixture.quantised("x", [m, k])
            try fixture.weights("w", isTransposed == 1 ? [n, k] : [k, n], axis: 1 - isTransposed)
            try fixture.bias("b", n, of: "x", "w")
            nodes = [
                node("Gemm", fixture.pick([["x", "w"], ["x", "w", "b"]]), "v0", ["transB": .int(isTransposed)])
            ]
        }
        nodes += fixture.activations(from: nodes[nodes.count - 1].result)
        try fixture.result("y", of: nodes[nodes.count - 1].result, taps: k)
        try fixture.expectLevels(nodes, "seed \(seed)")
    }

    @Test(arguments: 1...30) func sums(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let shape = [fixture.pick(1...2), fixture.pick([3, 16, 24]), fixture.pick(3...9), 7]
        try fixture.quantised("a", shape)
        try fixture.quantised("b", shape, like: fixture.pick(["a", nil]))
        var nodes = [node("Add", ["a", "b"], "v0")]
        let isPositive = fixture.pick(0...1) == 0
        if isPositive { nodes.append(node("Relu", ["v0"], "v1")) }
        let type = try fixture.elementType(of: "a")
        try fixture.result(
            // No simple multiple of the others, of which many sums are ties: those are decided by the last digit.
            "y", of: nodes[nodes.count - 1].result, scale: 0.0413, type,
            zeroPoint: isPositive ? (type == .uint8 ? 0 : -128) : type == .uint8 ? 120 : 5)
        try fixture.expectLevels(nodes, "seed \(seed): \(type)")
    }

    @Test(arguments: 1...20) func movedValues(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        try fixture.quantised("x", [1, 16, 8, 6])
        try fixture.quantised("z", [1, 5, 4, 3], like: "x")
        fixture.initialisers["shape"] = try Tensor(indices: [21, 12])
        let nodes = [
            node("MaxPool", ["x"], "m", ["kernel_shape": .ints([2, 2]), "strides": .ints([2, 2])]),
            node("Concat", ["m", "z"], "c", ["axis": .int(1)]), node("Reshape", ["c", "shape"], "r"),
            node("Transpose", ["r"], "t", ["perm": .ints([1, 0])]),
        ]
        // The same numbers, so the same integers.
        try fixture.result("y", of: "t", like: "x")
        try fixture.expectLevels(nodes, "seed \(seed)", away: 0)
    }

    @Test(arguments: 1...20) func concatenations(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        for name in ["a", "b"] { try fixture.quantised(name, [1, fixture.pick([3, 16]), 5, 6]) }
        try fixture.input("c", [1, 7, 5, 6])
        try fixture.result("y", of: "v", scale: 0.0213, fixture.pick([ElementType.uint8, .int8]), zeroPoint: 7)
        try fixture.expectLevels([node("Concat", ["a", "b", "c"], "v", ["axis": .int(1)])], "seed \(seed)")
    }

    /// What takes the result quantises it in a way that steps do not know, so that no input may get the scale of another.
    @Test(arguments: ["without zero point", "by channel", "with float32"])
    func concatenationsThatAreQuantisedOtherwise(kind: String) throws {
        var fixture = GraphFixture(seed: 3)
        for name in ["a", "b"] { try fixture.quantised(name, [2, 4, 3, 3]) }
        for (name, scale) in [("a", Float(0.02)), ("b", 0.4)] {
            fixture.initialisers["\(name).scale"] = try Tensor(.float32, shape: [], elements: [scale])
        }
        var nodes = ["a", "b"].map { node("DequantizeLinear", ["\($0).q", "\($0).scale", "\($0).zero"], $0) }
        if kind == "with float32" {
            nodes.removeLast()
            fixture.inputs["b.q"] = nil
            try fixture.input("b", [2, 4, 3, 3], in: -50...50)
        }
        var last = node("QuantizeLinear", ["v", "s"], "y")
        fixture.initialisers["s"] = try Tensor(.float32, shape: [], elements: [Float(0.45)])
        if kind == "by channel" {
            last = node("QuantizeLinear", ["v", "s", "z"], "y", ["axis": .int(1)])
            fixture.initialisers["s"] = try Tensor(.float32, shape: [8], elements: (1...8).map { 0.1 * Float($0) })
            fixture.initialisers["z"] = try Tensor(.uint8, shape: [8], integers: (0..<8).map { Int64(16 * $0) })
        }
        let model = fixture.model(nodes + [node("Concat", ["a", "b"], "v", ["axis": .int(1)]), last])
        let compiled = try CompiledModel(model)
        let found = try #require(try compiled.execute(fixture.inputs)["y"])
        let wanted = try ReferenceRunner().run(model, inputs: fixture.inputs)[0]
        #expect(found.elementType == wanted.elementType && found.shape == wanted.shape)
        let levels = zip(found.integers(), wanted.integers()).map { abs($0 - $1) }
        #expect(levels.allSatisfy { $0 <= 1 }, "\(levels)\n\(compiled.stepLines)")
    }

    @Test func valuesForOtherOperatorsBecomeFloat32() throws {
        var fixture = GraphFixture(seed: 7)
        try fixture.quantised("x", [1, 8, 6, 6])
        try fixture.weights("w", [8, 8, 3, 3], axis: 0)
        let nodes = [
            node("Conv", ["x", "w"], "v", ["pads": .ints([1, 1, 1, 1])]), node("Sigmoid", ["v"], "s"),
            node("Mul", ["s", "x"], "p"), node("GlobalAveragePool", ["p"], "g"),
        ]
        try fixture.result("y", of: "g", scale: 0.01, .int8, zeroPoint: 3)
        try fixture.expectLevels(nodes)
    }

    @Test func weightsWhoseScalesGoByAnotherAxisStayFloat32() throws {
        var fixture = GraphFixture(seed: 8)
        try fixture.quantised("x", [4, 12])
        try fixture.weights("w", [12, 9], axis: 0, scales: 12)
        try fixture.result("y", of: "v", taps: 12)
        let model = fixture.quantisedModel([node("MatMul", ["x", "w"], "v")])
        let compiled = try CompiledModel(model)
        #expect(!compiled.stepLines.contains { $0.contains("product") && $0.contains("int8") })
        try fixture.expectLevels([node("MatMul", ["x", "w"], "v")])
    }
}

extension GraphFixture {
    /// Initialisers for scale and zero point, with the names' ends that the nodes below take.
    private mutating func parameters(_ name: String, _ scales: [Float], _ type: ElementType, _ zeroPoints: [Int]) throws
    {
        let shape = scales.count == 1 ? [] : [scales.count]
        initialisers["\(name).scale"] = try Tensor(.float32, shape: shape, elements: scales)
        initialisers["\(name).zero"] = try Tensor(type, shape: shape, integers: zeroPoints.map { Int64($0) })
    }

    private mutating func integers(_ type: ElementType, _ shape: [Int], in range: ClosedRange<Int>) throws -> Tensor {
        try Tensor(type, shape: shape, integers: (0..<shape.reduce(1, *)).map { _ in Int64(pick(range)) })
    }

    func elementType(of name: String) throws -> ElementType {
        try #require(initialisers["\(name).zero"]).elementType
    }

    /// An input of 8-bit integers, `name` once dequantised.
    mutating func quantised(_ name: String, _ shape: [Int], like other: String? = nil) throws {
        if let other {
            for part in ["scale", "zero"] { initialisers["\(name).\(part)"] = initialisers["\(other).\(part)"] }
        } else {
            let isSigned = pick(0...1) == 0
            let zeroPoint = pick([0, isSigned ? -128 : 128, pick(isSigned ? -40...40 : 60...190)])
            try parameters(
                name, [Float(pick(10...30)) / 1000], isSigned ? .int8 : .uint8, [zeroPoint])
        }
        let type = try elementType(of: name)
        inputs["\(name).q"] = try integers(type, shape, in: type == .int8 ? -128...127 : 0...255)
    }

    /// Constant 8-bit integers, `name` once dequantised.
    mutating func weights(_ name: String, _ shape: [Int], axis: Int, scales: Int? = nil) throws {
        let count = scales ?? pick([1, shape[axis]])
        let isSigned = pick(0...3) > 0
        try parameters(
            name, (0..<count).map { _ in Float(pick(5...20)) / 10_000 }, isSigned ? .int8 : .uint8,
            [Int](repeating: isSigned ? 0 : 128, count: count))
        initialisers["\(name).q"] = try integers(isSigned ? .int8 : .uint8, shape, in: isSigned ? -127...127 : 1...255)
        initialisers["\(name).axis"] = try Tensor(indices: [axis])
    }

    /// 32-bit integers in units of the product of both scales.
    mutating func bias(_ name: String, _ count: Int, of data: String, _ weights: String) throws {
        let scale = try #require(initialisers["\(data).scale"]).elements(as: Float.self)[0]
        let scales = try #require(initialisers["\(weights).scale"]).elements(as: Float.self)
        try parameters(name, scales.map { $0 * scale }, .int32, [Int](repeating: 0, count: scales.count))
        initialisers["\(name).q"] = try integers(.int32, [count], in: -9000...9000)
        initialisers["\(name).axis"] = try Tensor(indices: [0])
    }

    /// Up to two of what may stand before a QuantizeLinear.
    mutating func activations(from value: String) -> [Node] {
        switch pick(0...3) {
        case 0: [node("Relu", [value], "a0")]
        case 1: [node("Clip", [value], "a0", ["min": .float(0), "max": .float(2)], opset: 10)]
        case 2: [node("HardSwish", [value], "a0"), node("Relu", ["a0"], "a1")]
        default: []
        }
    }

    /// What `value` is quantised to, such that sums of that many products take about the whole range.
    mutating func result(_ name: String, of value: String, taps: Int) throws {
        let scales = try #require(initialisers["w.scale"]).elements(as: Float.self)
        let unit = try #require(initialisers["x.scale"]).elements(as: Float.self)[0] * (scales.max() ?? 1)
        let type = pick([ElementType.uint8, .int8])
        try result(
            name, of: value, scale: unit * Float(70 * 70) * Float(taps).squareRoot() / 40, type,
            zeroPoint: pick(type == .uint8 ? [0, 117] : [-128, 11]))
    }

    mutating func result(_ name: String, of value: String, scale: Float, _ type: ElementType, zeroPoint: Int) throws {
        try parameters(name, [scale], type, [zeroPoint])
        ending = (name, value)
    }

    mutating func result(_ name: String, of value: String, like other: String) throws {
        for part in ["scale", "zero"] { initialisers["\(name).\(part)"] = initialisers["\(other).\(part)"] }
        ending = (name, value)
    }

    /// The nodes between those that quantise and dequantise.
    func quantisedModel(_ nodes: [Node]) -> Model {
        let names = initialisers.keys.filter { $0.hasSuffix(".scale") }.map { String($0.dropLast(6)) }.sorted()
        let first = names.filter { $0 != ending.name }.map { name in
            let axis = initialisers["\(name).axis"].map { ["axis": Attribute.int($0.indices()[0])] } ?? [:]
            return node("DequantizeLinear", ["\(name).q", "\(name).scale", "\(name).zero"], name, axis)
        }
        let last = node("QuantizeLinear", [ending.value, "\(ending.name).scale", "\(ending.name).zero"], ending.name)
        return model(first + nodes + [last])
    }

    func expectLevels(
        _ nodes: [Node], _ note: String = "", away allowed: Double = 0.02,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let model = quantisedModel(nodes)
        let compiled = try CompiledModel(model)
        #expect(compiled.plainNodes.map(\.place) == [], "\(note)", sourceLocation: sourceLocation)
        let found = try #require(try compiled.execute(inputs)[ending.name])
        let wanted = try ReferenceRunner().run(model, inputs: inputs)[0]
        #expect(found.elementType == wanted.elementType && found.shape == wanted.shape, "\(note)")
        let levels = zip(found.integers(), wanted.integers()).map { abs($0 - $1) }
        #expect(levels.max() ?? 0 <= 1, "\(note)\n\(compiled.stepLines)", sourceLocation: sourceLocation)
        let away = levels.count { $0 > 0 }
        #expect(
            Double(away) <= max(allowed * Double(levels.count), allowed > 0 ? 1 : 0),
            "\(note): \(away) of \(levels.count)", sourceLocation: sourceLocation)
    }
}
