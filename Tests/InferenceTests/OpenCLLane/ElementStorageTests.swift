import Inference
import SeededNumbers
import Testing

/// Values that a device keeps in half as many bits.
@Suite struct ElementStorageTests {
    private static func device(_ form: OpenCLFixture.Form) throws -> InferenceDevice {
        try OpenCLFixture.device(form, storage: .float16)
    }

    private static func run(_ fixture: GraphFixture, _ nodes: [Node], _ device: InferenceDevice) throws -> [Float] {
        let compiled = try OpenCLModel(fixture.model(nodes), on: device)
        #expect(compiled.plainNodes.map(\.place) == [])
        return try #require(try compiled.execute(fixture.inputs)[nodes[nodes.count - 1].outputs[0]])
            .elements(as: Float.self)
    }

    /// What is left of a number: the nearest half, the largest one for what lies beyond.
    private static func kept(_ x: Float) -> Float {
        x.isFinite ? Float(Float16(min(max(x, -65_504), 65_504))) : x
    }

    @Test(arguments: OpenCLFixture.Form.allCases)
    func numbersAreRoundedToTheNearestAndStayWithinRange(form: OpenCLFixture.Form) throws {
        var random = SeededGenerator(seed: 1)
        // More than are converted at a time, and no whole number of vectors.
        var numbers = (0..<((1 << 20) + 77)).map { _ in
            Float(bitPattern: UInt32.random(in: 0...UInt32.max, using: &random))
        }
        numbers += [
            0, -0.0, 65_504, 65_519, 65_520, -1e9, 3e38, .infinity, -.infinity, 6e-8, 2.9e-8, 1e-30, 1 + 1 / 2_048,
        ]
        // Those of usual size, too.
        for place in stride(from: 0, to: numbers.count, by: 2) where place < 1 << 20 {
            numbers[place] = Float.random(in: -70_000...70_000, using: &random)
        }
        var fixture = GraphFixture(seed: 1)
        fixture.inputs["x"] = try Tensor(.float32, shape: [numbers.count], elements: numbers)
        let found = try Self.run(fixture, [node("Neg", ["x"], "y")], Self.device(form))
        let wrong = zip(numbers, found).first { number, found in
            number.isNaN ? !found.isNaN : found != -Self.kept(number)
        }
        #expect(wrong == nil)
        #expect(found.count == numbers.count)
    }

    /// Operands that halves hold exactly: all that is lost is the last rounding of each sum, however deep.
    @Test(arguments: OpenCLFixture.Form.allCases) func sumsAreThoseOfFloats(form: OpenCLFixture.Form) throws {
        let device = try Self.device(form)
        for isConvolution in [false, true] {
            var fixture = GraphFixture(seed: 3)
            func exact(_ shape: [Int]) throws -> Tensor {
                let numbers = (0..<shape.reduce(1, *)).map { _ in Float(fixture.pick(-64...64)) / 64 }
                return try Tensor(.float32, shape: shape, elements: numbers)
            }
            let nodes: [Node]
            if isConvolution {
                fixture.inputs["x"] = try exact([1, 200, 9, 11])
                fixture.initialisers["w"] = try exact([37, 200, 3, 3])
                nodes = [node("Conv", ["x", "w"], "y", ["strides": .ints([2, 1])])]
            } else {
                fixture.inputs["x"] = try exact([33, 1_700])
                fixture.initialisers["w"] = try exact([1_700, 50])
                nodes = [node("MatMul", ["x", "w"], "y")]
            }
            let found = try Self.run(fixture, nodes, device)
            let wanted = try ReferenceRunner().run(fixture.model(nodes), inputs: fixture.inputs)[0].doubles()
            // Half a unit in the last of 11 bits, and what the order of float sums changes.
            let wrong = zip(found, wanted).first { abs(Double($0) - $1) > abs($1) / 2_048 + 1e-4 }
            #expect(wrong == nil, "\(isConvolution)")
            #expect(found.count == wanted.count)
        }
    }

    /// Exporters mask with the smallest float, and multiply it by 0 where nothing is masked.
    @Test(arguments: OpenCLFixture.Form.allCases) func aMaskOfHugeNumbersMakesNoNaN(form: OpenCLFixture.Form) throws {
        var fixture = GraphFixture(seed: 2)
        try fixture.input("q", [2, 5, 8])
        try fixture.input("k", [2, 8, 40])
        try fixture.input("v", [2, 40, 8])
        fixture.inputs["hidden"] = try Tensor(
            .float32, shape: [1, 1, 40], elements: (0..<40).map { $0 % 3 == 0 ? 1 : 0 as Float })
        fixture.initialisers["huge"] = try Tensor(.float32, shape: [], elements: [-Float.greatestFiniteMagnitude])
        let nodes = [
            node("Mul", ["hidden", "huge"], "mask"), node("MatMul", ["q", "k"], "s"),
            node("Add", ["s", "mask"], "m"), node("Softmax", ["m"], "p", ["axis": .int(-1)]),
            node("MatMul", ["p", "v"], "y"),
        ]
        let found = try Self.run(fixture, nodes, Self.device(form))
        let wanted = try ReferenceRunner().run(fixture.model(nodes), inputs: fixture.inputs)[0].doubles()
        #expect(zip(found, wanted).first { !(abs(Double($0) - $1) < 2e-3) } == nil)
    }

    @Test func valuesAndWeightsTakeHalfTheMemory() throws {
        var fixture = GraphFixture(seed: 4)
        try fixture.input("x", [64, 1_000])
        try fixture.constant("w", [1_000, 1_000])
        let model = fixture.model([node("MatMul", ["x", "w"], "h"), node("MatMul", ["h", "w"], "y")])
        let wide = try OpenCLModel(model, on: OpenCLFixture.device(.vectors))
        let narrow = try OpenCLModel(model, on: Self.device(.vectors))
        #expect(2 * narrow.constantByteCount == wide.constantByteCount)
        let share = Double(narrow.arenaByteCount) / Double(wide.arenaByteCount)
        #expect((0.49...0.51).contains(share), "\(share)")
    }
}
