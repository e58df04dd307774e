import Inference
import OneDNNKit
import Testing

@Suite(.enabled(if: (try? CPUEngine())?.hasBF16 ?? true, "the processor has no bfloat16 instructions"))
struct PrecisionTests {
    /// Convolutions, a residual, a product and an activation.
    private func network(_ seed: UInt64) throws -> (GraphFixture, [Node]) {
        var fixture = GraphFixture(seed: seed)
        let channels = fixture.pick([16, 20, 32])
        try fixture.input("x", [fixture.pick(1...2), channels, 9, 8])
        for name in ["v", "w"] { try fixture.constant(name, [channels, channels, 3, 3], in: -0.2...0.2) }
        try fixture.constant("b", [channels])
        try fixture.constant("m", [channels, 24])
        let pads: [String: Attribute] = ["pads": .ints([1, 1, 1, 1])]
        return (
            fixture,
            [
                node("Conv", ["x", "w", "b"], "c", pads), node("Relu", ["c"], "r"),
                node("Conv", ["r", "v"], "d", pads), node("Add", ["d", "x"], "s"),
                node("GlobalAveragePool", ["s"], "g"), node("Flatten", ["g"], "f"), node("MatMul", ["f", "m"], "p"),
                node("Tanh", ["p"], "y"),
            ]
        )
    }

    /// Each operand is rounded once to 8 bits, so each sum is off by 2^-8 of the magnitudes of its terms at most; what that
    /// is of the result depends on how far they cancel out, here far less than tenfold.
    @Test(arguments: 1...20) func bfloat16IsCloseToFloat32(seed: UInt64) throws {
        let (fixture, nodes) = try network(seed)
        let model = fixture.model(nodes)
        let narrow = try CompiledModel(model, precision: .bfloat16)
        #expect(narrow.usesBFloat16)
        #expect(narrow.stepLines.contains { $0.contains("bfloat16") })
        let error = try narrow.largestDifference(from: CompiledModel(model), on: [fixture.inputs])
        #expect(error <= 10 * 0x1p-8, "seed \(seed): \(error)")
        // It is another arithmetic, not the same one.
        #expect(error > 0, "seed \(seed)")
    }

    @Test func automaticKeepsToTheTolerance() throws {
        let (fixture, nodes) = try network(3)
        let model = fixture.model(nodes)
        let strict = try CompiledModel(model, precision: .automatic(tolerance: 0, samples: [fixture.inputs]))
        #expect(!strict.usesBFloat16)
        let error = try #require(strict.measuredError)
        #expect(error > 0)
        let lenient = try CompiledModel(model, precision: .automatic(tolerance: error, samples: [fixture.inputs]))
        #expect(lenient.usesBFloat16 && lenient.measuredError == error)
        let blind = try CompiledModel(model, precision: .automatic(tolerance: 1, samples: []))
        #expect(!blind.usesBFloat16 && blind.measuredError == nil)
    }

    @Test func outputsOfIntegersSayNothingOfTheError() throws {
        let (fixture, nodes) = try network(5)
        let model = fixture.model(nodes + [node("ArgMax", ["y"], "best", ["axis": .int(1)])])
        let chosen = try CompiledModel(model, precision: .automatic(tolerance: 1, samples: [fixture.inputs]))
        #expect(!chosen.usesBFloat16 && chosen.measuredError == Double.infinity)
    }
}
