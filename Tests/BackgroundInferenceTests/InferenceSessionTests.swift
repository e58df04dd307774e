import BackgroundInference
import Foundation
import ModelParts
import ONNXFormat
import SwiftProtobuf
import Testing

/// Models in a program's own tasks.
@Suite struct InferenceSessionTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "bgrun-session-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func session(
        _ nodes: [ONNXNode], inputs: [ONNXValueInfo], output: String, streams: Int? = nil
    ) throws -> InferenceSession {
        let path = folder.appending(path: "model.onnx")
        let graph = ModelParts.graph(inputs: inputs, outputs: [output], nodes: nodes)
        let bytes: Data = try ModelParts.model(graph).serializedData()
        try bytes.write(to: path)
        return try InferenceSession(model: path.path, streams: streams)
    }

    private func doubling(streams: Int? = nil) throws -> InferenceSession {
        try session(
            [ModelParts.node("Add", ["x", "x"], ["y"])], inputs: [ModelParts.port("x", ["batch", 2])], output: "y",
            streams: streams)
    }

    @Test func aModelTellsWhatItTakesAndIsRun() async throws {
        let session = try doubling()
        #expect(session.inputs.map(\.description) == ["x float32[batch, 2]"])
        for rows in [1, 3] {
            let values = (0..<(rows * 2)).map { Float($0) }
            let outputs = try await session.run(["x": InferenceTensor(values, shape: [rows, 2])])
            #expect(outputs["y"]?.shape == [rows, 2])
            #expect(outputs["y"]?.floats == values.map { $0 * 2 })
        }
    }

    @Test func whatDoesNotFitIsToldWithTypedErrors() async throws {
        let session = try doubling()
        let wide = try InferenceTensor([1.0, 2, 3], shape: [1, 3])
        await #expect { try await session.run(["x": wide]) } throws: {
            ($0 as? InferenceError)?.code == .wrongInput
        }
        await #expect { try await session.run([:]) } throws: { ($0 as? InferenceError)?.code == .wrongInput }
        #expect { try InferenceTensor([1.0, 2, 3], shape: [2, 2]) } throws: {
            ($0 as? InferenceError)?.code == .wrongInput
        }
        #expect { try InferenceSession(model: "/nowhere/model.onnx") } throws: {
            ($0 as? InferenceError)?.code == .notReadable
        }
        #expect {
            try self.session(
                [ModelParts.node("Unheard", ["x"], ["y"])], inputs: [ModelParts.port("x", [1])], output: "y")
        } throws: {
            let error = $0 as? InferenceError
            return error?.code == .unsupported && error?.unsupported.count == 1
        }
    }

    @Test(arguments: [1, 3]) func resultsComeInTheOrderOfTheirBatches(streams: Int) async throws {
        let session = try doubling(streams: streams)
        let batches = AsyncStream<[String: InferenceTensor]> { batches in
            for number in 0..<20 {
                // Of different sizes, so that they do not take the same time.
                let rows = 1 + number * 7 % 5
                let values = [Float](repeating: Float(number), count: rows * 2)
                if let tensor = try? InferenceTensor(values, shape: [rows, 2]) { batches.yield(["x": tensor]) }
            }
            batches.finish()
        }
        var found: [Float?] = []
        for try await outputs in session.results(of: batches) { found.append(outputs["y"]?.floats.first) }
        #expect(found == (0..<20).map { Float($0 * 2) })
    }

    @Test func aCancelledTaskLeavesItsRunBetweenTwoOperators() async throws {
        // Far more operators than can be run before the cancellation is seen.
        let count = 20_000
        let nodes = (0..<count).map { ModelParts.node("Sin", ["v\($0)"], ["v\($0 + 1)"], name: "n\($0)") }
        let session = try session(nodes, inputs: [ModelParts.port("v0", [64, 64])], output: "v\(count)")
        let input = try InferenceTensor([Float](repeating: 1, count: 4096), shape: [64, 64])
        let work = Task { try await session.run(["v0": input]) }
        work.cancel()
        await #expect { try await work.value } throws: { ($0 as? InferenceError)?.code == .cancelled }
    }
}
