import Inference
import ModelParts
import ONNXFormat
import Testing

/// Operator sets behind 21: what did not change is taken, what is new is implemented or refused by its name.
@Suite struct LaterVersionTests {
    typealias Parts = ModelParts

    private static func model(_ nodes: [ONNXNode], opset: Int64, type: Int32 = 1) -> ONNXModel {
        Parts.model(
            Parts.graph(
                inputs: [Parts.port("x", type: type, [1, 2])], outputs: ["y"], nodes: nodes,
                initialisers: [Parts.tensor("w", [2, 2], floats: [1, -2, 3, 4])]), opset: opset)
    }

    @Test(arguments: [Int64(22), 23, 24, 25, 26, 27, 28]) func anOperatorThatDidNotChangeIsTaken(opset: Int64) throws {
        let model = try Parts.load(
            Self.model(
                [
                    Parts.node("MatMul", ["x", "w"], ["m"]), Parts.node("Relu", ["m"], ["r"]),
                    Parts.node("Sin", ["r"], ["y"]),
                ],
                opset: opset))
        let x = try Tensor(.float32, shape: [1, 2], doubles: [1, 1])
        let wanted = try Tensor(.float32, shape: [1, 2], doubles: [-0.7568024953, 0.9092974268])
        expectClose(try ReferenceRunner().run(model, inputs: ["x": x])[0], wanted, tolerance: 1e-6)
        expectClose(
            try #require(try CompiledModel(model).execute(["x": x])["y"]), wanted, tolerance: 1e-6, "compiled")
    }

    private static let refused: [(name: String, opset: Int64, phrase: String)] = [
        ("Attention", 23, "operator Attention of version 23"), ("Attention", 24, "operator Attention of version 24"),
        ("Attention", 28, "operator Attention of version 25"),
        ("TensorScatter", 27, "operator TensorScatter of version 24"),
        // Before it was there it is a name like any other.
        ("Attention", 22, "operator Attention"), ("Swish", 23, "operator Swish of version 23"),
        ("Relu", 29, "operators of version 29 (known: up to 28)"),
    ]

    @Test("what is new is refused by its name and the version that the set has", arguments: refused)
    func newOperatorsAreNamed(name: String, opset: Int64, phrase: String) throws {
        let error = try #require(try Parts.error(Self.model([Parts.node(name, ["x"], ["y"])], opset: opset)))
        #expect(error.code == .unsupported && error.unsupported == [phrase])
    }

    private static let elementTypes: [(number: Int32, name: String)] = [
        (24, "float8e8m0"), (25, "uint2"), (26, "int2"), (27, "float6e2m3"), (28, "float6e3m2"),
    ]

    @Test(arguments: elementTypes)
    func newElementTypesAreNamed(number: Int32, name: String) throws {
        let input = try #require(
            try Parts.error(Self.model([Parts.node("Identity", ["x"], ["y"])], opset: 28, type: number)))
        #expect(input.unsupported == ["element type \(name)"])
        for attribute in ["to", "output_dtype"] {
            let node = Parts.node("Cast", ["x"], ["y"], [Parts.attribute(attribute, int: Int64(number))])
            let error = try #require(try Parts.error(Self.model([node], opset: 28)))
            #expect(error.unsupported.contains("element type \(name)"))
        }
    }

    /// What one node makes of inputs called x and z, plainly and compiled.
    private static func results(
        _ name: String, _ inputs: [Tensor], _ attributes: [String: Attribute] = [:], opset: Int = 28
    ) throws -> [Tensor] {
        var fixture = GraphFixture(seed: 1)
        let names = ["x", "z"].prefix(inputs.count)
        for (name, tensor) in zip(names, inputs) { fixture.inputs[name] = tensor }
        let model = fixture.model([node(name, Array(names), "y", attributes, opset: opset)])
        let plain = try ReferenceRunner().run(model, inputs: fixture.inputs)
        let compiled = try #require(try CompiledModel(model).execute(fixture.inputs)["y"])
        return plain + [compiled]
    }

    @Test func signsStayInShiftsToTheRight() throws {
        let x = try Tensor(.int8, shape: [6], integers: [-128, -1, 127, -1, 5, -6])
        let distances = try Tensor(.int8, shape: [6], integers: [1, 7, 3, 8, 9, -1])
        for result in try Self.results("BitShift", [x, distances], ["direction": .string("RIGHT")]) {
            #expect(result.integers() == [-64, -1, 15, -1, 0, -1])
        }
        for result in try Self.results("BitShift", [x, distances], ["direction": .string("LEFT")]) {
            #expect(result.integers() == [0, -128, -8, 0, 0, 0])
        }
        let wide = try Tensor(.int64, shape: [3], integers: [.min, -5, 5])
        for result in try Self.results(
            "BitShift", [wide, try Tensor(.int64, shape: [3], integers: [63, 64, -1])], ["direction": .string("RIGHT")])
        {
            #expect(result.integers() == [-1, -1, 0])
        }
    }

