import BackgroundInference
import Foundation
import ModelParts
import ONNXFormat
import SwiftProtobuf
import TemporaryFolders
import Testing

/// Sessions that keep laid out weights for the next one.
@Suite struct SessionCacheTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        var weights = ModelParts.tensor("w", [192, 192, 3, 3], floats: [])
        weights.rawData = (0..<(192 * 192 * 9)).map { Float($0 % 1013) / 9999 }.withUnsafeBytes { Data($0) }
        let graph = ModelParts.graph(
            inputs: [ModelParts.port("x", ["batch", 192, 3, 3])], outputs: ["y"],
            nodes: [ModelParts.node("Conv", ["x", "w"], ["y"])], initialisers: [weights])
        try (try ModelParts.model(graph).serializedData() as Data).write(to: URL(filePath: folder.file("model.onnx")))
    }

    private func result(cacheFolder: String?) async throws -> [Float] {
        let session = try InferenceSession(model: folder.file("model.onnx"), cacheFolder: cacheFolder)
        let input = try InferenceTensor((0..<1728).map { Float($0 % 7) }, shape: [1, 192, 3, 3])
        return try #require(try await session.run(["x": input])["y"]).floats
    }

    private func entries() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.file("cache/weights")).filter { $0.count == 64 }
    }

    private func number(_ path: String) -> UInt {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_ino : 0
    }

    @Test func theNextSessionGivesTheSameAndNoticesDamage() async throws {
        let plain = try await result(cacheFolder: nil)
        #expect(!FileManager.default.fileExists(atPath: folder.file("cache")))
        #expect(try await result(cacheFolder: folder.file("cache")) == plain)
        let path = try folder.file("cache/weights/" + #require(try entries().first))
        let sound = try Data(contentsOf: URL(filePath: path))
        let number = number(path)
        #expect(try await result(cacheFolder: folder.file("cache")) == plain)
        #expect(self.number(path) == number && number != 0)
        var damaged = sound
        damaged[sound.count / 2] ^= 1
        try damaged.write(to: URL(filePath: path))
        #expect(try await result(cacheFolder: folder.file("cache")) == plain)
        #expect(try Data(contentsOf: URL(filePath: path)) == sound)
        #expect(try entries().count == 1)
    }
}
