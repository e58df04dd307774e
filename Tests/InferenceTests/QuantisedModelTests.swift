import Foundation
import Inference
import OneDNNKit
import Testing

/// Networks that ONNX Runtime has quantised, against what it computes with them. Scripts/make_quantised.py makes both.
@Suite struct QuantisedModelTests {
    private func path(_ name: String) throws -> String {
        try #require(Bundle.module.path(forResource: name, ofType: nil, inDirectory: "Fixtures"), "\(name) is missing")
    }

    private func tensor(_ name: String) throws -> Tensor {
        try ModelImporter().tensor(bytes: Data(contentsOf: URL(filePath: path(name))))
    }

    /// Rounding differs where a sum is a tie in one order of the arithmetic and none in the other.
    @Test(arguments: ["unsigned", "signed"]) func itGivesWhatONNXRuntimeGives(name: String) throws {
        let model = try ModelImporter().load(path: path("\(name).onnx"))
        let (pictures, results) = (try tensor("\(name).input.pb"), try tensor("\(name).output.pb"))
        let compiled = try CompiledModel(model)
        #expect(compiled.plainNodes.map(\.place) == [])
        let run = try CompiledModel.Run(compiled)
        let size = pictures.count / pictures.shape[0]
        var found: [Float] = []
        for start in stride(from: 0, to: pictures.count, by: size) {
            let picture = pictures.elements(as: Float.self)[start..<(start + size)]
            let input = try Tensor(.float32, shape: [1] + pictures.shape[1...], elements: Array(picture))
            found += try #require(try run.execute(["image": input]).values.first).elements(as: Float.self)
        }
        let wanted = results.elements(as: Float.self)
        try #require(found.count == wanted.count)
        // The output was quantised: its elements are whole levels.
        let last = try #require(model.graph.nodes.last { $0.operatorName == "DequantizeLinear" })
        let level = try #require(model.graph.initialisers[last.inputs[1]]).elements(as: Float.self)[0]
        let levels = zip(found, wanted).map { Int((abs($0 - $1) / level).rounded()) }
        #expect(levels.max() ?? 0 <= 1, "\(levels)")
        #expect(levels.count { $0 > 0 } * 10 <= levels.count, "\(levels)")
    }

    @Test(
        .enabled(if: (try? CPUEngine())?.hasExactInt8 ?? true, "the processor has no exact sums of 8-bit products"),
        arguments: ["unsigned", "signed"])
    func everyLayerComputesWithIntegers(name: String) throws {
        let compiled = try CompiledModel(try ModelImporter().load(path: path("\(name).onnx")))
        let layers = compiled.stepLines.filter { $0.contains("convolution") || $0.contains("product") }
        #expect(layers.count == 7)
        #expect(layers.allSatisfy { $0.contains("int8") }, "\(layers)")
    }
}
