import Inference
import OneDNNKit
import Testing

/// NaN and infinities, which a model that has diverged gives, come through a compiled model as the plain operators have them.
@Suite struct NonFiniteTests {
    private static let infinity = Double.infinity
    /// Rows with NaN, with either infinity, of one of them alone, and of ordinary numbers.
    private static let rows: [[Double]] = [
        [.nan, 1, 2, -3], [infinity, 1, -2, 3], [-infinity, -1, 2, 3], [-infinity, infinity, 0, 1],
        [Double](repeating: -infinity, count: 4), [Double](repeating: infinity, count: 4),
        [Double](repeating: .nan, count: 4), [1, -2, 3, 0],
    ]

    private func expectSame(_ nodes: [Node], _ fixture: GraphFixture, _ note: String) throws {
        let model = fixture.model(nodes)
        let found = try #require(try CompiledModel(model).execute(fixture.inputs)[nodes[nodes.count - 1].outputs[0]])
        let wanted = try ReferenceRunner().run(model, inputs: fixture.inputs)[0]
        #expect(found.shape == wanted.shape, "\(note)")
        for (place, (own, expected)) in zip(found.doubles(), wanted.doubles()).enumerated() {
            let isSame =
                own.isFinite && expected.isFinite
                ? abs(own - expected) <= 1e-5 : own == expected || own.isNaN && expected.isNaN
            #expect(isSame, "\(note): [\(place)] is \(own), not \(expected)")
        }
    }

    private static func fixture(_ rows: [[Double]] = rows) throws -> GraphFixture {
        var fixture = GraphFixture(seed: 1)
        fixture.inputs["x"] = try Tensor(.float32, shape: [rows.count, 4], doubles: rows.flatMap(\.self))
        return fixture
    }

    private static let functions: [(String, [String: Attribute])] = [
        ("Relu", [:]), ("LeakyRelu", ["alpha": .float(0.25)]), ("Elu", [:]), ("Sigmoid", [:]), ("Tanh", [:]),
        ("HardSwish", [:]), ("HardSigmoid", [:]), ("Mish", [:]), ("Exp", [:]), ("Abs", [:]), ("Erf", [:]),
        ("Softmax", [:]), ("LogSoftmax", [:]), ("Softmax", ["axis": .int(0)]), ("Neg", [:]),
    ]

    @Test(arguments: functions.indices) func eachFunctionGivesWhatIEEEHas(number: Int) throws {
        let (name, attributes) = Self.functions[number]
        // A row by itself: what one makes of the flags must not hide another.
        for row in Self.rows {
            try expectSame([node(name, ["x"], "y", attributes, opset: 18)], Self.fixture([row]), "\(name) of \(row)")
        }
    }

    @Test(arguments: ["Add", "Sub", "Mul", "Div", "Max", "Min"]) func arithmeticGivesWhatIEEEHas(name: String) throws {
        for row in Self.rows {
            for other in [2, .nan, .infinity, 0] as [Double] {
                var fixture = try Self.fixture([row])
                fixture.initialisers["c"] = try Tensor(.float32, shape: [1, 1], doubles: [other])
                fixture.initialisers["d"] = try Tensor(.float32, shape: [4], doubles: [other, 1, other, 2])
                for operands in [["x", "c"], ["c", "x"], ["x", "d"], ["d", "x"]] {
                    try expectSame([node(name, operands, "y")], fixture, "\(name) of \(row) and \(other)")
                }
            }
        }
    }

    @Test(arguments: ["ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean"]) func reductionsGiveWhatIEEEHas(
        name: String
    ) throws {
        for row in Self.rows {
            for axes in [[0], [1], [0, 1]] {
                var fixture = try Self.fixture([row])
                fixture.initialisers["axes"] = try Tensor(indices: axes)
                try expectSame([node(name, ["x", "axes"], "y", opset: 18)], fixture, "\(name) of \(row) along \(axes)")
            }
        }
    }

    @Test(arguments: ["MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"]) func windowsGiveWhatIEEEHas(
        name: String
    ) throws {
        for row in Self.rows {
            var fixture = GraphFixture(seed: 1)
            fixture.inputs["x"] = try Tensor(
                .float32, shape: [1, 16, 2, 2], doubles: (0..<16).flatMap { $0 == 3 ? row : [1, 2, 3, 4] })
            let attributes: [String: Attribute] = name.hasPrefix("Global") ? [:] : ["kernel_shape": .ints([2, 1])]
            try expectSame([node(name, ["x"], "y", attributes)], fixture, "\(name) of \(row)")
        }
    }

    /// A mask of minus infinity over a whole row, as decoders write it.
    @Test func aRowThatIsMaskedWhollyIsNoNumber() throws {
        var fixture = try Self.fixture([[1, 2, 3, 4], [5, 6, 7, 8]])
        fixture.initialisers["m"] = try Tensor(
            .float32, shape: [2, 4], doubles: [0, 0, -.infinity, 0] + [Double](repeating: -.infinity, count: 4))
        try expectSame([node("Add", ["x", "m"], "s"), node("Softmax", ["s"], "y")], fixture, "masked")
    }

    /// Bounds in the same pass as a convolution or product would give a number for NaN.
    @Test(arguments: [0, 1, 5]) func whatFollowsAProductLetsNaNThrough(place: Int) throws {
        for follower in ["Relu", "HardSwish", "Clip"] {
            var fixture = GraphFixture(seed: 3)
            try fixture.input("x", [2, 16, 12, 12])
            var numbers = try #require(fixture.inputs["x"]).doubles()
            numbers[place * 400] = place == 1 ? .infinity : .nan
            fixture.inputs["x"] = try Tensor(.float32, shape: [2, 16, 12, 12], doubles: numbers)
            try fixture.constant("w", [16, 16, 3, 3])
            try fixture.constant("v", [12, 5])
            let bounds: [String: Attribute] = follower == "Clip" ? ["min": .float(0), "max": .float(6)] : [:]
            let ends = node(follower, ["c"], "y", bounds, opset: follower == "Clip" ? 10 : 17)
            try expectSame(
                [node("Conv", ["x", "w"], "c", ["pads": .ints([1, 1, 1, 1])]), ends], fixture, "Conv, \(follower)")
            try expectSame([node("MatMul", ["x", "v"], "c"), ends], fixture, "MatMul, \(follower)")
        }
    }

    /// Else every run would be computed twice, and the second time slowly.
    @Test func ordinaryNumbersRaiseNoFlag() throws {
        for seed in 1...60 as ClosedRange<UInt64> {
            var fixture = GraphFixture(seed: seed)
            let nodes = try seed % 2 == 0 ? fixture.chainBehindConvolution() : fixture.matrixProduct()
            let run = try CompiledModel.Run(CompiledModel(fixture.model(nodes)))
            _ = try run.execute(fixture.inputs)
            #expect(!InvalidOperations.haveOccurred, "seed \(seed): \(nodes.map(\.operatorName))")
        }
    }
}
