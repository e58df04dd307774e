import Foundation
import Inference
import SeededNumbers
import Testing

/// Whole networks of older operator versions (7 to 9), as the ONNX project ships them: real graphs whose weights are made
/// by a few nodes. Expected outputs are those of its files.
@Suite struct LightModelTests {
    @Test(arguments: [
        "bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet",
        "zfnet512",
        "vgg19",
    ])
    func networkGivesTheExpectedOutput(name: String) throws {
        let (model, inputs) = try Self.network(name)
        let inferred = try ShapeInference().infer(model.graph)
        #expect(inferred.unsupported == [])
        let output = try #require(try ReferenceRunner().run(model, inputs: inputs).first)
        #expect(try Self.comparison(name).difference(output, Self.expected(name)) == nil)
        #expect(inferred.facts[model.graph.outputs[0].name]?.type.permits(.float32, output.shape) == true)
    }

    @Test(arguments: [
        "bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet",
        "zfnet512",
        "vgg19",
    ])
    func compiledNetworkGivesTheExpectedOutput(name: String) throws {
        let (model, inputs) = try Self.network(name)
        let compiled = try CompiledModel(model)
        let output = try #require(try compiled.execute(inputs)[model.graph.outputs[0].name])
        #expect(try Self.comparison(name).difference(output, Self.expected(name)) == nil)
    }

    @Test func networksOnAnOpenCLDeviceGiveTheExpectedOutputs() throws {
        let device = try OpenCLFixture.device(.vectors)
        for name in [
            "bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet",
            "zfnet512", "vgg19",
        ] {
            let (model, inputs) = try Self.network(name)
            let compiled = try OpenCLModel(model, on: device)
            #expect(compiled.plainNodes.map(\.operatorName) == [], "\(name)")
            let output = try #require(try compiled.execute(inputs)[model.graph.outputs[0].name])
            #expect(try Self.comparison(name).difference(output, Self.expected(name)) == nil, "\(name)")
        }
    }

    /// The plain operators agree with the CPU lane, see the next test.
    @Test(arguments: OpenCLFixture.Form.allCases)
    func networksOnAnOpenCLDeviceAgreeWithTheCPULane(form: OpenCLFixture.Form) throws {
        let device = try OpenCLFixture.device(form)
        for name in form == .vectors ? ["resnet50", "squeezenet", "densenet121"] : ["squeezenet"] {
            let (output, wanted) = try Self.outputs(name, on: device)
            expectClose(output, wanted, tolerance: 1e-3, name)
            #expect(Set(output.doubles()).count > 500, "\(name)")
        }
    }

    /// What a network with random weights gives on the device, which has a kernel for every node, and on the CPU lane.
    private static func outputs(_ name: String, on device: InferenceDevice) throws -> (device: Tensor, cpu: Tensor) {
        let (network, inputs) = try network(name)
        var model = network
        model.graph = try withRandomWeights(model.graph)
        let compiled = try OpenCLModel(model, on: device)
        #expect(compiled.plainNodes.map(\.operatorName) == [], "\(name)")
        let output = try #require(try compiled.execute(inputs)[compiled.outputs[0]])
        return (output, try #require(try CompiledModel(model).execute(inputs)[compiled.outputs[0]]))
    }

    /// Eleven bits of each value, through up to a hundred layers.
    @Test(arguments: OpenCLFixture.Form.allCases)
    func networksThatADeviceKeepsInHalfTheBitsAgreeToThreeThousandths(form: OpenCLFixture.Form) throws {
        let device = try OpenCLFixture.device(form, storage: .float16)
        let names = ["resnet50", "squeezenet", "densenet121", "bvlc_alexnet", "inception_v1"]
        for name in form == .vectors ? names : ["squeezenet"] {
            let (output, wanted) = try Self.outputs(name, on: device)
            let (own, other) = (output.doubles(), wanted.doubles())
            let scale = other.reduce(0) { max($0, abs($1)) }
            let share = zip(own, other).reduce(0) { max($0, abs($1.0 - $1.1)) } / scale
            #expect(share > 1e-6 && share < 3e-3, "\(name): \(share)")
        }
    }

    /// With random weights, since the cheap ones of the files are all alike.
    @Test(arguments: ["resnet50", "squeezenet", "densenet121"])
    func compiledNetworkAgreesWithThePlainOperators(name: String) throws {
        let (network, inputs) = try Self.network(name)
        var model = network
        model.graph = try Self.withRandomWeights(model.graph)
        let compiled = try CompiledModel(model)
        #expect(compiled.plainNodes.map(\.operatorName) == [])
        // oneDNN's own plain loops are tens of times slower than its kernels.
        #expect(compiled.stepLines.filter { $0.contains(", ref") } == [])
        let output = try #require(try compiled.execute(inputs)[compiled.outputs[0]])
        let plain = try ReferenceRunner().run(model, inputs: inputs)[0]
        expectClose(output, plain, tolerance: 1e-3)
        #expect(Set(plain.doubles()).count > 500)
    }

    /// Convolutions and products keep the variance of what they get (He et al., Delving Deep into Rectifiers), and a last
    /// Softmax, which would blow differences up, is left out.
    private static func withRandomWeights(_ graph: Graph) throws -> Graph {
        var inference = ShapeInference()
        inference.foldedElements = 1 << 27
        var result = try FoldConstants().apply(graph, try inference.infer(graph).facts)
        var random = SeededGenerator(seed: 1)
        for node in result.nodes {
            for (input, name) in node.inputs.enumerated() {
                guard let tensor = result.initialisers[name], tensor.elementType == .float32 else { continue }
                let isWeight = input == 1 && ["Conv", "Gemm"].contains(node.operatorName)
                let inner = node.operatorName == "Gemm" ? tensor.shape.max() : tensor.shape.dropFirst().reduce(1, *)
                let bound = isWeight ? (6 / Double(inner ?? 1)).squareRoot() : 0.5
                // Scales and variances are positive.
                let isScale = node.operatorName == "BatchNormalization" && [1, 4].contains(input)
                let shift = isScale || node.operatorName == "Mul" ? 1.0 : 0
                let values = (0..<tensor.count).map { _ in shift + Double.random(in: -bound...bound, using: &random) }
                result.initialisers[name] = try Tensor(.float32, shape: tensor.shape, doubles: values)
            }
        }
        if let last = result.nodes.last, last.operatorName == "Softmax" {
            result.nodes.removeLast()
            result.outputs = [Graph.Port(last.inputs[0], nil)]
        }
        return result
    }

    private static let folder = ConformanceCase.folder.appending(path: "light")

    /// The model, and the input that the expected outputs were made with: a ramp from 0 towards 1.
    static func network(_ name: String) throws -> (model: Model, inputs: [String: Tensor]) {
        let file = folder.appending(path: "light_\(name).onnx").path
        try #require(FileManager.default.fileExists(atPath: file), "run scripts/fetch-onnx-cases.sh")
        let model = try ModelImporter().load(path: file)
        let port = try #require(model.graph.inputs.first)
        let shape = try #require(port.type?.extents)
        let count = shape.reduce(1, *)
        let input = try Tensor(.float32, shape: shape, doubles: (0..<count).map { Double($0) / Double(count) })
        return (model, [port.name: input])
    }

    private static func expected(_ name: String) throws -> Tensor {
        try ModelImporter().tensor(bytes: Data(contentsOf: folder.appending(path: "light_\(name)_output_0.pb")))
    }

    private static func comparison(_ name: String) -> ConformanceCase {
        ConformanceCase(kind: "light", name: name, relativeTolerance: 2e-3, absoluteTolerance: 1e-6)
    }
}