    @Test func remaindersOfFloatsHaveTheSignOfTheDivisor() throws {
        let x = try Tensor(.float32, shape: [6], doubles: [5.5, -5.5, 5.5, -6, .infinity, -1])
        let y = try Tensor(.float32, shape: [6], doubles: [2, 2, -2, 3, 2, .infinity])
        for result in try Self.results("Mod", [x, y]) {
            let found = result.doubles()
            #expect(Array(found[..<4]) == [1.5, 0.5, -0.5, 0] && found[4].isNaN && found[5] == .infinity)
        }
        let error = #expect(throws: ModelError.self) { try Self.results("Mod", [x, y], opset: 27) }
        #expect(error?.code == .damaged)
    }

    /// Two channels of 2 x 2 pixels, whose numbers begin with that of the channel.
    @Test func blocksBecomeDepthInBothOrders() throws {
        let x = try Tensor(.float32, shape: [1, 2, 2, 2], doubles: [0, 1, 2, 3, 10, 11, 12, 13])
        for (mode, order) in [("DCR", [0, 10, 1, 11, 2, 12, 3, 13]), ("CRD", [0, 1, 2, 3, 10, 11, 12, 13])] {
            let attributes: [String: Attribute] = ["blocksize": .int(2), "mode": .string(mode)]
            let wanted = try Tensor(.float32, shape: [1, 8, 1, 1], doubles: order.map { Double($0) })
            for result in try Self.results("SpaceToDepth", [x], attributes) {
                expectClose(result, wanted, tolerance: 0, mode)
            }
            var fixture = GraphFixture(seed: 1)
            fixture.inputs["x"] = x
            let model = fixture.model([node("SpaceToDepth", ["x"], "y", attributes, opset: 28)])
            for form in OpenCLFixture.Form.allCases {
                let found = try OpenCLModel(model, on: OpenCLFixture.device(form)).execute(fixture.inputs)
                expectClose(try #require(found["y"]), wanted, tolerance: 0, "\(mode) \(form)")
            }
        }
    }

    @Test func aPrecisionThatIsComputedIsTaken() throws {
        let x = try Tensor(.float32, shape: [2], doubles: [1, -7])
        let scale = try Tensor(.float32, shape: [], doubles: [2])
        for result in try Self.results("QuantizeLinear", [x, scale], ["precision": .int(1), "output_dtype": .int(3)]) {
            #expect(result.integers() == [0, -4])
        }
        let levels = try Tensor(.int8, shape: [2], integers: [3, -4])
        for result in try Self.results("DequantizeLinear", [levels, scale], ["output_dtype": .int(1)]) {
            #expect(result.elementType == .float32 && result.doubles() == [6, -8])
        }
        for (name, input, attribute) in [
            ("QuantizeLinear", x, "precision"), ("DequantizeLinear", levels, "output_dtype"),
        ] {
            let error = #expect(throws: ModelError.self) {
                try Self.results(name, [input, scale], [attribute: .int(11)])
            }
            #expect(error?.code == .unsupported, "\(name)")
        }
    }

    /// Over the last axis, over the last two, and over those from one on that is counted from the front.
    @Test(arguments: [nil, -2, 1, 0]) func aNormalisationByTheMeanOfSquaresIsPutTogether(axis: Int?) throws {
        let attributes = [
            axis.map { Parts.attribute("axis", int: Int64($0)) }, Parts.attribute("epsilon", float: 0.25),
        ]
        let model = try Parts.load(
            Parts.model(
                Parts.graph(
                    inputs: [Parts.port("x", ["n", 2, 3])], outputs: ["y"],
                    nodes: [Parts.node("RMSNormalization", ["x", "s"], ["y"], attributes.compactMap(\.self))],
                    initialisers: [Parts.tensor("s", [3], floats: [1, 2, 3])]), opset: 23))
        let values: [Double] = [1, -2, 3, 0, 5, -6, 7, 8, 9, -1, 2, 4]
        let x = try Tensor(.float32, shape: [2, 2, 3], doubles: values)
        let length = axis == nil ? 3 : axis == 0 ? 12 : 6
        let wanted = values.indices.map { place -> Double in
            let first = place / length * length
            let row = values[first..<(first + length)]
            let root = (row.reduce(0) { $0 + $1 * $1 } / Double(length) + 0.25).squareRoot()
            return values[place] / root * Double(place % 3 + 1)
        }
        let expected = try Tensor(.float32, shape: [2, 2, 3], doubles: wanted)
        expectClose(try ReferenceRunner().run(model, inputs: ["x": x])[0], expected, tolerance: 1e-6)
        let compiled = try CompiledModel(model, inputs: ["x": TensorType(.float32, extents: [2, 2, 3])])
        expectClose(try #require(try compiled.execute(["x": x])["y"]), expected, tolerance: 1e-5, "compiled")
    }
}
