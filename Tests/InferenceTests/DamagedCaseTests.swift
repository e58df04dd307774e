import Foundation
import Inference
import SeededNumbers
import Testing

/// The cases of the ONNX project with some bytes changed: every operator meets attributes, shapes and values that its file
/// should not have.
@Suite struct DamagedCaseTests {
    @Test(arguments: ConformanceCase.Lane.allCases) func casesWithChangedBytesNeverCrash(lane: ConformanceCase.Lane)
        throws
    {
        let cases = ConformanceCase.all()
        try #require(!cases.isEmpty, "run scripts/fetch-onnx-cases.sh")
        let rounds = ProcessInfo.processInfo.environment["BGRUN_DAMAGE_ROUNDS"].flatMap(Int.init) ?? 3
        let first = ProcessInfo.processInfo.environment["BGRUN_DAMAGE_SEED"].flatMap(UInt64.init) ?? 1
        let opened = try lane.opened()
        var errors = 0
        for (number, test) in cases.enumerated() {
            let bytes = try Data(contentsOf: URL(filePath: test.model))
            guard let inputs = try? test.tensors("input") else { continue }
            for round in 0..<rounds {
                var random = SeededGenerator(seed: first &* 1_000_003 &+ UInt64(number * 1000 + round))
                var damaged = bytes
                for _ in 0...(random.next() % 3) {
                    let place = Int(random.next() % UInt64(bytes.count))
                    // Small numbers and their neighbours get through more checks than any byte does.
                    damaged[place] =
                        random.next() % 2 == 0
                        ? UInt8(truncatingIfNeeded: random.next()) : damaged[place] &+ UInt8(random.next() % 5) &- 2
                }
                if !Self.runs(damaged, inputs, on: opened) { errors += 1 }
            }
        }
        // Most changes do damage, and some leave a model that runs.
        #expect(errors > 0 && errors < cases.count * rounds)
    }

    /// Whether the model still gives a result.
    private static func runs(_ bytes: Data, _ inputs: [Tensor], on lane: ConformanceCase.OpenLane) -> Bool {
        do throws(ModelError) {
            let model = try ModelImporter().load(bytes: bytes)
            _ = try ShapeInference().infer(model.graph)
            var runner = ReferenceRunner()
            runner.largestTensorBytes = 1 << 22
            runner.largestIterations = 1000
            var given: [String: Tensor] = [:]
            for (port, tensor) in zip(model.graph.inputs, inputs) { given[port.name] = tensor }
            _ = try lane.run(model, given, runner: runner)
            return true
        } catch {
            return false
        }
    }
}
