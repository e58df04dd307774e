import BackgroundInference
import Foundation
import ModelParts
import ONNXFormat
import OpenCLKit
import SwiftProtobuf
import TemporaryFolders
import Testing

/// Models in a program's own tasks.
@Suite struct InferenceSessionTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func session(
        _ nodes: [ONNXNode], inputs: [ONNXValueInfo], output: String, on device: InferenceSession.Device = .cpu,
        streams: Int? = nil
    ) throws -> InferenceSession {
        let path = folder.url.appending(path: "model.onnx")
        let graph = ModelParts.graph(inputs: inputs, outputs: [output], nodes: nodes)
        let bytes: Data = try ModelParts.model(graph).serializedData()
        try bytes.write(to: path)
        return try InferenceSession(model: path.path, on: device, streams: streams)
    }

    private func doubling(
        on device: InferenceSession.Device = .cpu, streams: Int? = nil
    ) throws -> InferenceSession {
        try session(
            [ModelParts.node("Add", ["x", "x"], ["y"])], inputs: [ModelParts.port("x", ["batch", 2])], output: "y",
            on: device, streams: streams)
    }

    /// Where sessions run here.
    enum Place: CaseIterable, Sendable {
        case processor
        /// The first device of OpenCL, which tests have (PoCL).
        case openCL

        var device: InferenceSession.Device {
            get throws {
                guard self == .openCL else { return .cpu }
                CacheFolder.prepareDrivers(folder: CacheFolder.standard())
                let device = try OpenCLLibrary.open().device { _ in true }
                return .openCL(try #require(device, "no OpenCL device: install pocl-opencl-icd").info.identity)
            }
        }
    }

    @Test(arguments: Place.allCases) func aModelTellsWhatItTakesAndIsRun(place: Place) async throws {
        let session = try doubling(on: place.device)
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

    @Test func aGraphThatWasTracedForTheGivenRowsIsRunForThem() async throws {
        let path = folder.url.appending(path: "model.onnx")
        let graph = ModelParts.graph(
            inputs: [ModelParts.port("x", ["n", 4])], outputs: ["y"],
            nodes: [ModelParts.node("Reshape", ["x", "traced"], ["r"]), ModelParts.node("Neg", ["r"], ["y"])],
            initialisers: [ModelParts.tensor("traced", [3], ints: [3, 2, 2])])
        let bytes: Data = try ModelParts.model(graph).serializedData()
        try bytes.write(to: path)
        let session = try InferenceSession(model: path.path)
        let values = (0..<12).map { Float($0) }
        let outputs = try await session.run(["x": InferenceTensor(values, shape: [3, 4])])
        #expect(outputs["y"]?.shape == [3, 2, 2] && outputs["y"]?.floats == values.map { -$0 })
    }

    @Test func whatNoOperatorDoesIsFoundWhenAModelIsOpened() {
        #expect {
            try self.session(
                [
                    ModelParts.node(
                        "DFT", ["x"], ["y"], ["inverse", "onesided"].map { ModelParts.attribute($0, int: 1) })
                ], inputs: [ModelParts.port("x", [1, 5, 2])], output: "y")
        } throws: {
            ($0 as? InferenceError)?.unsupported == ["DFT that is inverse and one-sided"]
        }
    }

    @Test(arguments: Place.allCases, [1, 3])
    func resultsComeInTheOrderOfTheirBatches(place: Place, streams: Int) async throws {
        let session = try doubling(on: place.device, streams: streams)
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

    @Test func bothLanesGiveTheSameWithinTheirTolerance() async throws {
        let nodes = [
            ModelParts.node("Conv", ["x", "w"], ["c"]), ModelParts.node("Relu", ["c"], ["r"]),
            ModelParts.node("LpNormalization", ["r"], ["y"]),
        ]
        var found: [[Float]] = []
        for place in Place.allCases {
            let graph = ModelParts.graph(
                inputs: [ModelParts.port("x", [1, 1, 8, 8])], outputs: ["y"], nodes: nodes,
                initialisers: [ModelParts.tensor("w", [4, 1, 3, 3], floats: (0..<36).map { Float($0 % 7) - 3 })])
            let path = folder.url.appending(path: "lanes.onnx")
            let bytes: Data = try ModelParts.model(graph).serializedData()
            try bytes.write(to: path)
            let session = try InferenceSession(model: path.path, on: place.device)
            let input = try InferenceTensor((0..<64).map { Float($0 % 11) / 11 }, shape: [1, 1, 8, 8])
            found.append(try #require(try await session.run(["x": input])["y"]).floats)
        }
        #expect(found[0].count == 4 * 36 && found[0].contains { $0 > 0.1 })
        #expect(zip(found[0], found[1]).allSatisfy { abs($0 - $1) < 1e-5 })
    }

    @Test func fewerBitsGiveNearlyTheSameWhereTheDeviceHasThem() async throws {
        let graph = ModelParts.graph(
            inputs: [ModelParts.port("x", [64, 64])], outputs: ["y"],
            nodes: [ModelParts.node("MatMul", ["x", "w"], ["y"])],
            initialisers: [ModelParts.tensor("w", [64, 64], floats: (0..<4_096).map { sin(Float($0)) })])
        let path = folder.file("product.onnx")
        let bytes: Data = try ModelParts.model(graph).serializedData()
        try bytes.write(to: URL(filePath: path))
        let input = try InferenceTensor((0..<4_096).map { cos(Float($0)) }, shape: [64, 64])
        func scores(_ device: InferenceSession.Device, _ precision: InferenceSession.Precision) async throws -> [Float]
        {
            let session = try InferenceSession(model: path, on: device, precision: precision)
            return try #require(try await session.run(["x": input])["y"]).floats
        }
        let exact = try await scores(.cpu, .float32)
        let scale = exact.map(abs).max() ?? 0
        func share(_ found: [Float]) -> Float { (zip(found, exact).map { abs($0 - $1) }.max() ?? 0) / scale }
        let half = share(try await scores(Place.openCL.device, .float16))
        #expect(half > 1e-6 && half < 1e-3, "\(half)")
        if try String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8).contains("avx512_bf16") {
            let eighth = share(try await scores(.cpu, .bfloat16))
            #expect(eighth > 1e-5 && eighth < 1e-2, "\(eighth)")
        } else {
            await #expect(throws: InferenceError.self) { try await scores(.cpu, .bfloat16) }
        }
        for (device, precision) in [(.cpu, .float16), (try Place.openCL.device, .bfloat16)]
            as [(InferenceSession.Device, InferenceSession.Precision)]
        {
            await #expect {
                try await scores(device, precision)
            } throws: {
                ($0 as? InferenceError)?.code == .unsupported
            }
        }
    }

    @Test func aDeviceThatIsMissingIsToldAsSuch() throws {
        let hasGPU = try OpenCLLibrary.open().device { $0.type == .gpu } != nil
        let missing: [InferenceSession.Device] = [.openCL("nobody:gpu:Nothing")] + (hasGPU ? [] : [.gpu])
        for device in missing {
            #expect { try self.doubling(on: device) } throws: {
                let error = $0 as? InferenceError
                return error?.code == .noDevice && error?.description.contains("bgrun devices") == true
            }
        }
    }

    @Test(arguments: Place.allCases) func aCancelledTaskLeavesItsRunBetweenTwoOperators(place: Place) async throws {
        // Far more operators than can be run before the cancellation is seen.
        let count = 20_000
        let nodes = (0..<count).map { ModelParts.node("Sin", ["v\($0)"], ["v\($0 + 1)"], name: "n\($0)") }
        let session = try session(
            nodes, inputs: [ModelParts.port("v0", [64, 64])], output: "v\(count)", on: place.device)
        let input = try InferenceTensor([Float](repeating: 1, count: 4096), shape: [64, 64])
        let work = Task { try await session.run(["v0": input]) }
        work.cancel()
        await #expect { try await work.value } throws: { ($0 as? InferenceError)?.code == .cancelled }
    }
}
