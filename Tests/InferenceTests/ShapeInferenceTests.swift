import ModelParts
import Foundation
import Inference
import ONNXFormat
import Testing

/// Shapes before a run, with extents that only have a name.
@Suite struct ShapeInferenceTests {
    typealias Parts = ModelParts

    private func shapes(
        inputs: [ONNXValueInfo], _ nodes: [ONNXNode], _ initialisers: [ONNXTensor] = []
    ) throws -> [String: Fact] {
        let graph = Parts.graph(
            inputs: inputs, outputs: [nodes[nodes.count - 1].output[0]], nodes: nodes, initialisers: initialisers)
        return try ShapeInference().infer(try Parts.load(Parts.model(graph, opset: 17)).graph).facts
    }

    @Test func namedExtentsAreCarriedThroughALayer() throws {
        let facts = try shapes(
            inputs: [Parts.port("x", ["batch", 3, 224, 224])],
            [
                Parts.node("Conv", ["x", "w"], ["c"]), Parts.node("Relu", ["c"], ["r"]),
                Parts.node("GlobalAveragePool", ["r"], ["g"]), Parts.node("Flatten", ["g"], ["f"]),
            ], [Parts.tensor("w", [2, 3, 3, 3], floats: Array(repeating: 0, count: 54))])
        #expect(facts["c"]?.type.description == "float32[batch, 2, 222, 222]")
        #expect(facts["g"]?.type.description == "float32[batch, 2, 1, 1]")
        #expect(facts["f"]?.type.description == "float32[batch, 2]")
    }

    @Test func shapeArithmeticOfAttentionHeadsIsFolded() throws {
        // Reshape(x, Concat(Shape(x)[0], Shape(x)[1], 4, 8)), as exporters write it.
        let facts = try shapes(
            inputs: [Parts.port("x", ["batch", "tokens", 32])],
            [
                Parts.node("Shape", ["x"], ["s"]), Parts.node("Gather", ["s", "zero"], ["b"]),
                Parts.node("Slice", ["s", "one", "two"], ["t"]), Parts.node("Unsqueeze", ["b", "zeros"], ["b1"]),
                Parts.node("Concat", ["b1", "t", "heads"], ["target"], [Parts.attribute("axis", int: 0)]),
                Parts.node("Reshape", ["x", "target"], ["y"]),
            ],
            [
                Parts.tensor("zero", [], ints: [0]), Parts.tensor("zeros", [1], ints: [0]),
                Parts.tensor("one", [1], ints: [1]), Parts.tensor("two", [1], ints: [2]),
                Parts.tensor("heads", [2], ints: [4, -1]),
            ])
        #expect(facts["target"]?.extents == [.symbol("batch"), .symbol("tokens"), .known(4), .known(-1)])
        #expect(facts["y"]?.type.description == "float32[batch, tokens, 4, 8]")
    }

    @Test func valuesThatFollowFromTheModelAloneAreComputed() throws {
        let facts = try shapes(
            inputs: [Parts.port("x", [2, 3, 4])],
            [
                Parts.node("Shape", ["x"], ["s"]), Parts.node("ReduceProd", ["s"], ["n"]),
                Parts.node("Cast", ["n"], ["f"], [Parts.attribute("to", int: 1)]),
                Parts.node("Mul", ["f", "half"], ["y"]),
            ], [Parts.tensor("half", [1], floats: [0.5])])
        #expect(facts["s"]?.extents == [.known(2), .known(3), .known(4)])
        #expect(facts["y"]?.type.description == "float32[1]")
    }

    @Test func whatFindsNoRoomIsLeftToRuns() throws {
        let graph = Parts.graph(
            inputs: [], outputs: ["c"],
            nodes: [
                Parts.node("ConstantOfShape", ["shape"], ["a"]), Parts.node("Identity", ["a"], ["same"]),
                Parts.node("ConstantOfShape", ["shape"], ["b"]), Parts.node("ConstantOfShape", ["shape"], ["c"]),
            ], initialisers: [Parts.tensor("shape", [1], ints: [1000])])
        var inference = ShapeInference()
        // For two of 4000 bytes.
        inference.foldedBytes = 8000
        let facts = try inference.infer(try Parts.load(Parts.model(graph)).graph).facts
        #expect(["a", "same", "b", "c"].map { facts[$0]?.value?.count } == [1000, 1000, 1000, nil])
        #expect(facts["c"]?.type.extents == [1000])
    }

    @Test func extentsOfOneRunReplaceTheNames() throws {
        let graph = Parts.graph(
            inputs: [Parts.port("x", ["n", 4])], outputs: ["y"],
            nodes: [Parts.node("Transpose", ["x"], ["y"])])
        let model = try Parts.load(Parts.model(graph))
        let facts = try ShapeInference().infer(
            model.graph, inputs: ["x": Fact(TensorType(.float32, extents: [7, 4]))]
        ).facts
        #expect(facts["y"]?.type.extents == [4, 7])
    }

    @Test func elementTypesWithoutAnImplementationAreListed() throws {
        let graph = Parts.graph(
            inputs: [Parts.port("x", type: 6, [1, 1, 4]), Parts.port("w", type: 6, [1, 1, 1])], outputs: ["y"],
            nodes: [Parts.node("Conv", ["x", "w"], ["y"]), Parts.node("Sigmoid", ["x"], ["z"])])
        let result = try ShapeInference().infer(try Parts.load(Parts.model(graph)).graph)
        #expect(
            result.unsupported == ["int32 for input 0 of operator Conv", "int32 for input 0 of operator Sigmoid"])
    }
}
