import Confinement
import Foundation
import Glibc
import Inference
import ModelParts
import ONNXFormat
import SwiftProtobuf
import Testing

/// Weights that one job had laid out, in jobs that come later.
@Suite struct WeightCacheCommandTests {
    private let place: TestPlace
    /// So that the weights in bfloat16 are more than what is looked up.
    private static let channels = 256

    init() throws {
        place = try TestPlace()
        try place.write(try Self.model(), to: "model.onnx")
        try place.write(try SmallModel.array(SmallModel.inputs(3)), to: "data.npy")
    }

    /// Convolutions, the second of 1.3 or 2.3 MB, and a picture twice as large or a row of means.
    private static func model(seed: Int = 1, isPicture: Bool = false) throws -> Data {
        func weights(_ name: String, _ shape: [Int64]) -> ONNXTensor {
            var tensor = ModelParts.tensor(name, shape, floats: [])
            let count = Int(shape.reduce(1, *))
            tensor.rawData = (0..<count).map { Float(($0 &* 7919 &+ seed) % 2003 - 1001) / 40_000 }
                .withUnsafeBytes { Data($0) }
            return tensor
        }
        let same = [
            ModelParts.attribute("kernel_shape", ints: [3, 3]), ModelParts.attribute("pads", ints: [1, 1, 1, 1]),
        ]
        let count = isPicture ? 192 : Int64(channels)
        var nodes = [
            ModelParts.node("Conv", ["image", "first"], ["seen"], same), ModelParts.node("Relu", ["seen"], ["lit"]),
            ModelParts.node("Conv", ["lit", "second"], ["deep"], same),
        ]
        if isPicture {
            nodes += [
                ModelParts.node("Conv", ["deep", "third"], ["last"], same),
                ModelParts.node("DepthToSpace", ["last"], ["y"], [ModelParts.attribute("blocksize", int: 2)]),
            ]
        } else {
            nodes += [
                ModelParts.node("GlobalAveragePool", ["deep"], ["mean"]), ModelParts.node("Flatten", ["mean"], ["y"]),
            ]
        }
        let shape: [Any] =
            isPicture ? [1, 3, "height", "width"] : ["batch", 3, SmallModel.side, SmallModel.side]
        let graph = ModelParts.graph(
            inputs: [ModelParts.port("image", shape)], outputs: ["y"], nodes: nodes,
            initialisers: [
                weights("first", [count, 3, 3, 3]), weights("second", [count, count, 3, 3]),
                weights("third", [12, count, 3, 3]),
            ])
        return try ModelParts.model(graph).serializedData()
    }

    private func infer(
        to out: String, _ more: [String] = [], environment: [String: String] = [:]
    ) throws -> Data {
        let ended = try CommandRun(
            ["infer", "model.onnx", "data.npy", "--out", out] + more, in: place, environment: environment
        ).end()
        #expect(ended.status == 0, "\(ended.errors)")
        return try Data(contentsOf: URL(filePath: "\(place.path)/\(out)/y.npy"))
    }

    private var folder: String { place.path + "/.cache/bgrun/weights" }

