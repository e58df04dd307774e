import ModelParts
import Foundation
import Inference
import ONNXFormat
import SeededNumbers
import SwiftProtobuf
import Testing

/// Damaged and malicious files end in one error that names the place, and never in a crash.
@Suite struct HostileModelTests {
    typealias Parts = ModelParts

    /// y = Relu(x · w + b), with a subgraph and shape arithmetic beside it.
    private static func small() -> ONNXModel {
        var condition = Parts.attribute("then_branch", int: 0)
        condition.type = .graph
        condition.g = Parts.graph(inputs: [], outputs: ["t"], nodes: [Parts.node("Identity", ["y0"], ["t"])])
        var other = condition
        other.name = "else_branch"
        other.g = Parts.graph(inputs: [], outputs: ["e"], nodes: [Parts.node("Neg", ["y0"], ["e"])])
        var flag = ONNXTensor()
        flag.name = "flag"
        flag.dataType = 9
        flag.rawData = Data([1])
        return Parts.model(
            Parts.graph(
                inputs: [Parts.port("x", ["n", 2])], outputs: ["z"],
                nodes: [
                    Parts.node("MatMul", ["x", "w"], ["p"]), Parts.node("Add", ["p", "b"], ["s"]),
                    Parts.node("Reshape", ["s", "shape"], ["r"]), Parts.node("Relu", ["r"], ["y0"]),
                    Parts.node("If", ["flag"], ["z"], [condition, other]),
                ],
                initialisers: [
                    Parts.tensor("w", [2, 3], floats: [1, 2, 3, 4, 5, 6]), Parts.tensor("b", [3], floats: [1, 1, 1]),
                    Parts.tensor("shape", [2], ints: [-1, 3]), flag,
                ]))
    }

    private static func survive(_ bytes: Data) {
        do throws(ModelError) {
            let model = try ModelImporter().load(bytes: bytes)
            _ = try ShapeInference().infer(model.graph)
            var runner = ReferenceRunner()
            runner.largestTensorBytes = 1 << 20
            var inputs: [String: Tensor] = [:]
            for port in model.graph.inputs { inputs[port.name] = try Tensor(.float32, shape: [1, 2]) }
            _ = try runner.run(model, inputs: inputs)
        } catch {
            #expect(!error.sentence.isEmpty)
        }
    }

    @Test func theSmallModelIsSound() throws {
        let model = try Parts.load(Self.small())
        let x = try Tensor(.float32, shape: [1, 2], doubles: [1, -1])
        #expect(try ReferenceRunner().run(model, inputs: ["x": x])[0].doubles() == [0, 0, 0])
    }

    @Test func aFileCutAtAnyByteIsAnErrorOrASmallerModel() throws {
        let bytes: Data = try Self.small().serializedData()
        for count in 0..<bytes.count { Self.survive(Data(bytes.prefix(count))) }
        #expect(throws: ModelError.self) { try ModelImporter().load(bytes: Data(bytes.prefix(bytes.count / 2))) }
    }

