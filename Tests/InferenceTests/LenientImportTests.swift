import Foundation
import Inference
import ModelParts
import ONNXFormat
import SwiftProtobuf
import Testing

/// What exporters write beside the standard's letter, and everybody takes.
@Suite struct LenientImportTests {
    typealias Parts = ModelParts

    private static func relu(_ port: ONNXValueInfo) -> ONNXModel {
        Parts.model(Parts.graph(inputs: [port], outputs: ["y"], nodes: [Parts.node("Relu", ["x"], ["y"])]), opset: 17)
    }

    /// Paddle2ONNX writes -1, onnxruntime takes any number below 0 for it.
    @Test(arguments: [-1, -7, Int.min]) func anExtentBelowZeroIsOpen(extent: Int) throws {
        var file = Self.relu(Parts.port("x", [extent, 2]))
        file.graph.output = [Parts.port("y", [extent, 2])]
        let model = try Parts.load(file)
        #expect(model.graph.inputs[0].type?.shape == [.symbol("x:0"), .known(2)])
        #expect(model.graph.outputs[0].type?.shape == [.unknown, .known(2)])
        for rows in [1, 3] {
            let x = try Tensor(.float32, shape: [rows, 2])
            #expect(try ReferenceRunner().run(model, inputs: ["x": x])[0].shape == [rows, 2])
            let compiled = try CompiledModel(model, inputs: ["x": TensorType(.float32, extents: [rows, 2])])
            #expect(try compiled.execute(["x": x])["y"]?.shape == [rows, 2])
        }
    }

    @Test func anOpenExtentWithoutANameIsCalledByInputAndAxis() throws {
        var port = Parts.port("pixels:in", [1, 2, 3])
        port.type.tensorType.shape.dim[1] = ONNXShape.Dimension()
        var file = Self.relu(port)
        file.graph.node[0].input = ["pixels:in"]
        let model = try Parts.load(file)
        #expect(model.openExtents == ["pixels:in:1"])
        #expect(try ModelSummary(model).inputs.map(\.shape) == [["1", "pixels:in:1", "3"]])
        let sized = try ModelSummary(model, extents: ["pixels:in:1": 5])
        #expect(sized.inputs.map(\.shape) == [["1", "5", "3"]] && sized.outputs.map(\.shape) == [["1", "5", "3"]])
        #expect(try CompiledModel(model, extents: ["pixels:in:1": 5]).inputs[0].type?.extents == [1, 5, 3])
        // Old exporters write 0 for an extent that they do not know.
        let old = try Parts.load(Self.relu(Parts.port("x", [0, 2])))
        #expect(old.openExtents == ["x:0"])
        #expect(old.withExtents(["x:0": 4]).graph.inputs[0].type?.extents == [4, 2])
    }

    /// skl2onnx and `onnx.compose` name a set again.
    @Test func anOperatorSetMayBeNamedAgainWithTheSameVersion() throws {
        var file = Self.relu(Parts.port("x", [1, 2]))
        file.opsetImport += [Parts.set("", 17), Parts.set("ai.onnx", 17), Parts.set("ai.onnx.ml", 3)]
        file.opsetImport.append(Parts.set("ai.onnx.ml", 3))
        let model = try Parts.load(file)
        #expect(model.opsets == ["": 17, "ai.onnx.ml": 3])
        file.opsetImport.append(Parts.set("", 18))
        let error = try #require(try Parts.error(file))
        #expect(error.code == .damaged && error.sentence.contains("versions 17 and 18"), "\(error.sentence)")
    }

    private static let slopes: [(shape: [Int], slope: [Int])] = [
        ([], [1]), ([], [1, 1]), ([3], [1, 1]), ([2, 3], [1, 1, 3]), ([], []),
    ]

