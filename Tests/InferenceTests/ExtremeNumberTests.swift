import Inference
import ModelParts
import ONNXFormat
import SwiftProtobuf
import Testing

/// Attributes and extents that no sound model has, as fuzzing found them: an error or a result, at once.
@Suite struct ExtremeNumberTests {
    typealias Parts = ModelParts

    /// What the shape rule says of a node whose inputs have these types.
    private func inferred(
        _ name: String, _ attributes: [String: Attribute], _ shapes: [[Int]]
    ) throws -> [Int]? {
        let names = shapes.indices.map { "i\($0)" }
        let graph = Graph(
            inputs: zip(names, shapes).map { Graph.Port($0, TensorType(.float32, extents: $1)) },
            outputs: [Graph.Port("y", nil)],
            nodes: [Node(name, opset: 19, inputs: names, outputs: ["y"], attributes: attributes)])
        return try ShapeInference().infer(graph).facts["y"]?.type.extents
    }

    private func outcome(
        _ name: String, _ inputs: [Tensor], _ attributes: [String: Attribute] = [:]
    ) throws -> Tensor {
        let names = inputs.indices.map { "i\($0)" }
        let graph = Graph(
            inputs: names.map { Graph.Port($0, nil) }, outputs: [Graph.Port("y", nil)],
            nodes: [Node(name, opset: 19, inputs: names, outputs: ["y"], attributes: attributes)])
        return try ReferenceRunner().run(
            Model(graph: graph, opsets: ["": 19]), inputs: Dictionary(uniqueKeysWithValues: zip(names, inputs)))[0]
    }

    @Test func extentsBeyondCountingAreTooLarge() throws {
        let same: [String: Attribute] = ["auto_pad": .string("SAME_UPPER"), "strides": .ints([2])]
        for name in ["Conv", "ConvTranspose"] {
            let error = #expect(throws: ModelError.self) { try inferred(name, same, [[1, 1, 1 << 62], [1, 1, 3]]) }
            #expect(error?.code == .tooLarge, "\(name)")
        }
    }

    @Test func anExtentNearTheLargestIsNotSplit() throws {
        let graph = Graph(
            inputs: [Graph.Port("x", TensorType(.float32, extents: [.max - 1]))], outputs: [Graph.Port("y", nil)],
            nodes: [Node("Split", opset: 18, inputs: ["x"], outputs: ["y", "y1", "y2"])])
        let error = #expect(throws: ModelError.self) { try ShapeInference().infer(graph) }
        #expect(error?.code == .tooLarge)
    }

