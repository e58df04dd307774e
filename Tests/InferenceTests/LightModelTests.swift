import Foundation
import Inference
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
        let folder = ConformanceCase.folder.appending(path: "light")
        let file = folder.appending(path: "light_\(name).onnx").path
        try #require(FileManager.default.fileExists(atPath: file), "run scripts/fetch-onnx-cases.sh")
        let model = try ModelImporter().load(path: file)
        let port = try #require(model.graph.inputs.first)
        let shape = try #require(port.type?.extents)
        // The input that the expected outputs were made with: a ramp from 0 towards 1.
        let count = shape.reduce(1, *)
        let input = try Tensor(.float32, shape: shape, doubles: (0..<count).map { Double($0) / Double(count) })
        let inferred = try ShapeInference().infer(model.graph)
        #expect(inferred.unsupported == [])
        let output = try #require(try ReferenceRunner().run(model, inputs: [port.name: input]).first)
        let expected = try ModelImporter().tensor(
            bytes: Data(contentsOf: folder.appending(path: "light_\(name)_output_0.pb")))
        let comparison = ConformanceCase(kind: "light", name: name, relativeTolerance: 2e-3, absoluteTolerance: 1e-6)
        #expect(comparison.difference(output, expected) == nil)
        #expect(inferred.facts[model.graph.outputs[0].name]?.type.permits(.float32, output.shape) == true)
    }
}