    @Test(arguments: [1, 2, 3]) func aFileWithChangedBytesNeverCrashes(seed: UInt64) throws {
        let bytes: Data = try Self.small().serializedData()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<3000 {
            var damaged = bytes
            for _ in 0...(random.next() % 3) {
                damaged[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            Self.survive(damaged)
        }
    }

    @Test(
        "one fault, one sentence that names the place",
        arguments: [
            (Fault.missingInput, "Add-s"), (.cycle, "wait for each other"), (.valueTwice, "\"p\" is made twice"),
            (.initialiserTwice, "\"w\" is there twice"), (.inputTwice, "\"x\" is there twice"),
            (.negativeDimension, "\"w\""), (.overflowingDimensions, "\"w\""),
            (.dataTooShort, "\"w\""), (.rawDataTooLong, "\"w\""), (.noSuchType, "\"w\""), (.noOutput, "\"nothing\""),
            (.noOperators, "operator set"), (.noGraph, "graph"), (.wrongAttribute, "Softmax-p"),
            (.tooFewInputs, "Add-s"), (.attributeTwice, "Softmax-p"), (.externalWithoutFolder, "\"w\""),
            (.wrongBranch, "\"elsewhere\""),
        ])
    func faultIsNamed(fault: Fault, part: String) throws {
        let error = try #require(try Parts.error(fault.applied(to: Self.small())))
        #expect(error.sentence.contains(part), "\(error.sentence)")
        #expect(error.code != .unsupported)
    }

    enum Fault: CaseIterable, Sendable {
        case missingInput, cycle, valueTwice, initialiserTwice, inputTwice, negativeDimension, overflowingDimensions
        case dataTooShort, rawDataTooLong, noSuchType, noOutput, noOperators, noGraph, wrongAttribute
        case tooFewInputs, attributeTwice, externalWithoutFolder, wrongBranch

        func applied(to sound: ONNXModel) -> ONNXModel {
            var model = sound
            switch self {
            case .missingInput: model.graph.node[1].input[1] = "nowhere"
            case .cycle: model.graph.node[0].input[0] = "y0"
            case .valueTwice: model.graph.node[1].output[0] = "p"
            case .initialiserTwice: model.graph.initializer.append(model.graph.initializer[0])
            case .inputTwice: model.graph.input.append(model.graph.input[0])
            case .negativeDimension: model.graph.initializer[0].dims = [-2, -3]
            case .overflowingDimensions: model.graph.initializer[0].dims = [1 << 40, 1 << 40]
            case .dataTooShort: model.graph.initializer[0].floatData = [1]
            case .rawDataTooLong: model.graph.initializer[0].rawData = Data(count: 25)
            case .noSuchType: model.graph.initializer[0].dataType = 99
            case .noOutput: model.graph.output[0].name = "nothing"
            case .noOperators: model.opsetImport = []
            case .noGraph: model.clearGraph()
            case .wrongAttribute:
                model.graph.node[0] = Parts.node("Softmax", ["x"], ["p"], [Parts.attribute("axis", float: 1)])
            case .tooFewInputs: model.graph.node[1].input = ["p"]
            case .attributeTwice:
                let axis = Parts.attribute("axis", int: 1)
                model.graph.node[0] = Parts.node("Softmax", ["x"], ["p"], [axis, axis])
            case .externalWithoutFolder: model.graph.initializer[0] = Parts.external("w", [2, 3], location: "w.bin")
            case .wrongBranch: model.graph.node[4].attribute[1].g.node[0].input = ["elsewhere"]
            }
            return model
        }
    }

    @Test func shapesThatDoNotFitAreToldBeforeARun() throws {
        var model = Self.small()
        model.graph.initializer[0] = Parts.tensor("w", [3, 2], floats: [1, 2, 3, 4, 5, 6])
        let graph = try Parts.load(model).graph
        let error = #expect(throws: ModelError.self) { try ShapeInference().infer(graph) }
        #expect(error?.code == .damaged)
        #expect(error?.sentence.contains("MatMul-p") == true)
    }

    @Test func whatDoesNotFitTheInputsIsRefused() throws {
        let model = try Parts.load(Self.small())
        let wrong: [[String: Tensor]] = [
            [:], ["x": try Tensor(.float32, shape: [1, 3])], ["x": try Tensor(.int64, shape: [1, 2])],
            ["x": try Tensor(.float32, shape: [1, 2]), "q": try Tensor(.float32, shape: [1])],
        ]
        for inputs in wrong {
            let error = #expect(throws: ModelError.self) { try ReferenceRunner().run(model, inputs: inputs) }
            #expect(error?.code == .wrongInput)
        }
    }

    @Test func aResultThatIsTooLargeIsRefusedBeforeItIsMade() throws {
        let graph = Parts.graph(
            inputs: [], outputs: ["y"], nodes: [Parts.node("ConstantOfShape", ["s"], ["y"])],
            initialisers: [Parts.tensor("s", [2], ints: [1 << 20, 1 << 20])])
        let model = try Parts.load(Parts.model(graph))
        let inferred = try ShapeInference().infer(model.graph)
        #expect(inferred.facts["y"]?.type.extents == [1 << 20, 1 << 20])
        #expect(inferred.facts["y"]?.value == nil)
        let error = #expect(throws: ModelError.self) { try ReferenceRunner().run(model, inputs: [:]) }
        #expect(error?.code == .tooLarge)
    }

    @Test func anIndexOutsideItsAxisHasNoResult() throws {
        let graph = Parts.graph(
            inputs: [Parts.port("x", [3]), Parts.port("i", type: 7, [1])], outputs: ["y"],
            nodes: [Parts.node("Gather", ["x", "i"], ["y"])])
        let model = try Parts.load(Parts.model(graph))
        for index in [3, -4, .max, .min] {
            let inputs = ["x": try Tensor(.float32, shape: [3]), "i": try Tensor(indices: [index])]
            let error = #expect(throws: ModelError.self) { try ReferenceRunner().run(model, inputs: inputs) }
            #expect(error?.code == .wrongValue)
        }
    }

    /// Found by fuzzing: the shape that is asked for said nothing of the axes that a window needs.
    @Test(arguments: 0...2) func unpoolingNeedsSpatialAxes(rank: Int) throws {
        let shape = Array(repeating: 1, count: rank)
        let graph = Graph(
            inputs: ["x", "i", "s"].map { Graph.Port($0, nil) }, outputs: [Graph.Port("y", nil)],
            nodes: [node("MaxUnpool", ["x", "i", "s"], "y", ["kernel_shape": .ints([2])], opset: 11)])
        let inputs = [
            "x": try Tensor(.float32, shape: shape, doubles: [1]), "i": try Tensor(.int64, shape: shape, doubles: [0]),
            "s": try Tensor(.int64, shape: [rank], doubles: shape.map(Double.init)),
        ]
        let error = #expect(throws: ModelError.self) {
            try ReferenceRunner().run(Model(graph: graph, opsets: ["": 11]), inputs: inputs)
        }
        #expect(error?.code == .damaged)
    }

    @Test func everythingUnsupportedIsToldAtOnce() throws {
        var model = Self.small()
        model.graph.node.append(Parts.node("Flux", ["x"], ["a"]))
        model.graph.node.append(Parts.node("StringSplit", ["x"], ["b", "c"]))
        model.graph.node.append(Parts.node("Relu", ["x"], ["d"], [Parts.attribute("slope", float: 1)]))
        var complex = ONNXTensor()
        complex.name = "complex"
        complex.dataType = 14
        model.graph.initializer.append(complex)
        let error = try #require(try Parts.error(model))
        #expect(error.code == .unsupported)
        #expect(
            error.unsupported == [
                "element type complex64", "operator Flux", "operator StringSplit", "attribute \"slope\" of Relu",
            ])
        let newer = try #require(try Parts.error(Parts.model(Self.small().graph, opset: 29)))
        #expect(newer.unsupported == ["operators of version 29 (known: up to 28)"])
    }
}
