import Foundation
import Inference
import Testing

/// What is told of a model before it is run.
@Suite struct ModelSummaryTests {
    /// A convolution of 3 to 8 channels with windows of 3 by 3, and a matrix product behind it.
    private func model(side: Int = 16, output: String = "y") throws -> Model {
        let floats = { (shape: [Int]) throws(ModelError) -> Tensor in
            try Tensor(.float32, shape: shape, doubles: Array(repeating: 0.5, count: shape.reduce(1, *)))
        }
        let graph = Graph(
            inputs: [
                Graph.Port("x", TensorType(.float32, [.symbol("batch"), .known(3), .known(side), .known(side)]))
            ], outputs: [Graph.Port(output, nil)],
            initialisers: ["w": try floats([8, 3, 3, 3]), "m": try floats([8, 10])],
            nodes: [
                Node(
                    "Conv", opset: 17, inputs: ["x", "w"], outputs: ["c"], attributes: ["pads": .ints([1, 1, 1, 1])]),
                Node("Relu", opset: 17, inputs: ["c"], outputs: ["r"]),
                Node("GlobalAveragePool", opset: 17, inputs: ["r"], outputs: ["p"]),
                Node("Flatten", opset: 17, inputs: ["p"], outputs: ["f"]),
                Node("MatMul", opset: 17, inputs: ["f", "m"], outputs: ["y"]),
            ])
        return Model(graph: graph, opsets: ["": 17], producer: "a test")
    }

    @Test func workAndMemoryFollowFromTheShapes() throws {
        let summary = try ModelSummary(try model(), extents: ["batch": 2])
        #expect(summary.inputs.map(\.shape) == [["2", "3", "16", "16"]])
        #expect(summary.outputs.map(\.shape) == [["2", "10"]])
        #expect(summary.parameters == 216 + 80 && summary.parameterBytes == 4 * 296)
        let convolution = 2 * 8 * 16 * 16 * 27
        #expect(summary.operators.map(\.name) == ["Conv", "MatMul", "Flatten", "GlobalAveragePool", "Relu"])
        #expect(summary.operators.first?.multiplyAdds == convolution)
        #expect(summary.multiplyAdds == convolution + 2 * 10 * 8)
        // Before and after the activation, with the input given up.
        #expect(summary.liveBytes == 2 * (2 * 8 * 16 * 16) * 4)
    }

    /// Some exporters keep weights in Constant nodes, in subgraphs too.
    @Test func weightsInNodesAreParameters() throws {
        let weight = try Tensor(.float32, shape: [8, 10], doubles: Array(repeating: 0.5, count: 80))
        func constant(_ name: String, _ value: Attribute) -> Node {
            Node("Constant", opset: 17, inputs: [], outputs: [name], attributes: ["value": value])
        }
        let branch = Graph(
            inputs: [], outputs: [Graph.Port("b", nil)], initialisers: ["i": try Tensor(.float32, shape: [3])],
            nodes: [constant("b", .tensor(try Tensor(.float16, shape: [5])))])
        var model = try model()
        model.graph.initialisers["m"] = nil
        model.graph.initialisers["flag"] = try Tensor(shape: [], flags: [true])
        model.graph.nodes.insert(constant("m", .tensor(weight)), at: 0)
        model.graph.nodes.append(
            Node(
                "If", opset: 17, inputs: ["flag"], outputs: ["f2"],
                attributes: ["then_branch": .graph(branch), "else_branch": .graph(branch)]))
        let summary = try ModelSummary(model, extents: ["batch": 2])
        #expect(summary.parameters == 216 + 80 + 1 + 2 * (3 + 5))
        #expect(summary.parameterBytes == 4 * 296 + 1 + 2 * (12 + 10))
    }

    @Test func openExtentsLeaveWorkOpen() throws {
        let summary = try ModelSummary(try model())
        #expect(summary.outputs.map(\.shape) == [["batch", "10"]])
        #expect(summary.multiplyAdds == nil && summary.liveBytes == nil && summary.parameters == 296)
        let error = #expect(throws: ModelError.self) { try ModelSummary(try model(), extents: ["Batch": 2]) }
        #expect(error?.code == .wrongInput && error?.sentence.contains("Batch") == true)
    }

    /// 216 multiply-adds for each place, and 8 numbers of the convolution's output.
    @Test(arguments: [
        (16, "y", 64, 8, 8), (2048, "y", 44, 2, 1), (8192, "y", 8, 1, 1), (512, "y", 64, 8, 1), (512, "c", 8, 8, 1),
        (256, "c", 16, 8, 1),
    ])
    func rowsOfABatchFollowFromTheModel(side: Int, output: String, most: Int, fewest: Int, atOnce: Int) throws {
        let batches = try model(side: side, output: output).rowBatches(extents: [:], usual: 8, most: 64)
        #expect(batches == RowBatches(most: most, fewest: fewest, atOnce: atOnce))
    }

    @Test(arguments: [(10, [9, 1]), (320, [21, 18, 18]), (100_000, [51, 51, 51]), (0, []), (8, [8])])
    func batchesNeedNoFillingUpButForTheLast(count: Int, first: [Int]) throws {
        let batches = RowBatches(most: 50, fewest: 8, atOnce: 3)
        let ranges = try #require(batches.ranges(of: count, share: 16, limit: 10_000))
        #expect(ranges.map(\.count).starts(with: first))
        #expect(ranges.dropLast().allSatisfy { $0.count % 3 == 0 })
        #expect(ranges.flatMap { $0 }.elementsEqual(0..<count))
    }

    @Test func batchesBecomeSmallerTowardsTheEnd() throws {
        let batches = RowBatches(most: 128, fewest: 8, atOnce: 2)
        let ranges = try #require(batches.ranges(of: 10_000, share: 16, limit: 10_000))
        #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.count >= $1.count })
        #expect(ranges.suffix(17).dropLast().allSatisfy { $0.count == 8 })
        #expect(batches.ranges(of: 10_000, share: 16, limit: ranges.count) == ranges)
        #expect(batches.ranges(of: 10_000, share: 16, limit: ranges.count - 1) == nil)
        // Of an absurd number nothing is made but what is allowed.
        #expect(batches.ranges(of: .max, share: 16, limit: 10) == nil)
    }

    @Test func modelsThatLeaveExtentsOpenSayNothingOfBatches() throws {
        var model = try model()
        model.graph.inputs[0].type?.shape?[2] = .symbol("height")
        #expect(try model.rowBatches(extents: [:], usual: 8, most: 64) == nil)
        #expect(try model.rowBatches(extents: ["height": 16], usual: 8, most: 64)?.most == 64)
        let given = try model.rowBatches(extents: ["height": 16, "batch": 3], usual: 8, most: 64)
        #expect(given?.atOnce == 3)
        model.graph.inputs[0].type?.shape?[0] = .known(4)
        #expect(try model.rowBatches(extents: ["height": 16], usual: 8, most: 64)?.atOnce == 4)
    }

    /// He et al. 2015 count 3.8 thousand million multiply-adds, Simonyan and Zisserman 2014 have 19.6. The weights of these
    /// files are made when they run.
    @Test(arguments: [
        ("resnet50", 3_800_000_000...4_200_000_000), ("vgg19", 19_500_000_000...19_700_000_000),
    ])
    func knownNetworks(name: String, work: ClosedRange<Int>) throws {
        let path = ConformanceCase.folder.appending(path: "light/light_\(name).onnx").path
        let summary = try ModelSummary(try ModelImporter().load(path: path))
        let found = try #require(summary.multiplyAdds)
        #expect(work.contains(found), "\(found)")
    }
}
