import Foundation
import Inference
import ModelParts
import ONNXFormat
import SwiftProtobuf
import TemporaryFolders
import Testing

/// Weights that are left in their files until somebody looks at them.
@Suite struct DeferredWeightsTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("model.onnx") }

    init() throws {
        folder = try TemporaryFolder()
        var weights = ModelParts.tensor("w", [64, 64, 3, 3], floats: [])
        weights.rawData = (0..<(64 * 64 * 9)).map { Float($0 % 1013) / 9999 }.withUnsafeBytes { Data($0) }
        let graph = ModelParts.graph(
            inputs: [ModelParts.port("x", [1, 64, 5, 5])], outputs: ["y"],
            nodes: [ModelParts.node("Conv", ["x", "w"], ["y"])], initialisers: [weights])
        try (try ModelParts.model(graph).serializedData() as Data).write(to: URL(filePath: path))
    }

    private func result(_ model: Model, _ laidOut: LaidOutWeights?) throws(ModelError) -> [Float]? {
        let input = try Tensor(.float32, shape: [1, 64, 5, 5], elements: (0..<1600).map { Float($0 % 7) })
        return try CompiledModel(model, laidOut: laidOut).execute(["x": input])["y"]?.elements(as: Float.self)
    }

    @Test func theyAreThoseOfTheFile() throws {
        let (now, later) = (
            try ModelImporter().load(path: path), try ModelImporter(weights: .deferred).load(path: path)
        )
        let wanted = try #require(try result(now, nil))
        #expect(wanted.contains { $0 != 0 })
        #expect(try result(later, nil) == wanted)
        #expect(later.graph.initialisers["w"]?.byteCount == now.graph.initialisers["w"]?.byteCount)
        #expect(
            later.graph.initialisers["w"]?.elements(as: Float.self)
                == now.graph.initialisers["w"]?.elements(as: Float.self))
    }

    /// The file loses its end: whoever still needs weights is told, and whoever has them laid out does not notice.
    @Test func aReadThatFailsIsToldWhenTheModelIsPrepared() throws {
        let before = LaidOutWeights(nil)
        let wanted = try #require(try result(ModelImporter().load(path: path), before))
        #expect(before.madeByteCount > 0)
        let model = try ModelImporter(weights: .deferred).load(path: path)
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.truncate(atOffset: 1000)
        #expect(try result(model, before) == wanted)
        let error = #expect(throws: ModelError.self) { try self.result(model, nil) }
        #expect(error?.code == .notReadable)
        // What it holds is not taken for weights later either.
        #expect(throws: ModelError.self) { try self.result(model, nil) }
    }

    /// Other bytes in the same place would be weights of another model.
    @Test func aFileThatIsWrittenToIsNotReadOn() throws {
        let model = try ModelImporter(weights: .deferred).load(path: path)
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        // Within the weights, which are nearly all of the file.
        try file.seek(toOffset: 10_000)
        try file.write(contentsOf: Data(repeating: 1, count: 4096))
        try file.close()
        let error = #expect(throws: ModelError.self) { try self.result(model, nil) }
        #expect(error?.code == .notReadable)
    }

    /// What is laid out as a primitive wants it is not kept as it lies in the file as well.
    @Test func laidOutWeightsAreNotHeldTwice() throws {
        let model = try ModelImporter(weights: .deferred).load(path: path)
        let weights = try #require(model.graph.initialisers["w"])
        _ = try result(model, nil)
        #expect(!weights.isHeld)
        _ = weights.elements(as: Float.self)
        #expect(weights.isHeld)
    }
}