    /// Paths of all entries.
    private func entries() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0 != "contents" }.sorted()
            .map { "\(folder)/\($0)" }
    }

    private func read(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

    private func number(_ path: String) throws -> UInt64 {
        let value = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber]
        return try #require((value as? NSNumber)?.uint64Value)
    }

    @Test func theSecondJobTakesTheEntryOfTheFirstAndGivesTheSame() throws {
        let first = try infer(to: "one")
        let path = try #require(entries().first)
        let (entry, file) = (try read(path), try number(path))
        #expect(entry.count >= 4 * Self.channels * Self.channels * 9)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000)], ofItemAtPath: path)
        #expect(try infer(to: "two") == first)
        #expect(entries() == [path])
        let used = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        #expect(try #require(used).timeIntervalSince1970 > 1_000_000)
        #expect(try number(path) == file && read(path) == entry)
    }

    /// Another model's weights under this model's key, as nothing but a test could put them there, change what comes out.
    @Test func jobsComputeWithTheEntry() throws {
        let first = try infer(to: "one")
        let own = try #require(entries().first)
        try place.write(try Self.model(seed: 500), to: "model.onnx")
        let second = try infer(to: "two")
        #expect(second != first)
        let other = try #require(entries().first { $0 != own })
        // The key in the header decides whose it is; the table stays sound.
        var bytes = try read(own)
        bytes.replaceSubrange(8..<40, with: try read(other)[8..<40])
        try Data(bytes).write(to: URL(filePath: other))
        #expect(try infer(to: "three") != second)
        try Data(contentsOf: URL(filePath: own)).write(to: URL(filePath: other))
        // With its own key it is foreign there.
        #expect(try infer(to: "four") == second)
    }

    @Test(arguments: ["a byte", "the key", "half", "nothing"]) func badEntriesAreReplaced(_ damage: String) throws {
        let first = try infer(to: "one")
        let path = try #require(entries().first)
        let sound = try read(path)
        var bytes = sound
        switch damage {
        case "a byte": bytes[bytes.count / 2] ^= 1
        case "the key": bytes[20] ^= 1
        case "half": bytes.removeLast(bytes.count / 2)
        default: bytes = []
        }
        try Data(bytes).write(to: URL(filePath: path))
        #expect(try infer(to: "two") == first)
        #expect(try entries() == [path] && read(path) == sound)
    }

    @Test func anotherPrecisionHasAnotherEntry() throws {
        let exact = try infer(to: "one")
        _ = try infer(to: "two", ["--precision", "auto"])
        #expect(entries().count == 2)
        guard try CompiledModel.hasBFloat16() else { return }
        let rough = try infer(to: "three", ["--precision", "bf16"])
        #expect(rough != exact && entries().count == 3)
        #expect(try infer(to: "four", ["--precision", "bf16"]) == rough)
        #expect(try infer(to: "five") == exact && entries().count == 3)
    }

    @Test func aProcessThatIsKilledWhileItWritesLeavesNothing() throws {
        let first = try infer(to: "one", environment: ["BGRUN_TEST_KILL_LAYING_OUT": "1"])
        #expect(entries() == [])
        #expect(try infer(to: "two") == first)
        #expect(entries().count == 1)
        // One that stands is not lost by it.
        let path = try #require(entries().first)
        var bytes = try read(path)
        let sound = bytes
        bytes[bytes.count - 100] ^= 1
        try Data(bytes).write(to: URL(filePath: path))
        #expect(try infer(to: "three", environment: ["BGRUN_TEST_KILL_LAYING_OUT": "1"]) == first)
        #expect(try entries() == [path] && read(path) == bytes)
        #expect(try infer(to: "four") == first)
        #expect(try read(path) == sound)
    }

    @Test(
        .enabled(
            if: (Confinement.status.landlockVersion ?? 0) >= 1,
            "SKIPPED: this kernel has no Landlock, so that workers are not confined"))
    func aWorkerReachesTheCacheByNoPath() throws {
        _ = try infer(to: "one")
        let path = try #require(entries().first)
        let attempts = [
            "read:\(path)", "write:\(path)", "remove:\(path)", "list:\(folder)", "write:\(folder)/mine",
            "write:/proc/self/fd/4", "write:/proc/self/fd/5", "write:/proc/self/fd/6",
        ]
        let report = place.path + "/report.jsonl"
        let ended = try CommandRun(
            ["infer", "model.onnx", "data.npy", "--out", "two", "--report", report, "--workers", "1"], in: place,
            environment: ["BGRUN_TEST_ESCAPE_ON": "data.npy", "BGRUN_TEST_ESCAPES": attempts.joined(separator: " ")]
        ).end()
        #expect(ended.status == 65, "\(ended.errors)")
        let reason = try #require(try place.lines("report.jsonl").first?["reason"] as? String)
        for attempt in attempts { #expect(!reason.contains("\(attempt)=done"), "\(reason)") }
        for attempt in attempts.prefix(5) { #expect(reason.contains("\(attempt)=Permission denied"), "\(reason)") }
    }

    @Test func picturesThroughAModelTakeTheEntryToo() throws {
        try place.putPhotos(1)
        try place.write(try Self.model(isPicture: true), to: "x2.onnx")
        func enhance(to out: String) throws -> [String: Data] {
            let ended = try place.bgrun(
                "enhance", "photos", "--model", "x2.onnx", "--format", "png", "--tile", "64", "--overlap", "3", "--out",
                out)
            #expect(ended.status == 0, "\(ended.errors)")
            return try place.contents(out)
        }
        let first = try enhance(to: "one")
        let path = try #require(entries().first)
        let (sound, file) = (try read(path), try number(path))
        #expect(try enhance(to: "two") == first && number(path) == file)
        // What is damaged there is noticed, so it was looked at.
        var bytes = sound
        bytes[bytes.count / 2] ^= 1
        try Data(bytes).write(to: URL(filePath: path))
        #expect(try enhance(to: "three") == first)
        #expect(try read(path) == sound)
    }

    @Test func theDoctorSaysWhatIsKept() throws {
        _ = try infer(to: "one")
        let told = try place.bgrun("doctor").output
        // The file's 2.3 MB, four times as large where the second convolution is of Winograd's form.
        let size = try read(#require(entries().first)).count >> 20
        #expect(size >= 2)
        #expect(told.contains("weights: Laid out for 1 model, \(size) MB in \(folder)."), "\(told)")
    }
}