    /// The slope [1] of a scalar, and one with more axes of extent 1; the result has the axes that onnxruntime gives it.
    @Test(arguments: slopes)
    func aSlopeMayHaveAxesInFront(shape: [Int], slope: [Int]) throws {
        var fixture = GraphFixture(seed: 1)
        try fixture.input("x", shape)
        try fixture.constant("s", slope)
        let model = fixture.model([node("PRelu", ["x", "s"], "y")])
        let wanted = Array(repeating: 1, count: max(slope.count - shape.count, 0)) + shape
        #expect(try ShapeInference().infer(model.graph).facts["y"]?.type.extents == wanted)
        let plain = try ReferenceRunner().run(model, inputs: fixture.inputs)[0]
        let x = try #require(fixture.inputs["x"]).doubles()
        let slopes = try #require(fixture.initialisers["s"]).doubles()
        #expect(plain.shape == wanted)
        for (place, value) in plain.doubles().enumerated() {
            let own = x[place] < 0 ? x[place] * slopes[place % slopes.count] : x[place]
            #expect(abs(value - own) < 1e-6)
        }
        expectClose(
            try #require(try CompiledModel(model).execute(fixture.inputs)["y"]), plain, tolerance: 1e-6, "compiled")
    }

    @Test(arguments: [[2], [2, 1], [2, 1, 3]]) func aSlopeThatWouldRepeatItsInputIsDamage(slope: [Int]) throws {
        var fixture = GraphFixture(seed: 1)
        try fixture.input("x", [])
        try fixture.constant("s", slope)
        let model = fixture.model([node("PRelu", ["x", "s"], "y")])
        let error = #expect(throws: ModelError.self) { try CompiledModel(model) }
        #expect(error?.code == .damaged)
    }

    private static let lists: [(shapes: [[Int]], axis: Int, shape: [Int])] = [
        ([[0, 5], [2, 3]], 0, [2, 3]), ([[2, 3], [0, 5], [1, 3]], 0, [3, 3]), ([[2, 0], [3, 3]], 1, [3, 3]),
        ([[0, 0], [2, 3], [2, 1]], -1, [2, 4]), ([[2, 0], [2, 3]], 1, [2, 3]), ([[0, 3], [0, 3]], 0, [0, 3]),
        ([[0], [4]], 0, [4]),
    ]

    /// A list without elements to which others are joined; onnxruntime passes over its other extents.
    @Test(arguments: lists)
    func aListWithoutElementsAddsNothing(shapes: [[Int]], axis: Int, shape: [Int]) throws {
        var fixture = GraphFixture(seed: 3)
        let names = shapes.indices.map { "x\($0)" }
        for (name, shape) in zip(names, shapes) { try fixture.input(name, shape) }
        let model = fixture.model([node("Concat", names, "c", ["axis": .int(axis)]), node("Neg", ["c"], "y")])
        let filled = names.compactMap { fixture.inputs[$0] }.filter { $0.count > 0 }
        let plain = try ReferenceRunner().run(model, inputs: fixture.inputs)[0]
        #expect(plain.shape == shape)
        #expect(Set(plain.doubles()) == Set(filled.flatMap { $0.doubles() }.map { -$0 }))
        let compiled = try #require(try CompiledModel(model).execute(fixture.inputs)["y"])
        expectClose(compiled, plain, tolerance: 0, "compiled")
        for form in OpenCLFixture.Form.allCases {
            let found = try OpenCLModel(model, on: OpenCLFixture.device(form)).execute(fixture.inputs)
            expectClose(try #require(found["y"]), plain, tolerance: 0, "\(form)")
        }
    }

    @Test func listsOfOtherNumbersOfAxesAreNotJoined() throws {
        var fixture = GraphFixture(seed: 3)
        try fixture.input("a", [0])
        try fixture.input("b", [2, 3])
        let model = fixture.model([node("Concat", ["a", "b"], "y", ["axis": .int(0)])])
        let error = #expect(throws: ModelError.self) { try CompiledModel(model) }
        #expect(error?.code == .damaged)
    }

    @Test func aTransformThatIsInverseAndOneSidedIsNotSupported() throws {
        var fixture = GraphFixture(seed: 1)
        try fixture.input("x", [1, 5, 2])
        let model = fixture.model([
            node("DFT", ["x"], "y", ["axis": .int(1), "inverse": .int(1), "onesided": .int(1)])
        ])
        let error = #expect(throws: ModelError.self) { try model.checkSupport() }
        #expect(error?.code == .unsupported && error?.unsupported == ["DFT that is inverse and one-sided"])
        let prepared = #expect(throws: ModelError.self) { try CompiledModel(model) }
        #expect(prepared?.code == .unsupported)
    }
}