    @Test func groupsOfOffsetsBeyondCountingAreDamaged() throws {
        let error = #expect(throws: ModelError.self) {
            try inferred("DeformConv", ["offset_group": .int(.max)], [[1, 0, 4, 4], [1, 0, 2, 2], [1, 8, 3, 3]])
        }
        #expect(error?.code == .damaged)
    }

    @Test func signalsNeedOneNumberWhereTheyTakeOne() throws {
        let (none, one) = (try Tensor(indices: []), try Tensor(indices: [1], shape: []))
        let number = try Tensor(.float32, shape: [], doubles: [1])
        let signal = try Tensor(.float32, shape: [1, 8, 1])
        for (name, inputs) in [
            ("MelWeightMatrix", [none, one, one, number, number]),
            ("STFT", [signal, none, try Tensor(.float32, shape: [4])]),
        ] {
            let error = #expect(throws: ModelError.self) { try outcome(name, inputs) }
            #expect(error?.code == .damaged, "\(name)")
        }
    }

    @Test func valuesThatCannotBeCountedInBytesLeaveTheSummaryOpen() throws {
        let graph = Graph(
            inputs: [Graph.Port("x", TensorType(.float32, extents: [1 << 61]))], outputs: [Graph.Port("y", nil)],
            nodes: [Node("Relu", opset: 17, inputs: ["x"], outputs: ["y"])])
        let summary = try ModelSummary(Model(graph: graph, opsets: ["": 17]))
        #expect(summary.liveBytes == nil && summary.multiplyAdds == 0)
    }

    /// Only taps over data take time.
    @Test func aWindowFarLargerThanItsDataIsComputed() throws {
        let data = try Tensor(.float32, shape: [1, 1, 4], doubles: [1, 4, 2, 3])
        let attributes: [String: Attribute] = ["kernel_shape": .ints([1 << 30]), "pads": .ints([1 << 29, 1 << 29])]
        #expect(try outcome("MaxPool", [data], attributes).doubles() == [4, 4, 4, 4, 4])
        let dilated: [String: Attribute] = [
            "kernel_shape": .ints([3]), "dilations": .ints([2]), "pads": .ints([2, 2]), "strides": .ints([3]),
        ]
        #expect(try outcome("MaxPool", [data], dilated).doubles() == [2, 4])
    }

    @Test func anEmptyResultTakesNoTimeWhateverTheOtherExtents() throws {
        let data = try Tensor(.float32, shape: [0, 1, 1 << 40])
        #expect(try outcome("MaxPool", [data], ["kernel_shape": .ints([1])]).shape == [0, 1, 1 << 40])
        let (bins, length) = (try Tensor(indices: [0], shape: []), try Tensor(indices: [.max], shape: []))
        let frequency = try Tensor(.float32, shape: [], doubles: [1])
        let weights = try outcome(
            "MelWeightMatrix", [bins, length, try Tensor(indices: [1], shape: []), frequency, frequency])
        #expect(weights.shape == [1 << 62, 0])
    }

    @Test func placesOfNothingAreNotPutBackBeyondCounting() throws {
        let data = try Tensor(.float32, shape: [0, 1, 1 << 62])
        let indices = try Tensor(.int64, shape: [0, 1, 1 << 62])
        let attributes: [String: Attribute] = ["kernel_shape": .ints([1]), "strides": .ints([4])]
        let wanted = #expect(throws: ModelError.self) {
            try outcome("MaxUnpool", [data, indices, try Tensor(indices: [1, 1, 4])], attributes)
        }
        #expect(wanted?.code == .wrongValue)
        let plain = #expect(throws: ModelError.self) { try outcome("MaxUnpool", [data, indices], attributes) }
        #expect(plain?.code == .tooLarge)
    }

    /// Only the tap in the middle lies on the result; the others lie further from it than can be counted.
    @Test func tapsFarOutsideTheResultAreLeftOut() throws {
        let taps = 65_537
        let data = try Tensor(.float32, shape: [1, 1, 1, 1], doubles: [3])
        let weights = try Tensor(.float32, shape: [1, 1, taps, 1], doubles: [Double](repeating: 1, count: taps))
        let attributes: [String: Attribute] = [
            "dilations": .ints([(1 << 31) - 1, 1]), "output_shape": .ints([1, 1 << 18]),
        ]
        let result = try outcome("ConvTranspose", [data, weights], attributes)
        #expect(result.shape == [1, 1, 1, 1 << 18])
        let values = result.doubles()
        #expect(values[0] == 3 && values.reduce(0, +) == 3)
    }

    @Test func whatIsComputedOfNothingTakesNoTimeWhateverTheOtherExtents() throws {
        let line = try outcome(
            "ConvTranspose", [Tensor(.float32, shape: [1, 0, 1 << 60]), Tensor(.float32, shape: [0, 1, 1])],
            ["output_shape": .ints([4])])
        #expect(line.doubles() == [0, 0, 0, 0])
        let plane = try outcome(
            "Conv", [Tensor(.float32, shape: [1, 0, 1, 1]), Tensor(.float32, shape: [1, 0, 1 << 30, 1 << 30])],
            ["pads": .ints([1 << 30, 1 << 30, 0, 0])])
        #expect(plane.doubles() == [0, 0, 0, 0])
        let boxes = try outcome(
            "NonMaxSuppression", [Tensor(.float32, shape: [1 << 60, 0, 4]), Tensor(.float32, shape: [1 << 60, 1, 0])])
        #expect(boxes.shape == [0, 3])
        let loss = try outcome(
            "SoftmaxCrossEntropyLoss",
            [Tensor(.float32, shape: [1 << 60, 1, 0]), Tensor(.int64, shape: [1 << 60, 0])],
            ["reduction": .string("sum")])
        #expect(loss.doubles() == [0])
        let region = try outcome(
            "RoiAlign",
            [
                Tensor(.float32, shape: [1, 1, 1 << 62, 0]), Tensor(.float32, shape: [1, 4], doubles: [0, 0, 8, 8]),
                Tensor(indices: [0]),
            ])
        #expect(region.doubles() == [0])
    }

    /// Filters have one scale, or one each: others have no filter's number.
    @Test func scalesOfFiltersAreAList() throws {
        func convolved(_ scales: [Int]) throws -> Tensor {
            let one = try Tensor(.float32, shape: [], doubles: [1])
            let zero = try Tensor(.uint8, shape: [], doubles: [0])
            return try outcome(
                "QLinearConv",
                [
                    Tensor(.uint8, shape: [1, 2, 1, 1], doubles: [2, 3]), one, zero,
                    Tensor(.uint8, shape: [8, 2, 1, 1], doubles: [Double](repeating: 1, count: 16)),
                    Tensor(.float32, shape: scales, doubles: [Double](repeating: 2, count: scales.reduce(1, *))),
                    zero, one, zero,
                ])
        }
        for scales: [Int] in [[], [1], [8]] {
            #expect(try convolved(scales).doubles() == [Double](repeating: 10, count: 8), "\(scales)")
        }
        for scales: [Int] in [[1, 2, 1, 1], [8, 1, 1, 1], [2]] {
            let error = #expect(throws: ModelError.self) { try convolved(scales) }
            #expect(error?.code == .damaged, "\(scales)")
        }
    }

    @Test func aCutBackwardsBeginsAtAPlaceThatThereIs() throws {
        func cut(_ count: Int, from start: Int, to end: Int) throws -> [Double] {
            let data = try Tensor(.float32, shape: [count], doubles: (0..<count).map { Double($0) })
            let numbers = try [start, end, 0, -1].map { try Tensor(indices: [$0]) }
            return try outcome("Slice", [data] + numbers).doubles()
        }
        #expect(try cut(5, from: -9, to: -9) == [0])
        #expect(try cut(5, from: .min, to: .min) == [0])
        #expect(try cut(5, from: 9, to: -9) == [4, 3, 2, 1, 0])
        #expect(try cut(5, from: 2, to: 0) == [2, 1])
        #expect(try cut(0, from: -9, to: -9) == [])
    }

    @Test func whatIsChosenOfNothingTakesNoTimeWhateverTheOtherExtents() throws {
        for shape in [[1 << 40, 0], [0, 1 << 40]] {
            let input = try Tensor(.float32, shape: shape)
            let axis: [String: Attribute] = ["axis": .int(shape[0] == 0 ? 0 : 1)]
            #expect(try outcome("Unique", [input], axis).shape == shape)
            #expect(try outcome("Compress", [input, Tensor(shape: [0], flags: [])], axis).shape == shape)
            let error = #expect(throws: ModelError.self) {
                try outcome("Unique", [input], ["axis": .int(shape[0] == 0 ? 1 : 0)])
            }
            #expect(error?.code == .tooLarge)
        }
        #expect(try outcome("Unique", [Tensor(.float32, shape: [3, 0])], ["axis": .int(0)]).shape == [1, 0])
    }

    @Test func noTextIsMadeOfNumbers() throws {
        let integers = #expect(throws: ModelError.self) { try Tensor(.string, shape: [1], integers: [1]) }
        #expect(integers?.code == .unsupported)
        let doubles = #expect(throws: ModelError.self) { try Tensor(.string, shape: [1], doubles: [1]) }
        #expect(doubles?.code == .unsupported)
    }

    @Test func anEmptyFactorFitsNoElement() throws {
        let (data, none) = (try Tensor(.float32, shape: [2, 1], doubles: [1, 2]), try Tensor(.float32, shape: [0]))
        for name in ["PRelu", "LayerNormalization"] {
            let error = #expect(throws: ModelError.self) { try outcome(name, [data, none]) }
            #expect(error?.code == .wrongValue, "\(name)")
        }
    }

    @Test func aScalarChoosesNoPlace() throws {
        let data = try Tensor(.float32, shape: [2, 2])
        let index = try Tensor(indices: [1], shape: [])
        let error = #expect(throws: ModelError.self) { try outcome("GatherND", [data, index]) }
        #expect(error?.code == .damaged)
    }

    @Test func moreAxesAreChosenThanAnyTensorHas() throws {
        let graph = Graph(
            inputs: [
                Graph.Port("x", TensorType(.float32, extents: [4, 4, 4])),
                Graph.Port("i", TensorType(.int64, extents: [4, 4, .max - 1])),
            ],
            outputs: [Graph.Port("y", nil)],
            nodes: [
                Node("GatherND", opset: 19, inputs: ["x", "i"], outputs: ["y"], attributes: ["batch_dims": .int(2)])
            ])
        let error = #expect(throws: ModelError.self) { try ShapeInference().infer(graph) }
        #expect(error?.code == .damaged)
    }

    @Test(arguments: ["Concat", "Einsum", "Max", "Sum"]) func noneOfManyInputsIsLeftOut(name: String) throws {
        let node = Parts.node(name, ["x", "", "x"], ["y"])
        let graph = Parts.graph(inputs: [Parts.port("x", [2])], outputs: ["y"], nodes: [node])
        let error = try #require(try Parts.error(Parts.model(graph)))
        #expect(error.code == .damaged && error.sentence.contains("left out"))
    }

    /// A loop with a body that passes its inputs, collecting the text `s` on the way.
    private func loop(condition: String, times: Int) throws -> [Tensor] {
        let body = Graph(
            inputs: [Graph.Port("i", TensorType(.int64, [])), Graph.Port("c", TensorType(.bool, []))],
            outputs: [Graph.Port(condition, nil), Graph.Port("t", TensorType(.string, []))],
            nodes: [Node("Identity", opset: 19, inputs: ["s"], outputs: ["t"])])
        let graph = Graph(
            inputs: [], outputs: [Graph.Port("y", nil)],
            initialisers: [
                "s": try Tensor(strings: ["a"], shape: []), "n": try Tensor(indices: [times], shape: []),
                "go": try Tensor(shape: [], flags: [true]),
            ],
            nodes: [Node("Loop", opset: 19, inputs: ["n", "go"], outputs: ["y"], attributes: ["body": .graph(body)])])
        return try ReferenceRunner().run(Model(graph: graph, opsets: ["": 19]), inputs: [:])
    }

    @Test func aLoopCollectsTextsAndAsksForATruthValue() throws {
        #expect(try loop(condition: "c", times: 2)[0].strings == ["a", "a"])
        let none = try loop(condition: "c", times: 0)[0]
        #expect(none.elementType == .string && none.shape == [0])
        let error = #expect(throws: ModelError.self) { try loop(condition: "t", times: 2) }
        #expect(error?.code == .wrongValue)
    }

    /// Parts without elements take no memory, so their number is not bounded by it.
    @Test func aScanOfVeryManyPartsIsRefused() throws {
        let body = Graph(
            inputs: [Graph.Port("p", nil)], outputs: [Graph.Port("q", nil)],
            nodes: [Node("Identity", opset: 19, inputs: ["p"], outputs: ["q"])])
        func scan(_ shape: [Int], most: Int = .max) throws -> [Tensor] {
            let graph = Graph(
                inputs: [Graph.Port("x", nil)], outputs: [Graph.Port("y", nil)],
                nodes: [
                    Node(
                        "Scan", opset: 19, inputs: ["x"], outputs: ["y"],
                        attributes: ["body": .graph(body), "num_scan_inputs": .int(1)])
                ])
            var runner = ReferenceRunner()
            runner.largestIterations = most
            return try runner.run(
                Model(graph: graph, opsets: ["": 19]), inputs: ["x": try Tensor(.float32, shape: shape)])
        }
        #expect(try scan([300, 0])[0].shape == [300, 0])
        #expect(try scan([300, 1])[0].shape == [300, 1])
        let endless = #expect(throws: ModelError.self) { try scan([1 << 60, 0]) }
        #expect(endless?.code == .tooLarge && endless?.sentence.contains("without elements") == true)
        let long = #expect(throws: ModelError.self) { try scan([300, 1], most: 299) }
        #expect(long?.code == .tooLarge)
    }
}
