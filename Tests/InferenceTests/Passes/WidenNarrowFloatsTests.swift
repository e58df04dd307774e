import Foundation
import Inference
import ModelParts
import ONNXFormat
import SwiftProtobuf
import TemporaryFolders
import Testing

/// Models of float16 and bfloat16 on the fast lanes.
@Suite struct WidenNarrowFloatsTests {
    private static func network() throws -> (fixture: GraphFixture, nodes: [Node]) {
        var fixture = GraphFixture(seed: 11)
        try fixture.input("x", [1, 16, 9, 7])
        try fixture.constant("w", [32, 16, 3, 3], in: -0.2...0.2)
        for name in ["shift", "mean"] { try fixture.constant(name, [32]) }
        for name in ["scale", "variance"] { try fixture.constant(name, [32], in: 0.5...2) }
        try fixture.constant("m", [10, 32])
        try fixture.constant("b", [10])
        let nodes = [
            node("Conv", ["x", "w"], "c", ["pads": .ints([1, 1, 1, 1])]),
            node("BatchNormalization", ["c", "scale", "shift", "mean", "variance"], "n"), node("Relu", ["n"], "r"),
            node("GlobalAveragePool", ["r"], "g"), node("Flatten", ["g"], "f"),
            node("Gemm", ["f", "m", "b"], "y", ["transB": .int(1)]),
        ]
        return (fixture, nodes)
    }

