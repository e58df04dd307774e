import Foundation
import Inference
import ModelParts
import ONNXFormat
import SeededNumbers
import SwiftProtobuf
import TemporaryFolders
import Testing

/// Models whose weights are read to where they are needed, past the parser.
@Suite struct ModelOutlineTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Large and small initialisers, some as raw bytes.
    private static func bytes() throws -> Data {
        func raw(_ name: String, _ count: Int) -> ONNXTensor {
            var tensor = ModelParts.tensor(name, [Int64(count)], floats: [])
            tensor.rawData = (0..<count).map { Float($0 % 1013) / 7 }.withUnsafeBytes { Data($0) }
            return tensor
        }
        let listed = ModelParts.tensor("listed", [18_000], floats: (0..<18_000).map { Float($0) })
        let graph = ModelParts.graph(
            inputs: [ModelParts.port("x", [1])], outputs: ["y"],
            nodes: [ModelParts.node("Add", ["x", "small"], ["y"])],
            initialisers: [raw("first", 17_000), raw("small", 1), listed, raw("second", 16_384)])
        return try ModelParts.model(graph).serializedData()
    }

    private func file(_ bytes: Data) throws -> String {
        let path = folder.file("model.onnx")
        try bytes.write(to: URL(filePath: path))
        return path
    }

    @Test func weightsAreThoseOfTheWholeFile() throws {
        let bytes = try Self.bytes()
        let found = try ModelImporter().load(path: try file(bytes)).graph
        let wanted = try ModelImporter().load(bytes: bytes).graph
        #expect(Set(found.initialisers.keys) == ["first", "small", "listed", "second"])
        for (name, tensor) in wanted.initialisers {
            #expect(found.initialisers[name]?.shape == tensor.shape)
            #expect(found.initialisers[name]?.elements(as: Float.self) == tensor.elements(as: Float.self), "\(name)")
        }
        #expect(found.nodes.map(\.operatorName) == wanted.nodes.map(\.operatorName))
    }

    @Test func withoutWeightsLargeOnesAreZeros() throws {
        let path = try file(try Self.bytes())
        let full = try ModelImporter().load(path: path).graph.initialisers
        let found = try ModelImporter(weights: .leftOut).load(path: path).graph.initialisers
        #expect(found.mapValues(\.shape) == full.mapValues(\.shape))
        for name in ["small", "listed"] {
            #expect(found[name]?.elements(as: Float.self) == full[name]?.elements(as: Float.self))
        }
        for name in ["first", "second"] {
            #expect(full[name]?.elements(as: Float.self).contains { $0 != 0 } == true)
            #expect(found[name]?.elements(as: Float.self).allSatisfy { $0 == 0 } == true)
        }
    }

    /// Heads of fields that are cut, changed, repeated or moved, and bytes of weights that are.
    @Test(arguments: 1...20) func damageIsToldAsOfTheWholeFile(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let sound = try Self.bytes()
        // Where there are heads rather than weights.
        let heads = [0..<64, (sound.count - 65_700)..<(sound.count - 65_400), (sound.count - 80)..<sound.count]
        for _ in 0..<40 {
            var bytes = sound
            let place =
                Bool.random(using: &random)
                ? Int.random(in: heads[Int.random(in: 0..<3, using: &random)], using: &random)
                : Int.random(in: 0..<sound.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes = bytes.prefix(place)
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
            default: bytes.append(sound)
            }
            let whole = Result { () throws(ModelError) in try ModelImporter().load(bytes: bytes, folder: folder.path) }
            let path = try file(bytes)
            let found = Result { () throws(ModelError) in try ModelImporter().load(path: path) }
            let note = "seed \(seed), byte \(place)"
            switch (whole, found) {
            case (.success(let one), .success(let other)):
                #expect(
                    one.graph.initialisers.mapValues { $0.elements(as: UInt32.self) }
                        == other.graph.initialisers.mapValues { $0.elements(as: UInt32.self) }, "\(note)")
            case (.failure(let one), .failure(let other)): #expect(one.code == other.code, "\(note)")
            default: Issue.record("\(note): \(whole) and \(found)")
            }
        }
    }

    @Test func bytesThatDoNotFillTheShapeAreDamage() throws {
        var tensor = ModelParts.tensor("w", [20_000], floats: [])
        tensor.rawData = Data(count: 79_996)
        let graph = ModelParts.graph(
            inputs: [], outputs: ["y"], nodes: [ModelParts.node("Identity", ["w"], ["y"])], initialisers: [tensor])
        let path = try file(try ModelParts.model(graph).serializedData())
        let error = #expect(throws: ModelError.self) { try ModelImporter().load(path: path) }
        #expect(error?.code == .damaged)
        #expect(error?.sentence.contains("79996 bytes do not fill") == true)
    }
}
