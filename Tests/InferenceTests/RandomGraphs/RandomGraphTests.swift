import Foundation
import Inference
import Testing

/// Random graphs, compiled for the CPU and for OpenCL, against the plain operators.
///
/// `BGRUN_GRAPHS` is how many, from the seed `BGRUN_GRAPHS_SEED` on; `BGRUN_GRAPHS_FOLDER` is where each is written with what
/// was computed, for `Scripts/check_random_graphs.py`, which compares that with ONNX Runtime.
@Suite struct RandomGraphTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["BGRUN_GRAPHS"].flatMap(Int.init) ?? 1600
    private static let first = environment["BGRUN_GRAPHS_SEED"].flatMap(UInt64.init) ?? 1
    private static let parts = 16

    @Test(arguments: 0..<Self.parts) func everyLaneGivesWhatThePlainOperatorsGive(part: Int) throws {
        let devices = try OpenCLFixture.Form.allCases.map { try OpenCLFixture.device($0) }
        for number in stride(from: part, to: Self.count, by: Self.parts) {
            let seed = Self.first + UInt64(number)
            let graph = try RandomGraph(seed: seed)
            guard !graph.outputs.isEmpty else { continue }
            do {
                try expectCompiled(graph, seed)
                if graph.isBatch { try expectBatch(graph, seed) }
                // Each form of the kernels now and then: PoCL compiles for a while.
                if number % 20 == 0 {
                    let device = devices[number / 20 % devices.count]
                    let found = try OpenCLModel(graph.model, on: device).execute(graph.fixture.inputs)
                    expect(found, graph, tolerance: 5e-4, "OpenCL, seed \(seed)")
                }
            } catch {
                Issue.record("seed \(seed): \(error)\n\(graph.lines)")
            }
        }
    }

    private func expectCompiled(_ graph: RandomGraph, _ seed: UInt64) throws {
        let found = try CompiledModel(graph.model).execute(graph.fixture.inputs)
        expect(found, graph, "seed \(seed)")
        if let folder = Self.environment["BGRUN_GRAPHS_FOLDER"] {
            try GraphFile.write(graph.model, graph.fixture.inputs, found, to: "\(folder)/\(seed)")
        }
    }

    /// With an open first extent, rows may go through the model one by one.
    private func expectBatch(_ graph: RandomGraph, _ seed: UInt64) throws {
        var model = graph.model
        for place in model.graph.inputs.indices { model.graph.inputs[place].type?.shape?[0] = .symbol("n") }
        let types = graph.fixture.inputs.mapValues { TensorType($0.elementType, extents: $0.shape) }
        let found = try BatchModel.Run(BatchModel(model, inputs: types)).execute(graph.fixture.inputs)
        expect(found, graph, "open batch, seed \(seed)")
    }

    private func expect(
        _ found: [String: Tensor], _ graph: RandomGraph, tolerance: Double = 2e-4, _ note: String
    ) {
        for (name, wanted) in graph.outputs {
            guard let own = found[name] else {
                Issue.record("\(note): no \(name)\n\(graph.lines)")
                continue
            }
            let difference = Self.difference(own, wanted, tolerance: tolerance)
            #expect(difference == nil, "\(note): \(name) \(difference ?? "")\n\(graph.lines)")
        }
    }

    /// The first element that is another one: NaN and infinities have to be where they are wanted.
    private static func difference(_ found: Tensor, _ wanted: Tensor, tolerance: Double) -> String? {
        guard found.shape == wanted.shape, found.elementType == wanted.elementType else {
            return "is \(found.elementType)\(found.shape), not \(wanted.elementType)\(wanted.shape)"
        }
        let (own, expected) = (found.doubles(), wanted.doubles())
        let scale = expected.reduce(1) { $1.isFinite ? max($0, abs($1)) : $0 }
        let wrong = expected.indices.first { place in
            let (one, other) = (own[place], expected[place])
            guard one.isFinite, other.isFinite else { return one != other && !(one.isNaN && other.isNaN) }
            return abs(one - other) > tolerance * scale
        }
        return wrong.map { "[\($0)] is \(own[$0]), not \(expected[$0])" }
    }
}