    /// What was found is what float32 gave, rounded once; the last bit may go either way.
    private func expectRounded(_ found: Tensor?, _ exact: Tensor?, to type: ElementType) throws {
        let (found, exact) = (try #require(found), try #require(exact))
        let wanted = try Tensor(type, shape: exact.shape, doubles: exact.doubles())
        #expect(wanted.doubles().contains { $0 != 0 })
        expectClose(found, wanted, tolerance: type == .float16 ? 0x1p-10 : 0x1p-7)
    }

    @Test(arguments: [ElementType.float16, .bfloat16])
    func aNetworkOfFewerBitsIsComputedAsFloat32(type: ElementType) throws {
        let (fixture, nodes) = try Self.network()
        let narrow = try fixture.rounded(to: type)
        let wide = try narrow.rounded(to: .float32)
        let compiled = try CompiledModel(narrow.model(nodes))
        #expect(compiled.plainNodes.map(\.operatorName) == ["Cast", "Cast"])
        #expect(compiled.inputs.map(\.type?.elementType) == [type])
        let exact = try CompiledModel(wide.model(nodes)).execute(wide.inputs)
        try expectRounded(compiled.execute(narrow.inputs)["y"], exact["y"], to: type)
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func aDeviceComputesItToo(form: OpenCLFixture.Form) throws {
        let (fixture, nodes) = try Self.network()
        let narrow = try fixture.rounded(to: .float16)
        let wide = try narrow.rounded(to: .float32)
        let compiled = try OpenCLModel(narrow.model(nodes), on: OpenCLFixture.device(form))
        #expect(compiled.plainNodes.map(\.operatorName) == ["Cast", "Cast"])
        let exact = try CompiledModel(wide.model(nodes)).execute(wide.inputs)
        try expectRounded(compiled.execute(narrow.inputs)["y"], exact["y"], to: .float16)
    }

    @Test func castsOnTheWayAreNoSteps() throws {
        var (fixture, _) = try Self.network()
        try fixture.constant("v", [4, 32, 1, 1])
        var narrow = try fixture.rounded(to: .float16)
        narrow.inputs = fixture.inputs
        let compiled = try CompiledModel(
            narrow.model([
                node("Cast", ["x"], "h", ["to": .int(10)]), node("Conv", ["h", "w"], "c"),
                node("Cast", ["c"], "e", ["to": .int(1)]), node("Sigmoid", ["e"], "s"),
                node("CastLike", ["s", "w"], "d"), node("Conv", ["d", "v"], "z"),
                node("Cast", ["z"], "y", ["to": .int(1)]),
            ]))
        #expect(compiled.plainNodes.map(\.place) == [])
        let wide = try CompiledModel(
            narrow.rounded(to: .float32).model([
                node("Conv", ["x", "w"], "c"), node("Sigmoid", ["c"], "s"), node("Conv", ["s", "v"], "y"),
            ]))
        let found = try #require(try compiled.execute(fixture.inputs)["y"])
        expectClose(found, try #require(try wide.execute(fixture.inputs)["y"]), tolerance: 1e-5)
    }

    /// Branches take an input and an output of the graph, and have numbers of their own.
    private static func branching(_ type: ElementType) throws -> [Node] {
        let half = try Tensor(type, shape: [], doubles: [0.5])
        let number = [ElementType.float32: 1, .float16: 10, .bfloat16: 16][type] ?? 0
        let first = Graph(
            inputs: [], outputs: [Graph.Port("t", TensorType(type, nil))], initialisers: ["x as float32": half],
            nodes: [
                node("Mul", ["r", "x as float32"], "p"), node("ReduceMax", ["x"], "top", ["keepdims": .int(0)]),
                node("Add", ["p", "top"], "t"),
            ])
        let second = Graph(
            inputs: [], outputs: [Graph.Port("t", nil)],
            nodes: [
                node("Constant", [], "k", ["value": .tensor(half)]),
                node("Cast", ["flag"], "o", ["to": .int(number)]), node("Sub", ["k", "o"], "q"),
                node("Add", ["q", "r"], "t"),
            ])
        return [
            node("Conv", ["x", "w"], "c", ["pads": .ints([1, 1, 1, 1])]), node("Relu", ["c"], "r"),
            node("If", ["flag"], "i", ["then_branch": .graph(first), "else_branch": .graph(second)]),
            node("GlobalAveragePool", ["i"], "g"), node("Flatten", ["g"], "f"),
            node("Gemm", ["f", "m", "b"], "y", ["transB": .int(1)]),
        ]
    }

    @Test(arguments: [ElementType.float16, .bfloat16], [true, false])
    func branchesAreWidenedToo(type: ElementType, flag: Bool) throws {
        var (fixture, _) = try Self.network()
        fixture.inputs["flag"] = try Tensor(shape: [], flags: [flag])
        let narrow = try fixture.rounded(to: type)
        let wide = try narrow.rounded(to: .float32)
        let compiled = try CompiledModel(narrow.model(Self.branching(type), outputs: ["y", "r"]))
        #expect(compiled.plainNodes.map(\.operatorName) == ["Cast", "If", "Cast", "Cast"])
        let found = try compiled.execute(narrow.inputs)
        let exact = try CompiledModel(wide.model(Self.branching(.float32), outputs: ["y", "r"])).execute(wide.inputs)
        for name in ["y", "r"] { try expectRounded(found[name], exact[name], to: type) }
    }

    @Test func inputsAndInitialisersThatAreGivenOutKeepTheirBits() throws {
        let (fixture, nodes) = try Self.network()
        let narrow = try fixture.rounded(to: .float16)
        let outputs = try CompiledModel(narrow.model(nodes, outputs: ["y", "x", "m"])).execute(narrow.inputs)
        #expect(outputs["y"]?.elementType == .float16)
        #expect(outputs["x"]?.elements(as: UInt16.self) == narrow.inputs["x"]?.elements(as: UInt16.self))
        #expect(outputs["m"]?.elements(as: UInt16.self) == narrow.initialisers["m"]?.elements(as: UInt16.self))
    }

    /// As the standard's cases of single operators want it.
    @Test func graphsWithoutProductsRoundBehindEachNode() throws {
        var fixture = GraphFixture(seed: 12)
        try fixture.input("x", [20, 30], in: -4...4)
        try fixture.constant("k", [30])
        let narrow = try fixture.rounded(to: .float16)
        let model = narrow.model([node("Add", ["x", "k"], "s"), node("Softmax", ["s"], "y")])
        let compiled = try CompiledModel(model)
        #expect(compiled.plainNodes.map(\.operatorName) == ["Add", "Softmax"])
        let wanted = try ReferenceRunner().run(model, inputs: narrow.inputs)[0]
        let found = try compiled.execute(narrow.inputs)["y"]
        #expect(found?.elements(as: UInt16.self) == wanted.elements(as: UInt16.self))
    }

    @Test func anInputOfUnknownTypeLeavesTheGraphAsItIs() throws {
        let (fixture, nodes) = try Self.network()
        let narrow = try fixture.rounded(to: .float16)
        var model = narrow.model(nodes)
        model.graph.inputs[0].type = nil
        let open = try CompiledModel(model)
        #expect(open.plainNodes.count == nodes.count)
        #expect(try open.execute(narrow.inputs)["y"]?.elementType == .float16)
        let given = try CompiledModel(model, inputs: ["x": TensorType(.float16, extents: [1, 16, 9, 7])])
        #expect(given.plainNodes.map(\.operatorName) == ["Cast", "Cast"])
    }

    /// With no output of float32, the choice of a precision would otherwise compare nothing.
    @Test func differencesOfOutputsOfFewerBitsCount() throws {
        let (fixture, nodes) = try Self.network()
        let narrow = try fixture.rounded(to: .float16)
        var other = narrow
        other.initialisers["b"] = try Tensor(.float16, shape: [10], doubles: [Double](repeating: 2, count: 10))
        let (one, two) = (try CompiledModel(narrow.model(nodes)), try CompiledModel(other.model(nodes)))
        #expect(try two.largestDifference(from: one, on: [narrow.inputs]) > 0.01)
        #expect(try one.largestDifference(from: one, on: [narrow.inputs]) == 0)
    }

    /// They are not held as they lie in the file, and laid out once they are not read again.
    @Test func weightsInTheirFileAreWidenedWhenTheyAreLaidOut() throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let path = folder.file("model.onnx")
        var weights = ModelParts.tensor("w", [64, 64, 3, 3], floats: [])
        weights.dataType = 10
        weights.rawData = (0..<(64 * 64 * 9)).map { Float16($0 % 1013) / 8192 }.withUnsafeBytes { Data($0) }
        let graph = ModelParts.graph(
            inputs: [ModelParts.port("x", type: 10, [1, 64, 5, 5])], outputs: ["y"],
            nodes: [ModelParts.node("Conv", ["x", "w"], ["y"])], initialisers: [weights])
        try (try ModelParts.model(graph).serializedData() as Data).write(to: URL(filePath: path))
        let input = try Tensor(.float16, shape: [1, 64, 5, 5], doubles: (0..<1600).map { Double($0 % 7) })
        func result(_ model: Model, _ laidOut: LaidOutWeights?) throws -> [UInt16] {
            let output = try CompiledModel(model, laidOut: laidOut).execute(["x": input])["y"]
            return try #require(output).elements(as: UInt16.self)
        }

        let wanted = try result(ModelImporter().load(path: path), nil)
        #expect(wanted.contains { $0 != 0 })
        let later = try ModelImporter(weights: .deferred).load(path: path)
        let laidOut = LaidOutWeights(nil)
        #expect(try result(later, laidOut) == wanted)
        #expect(later.graph.initialisers["w"]?.isHeld == false)
        #expect(laidOut.madeByteCount >= 64 * 64 * 9 * 4)

        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.truncate(atOffset: 1000)
        #expect(try result(later, laidOut) == wanted)
        let error = #expect(throws: ModelError.self) { _ = try result(later, nil) }
        #expect(error?.code == .notReadable)
    }
}

extension GraphFixture {
    /// The same with all floats rounded to a type.
    fileprivate func rounded(to type: ElementType) throws -> GraphFixture {
        var result = self
        for (name, tensor) in inputs where tensor.elementType.isFloat {
            result.inputs[name] = try Tensor(type, shape: tensor.shape, doubles: tensor.doubles())
        }
        for (name, tensor) in initialisers where tensor.elementType.isFloat {
            result.initialisers[name] = try Tensor(type, shape: tensor.shape, doubles: tensor.doubles())
        }
        return result
    }
}
