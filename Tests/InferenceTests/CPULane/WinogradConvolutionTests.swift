import Glibc
import Inference
import OneDNNKit
import Testing

#if arch(x86_64)
    @Suite struct WinogradConvolutionTests {
        /// Of all pads, numbers of blocks and of tiles, and of weights that are too large for a cache.
        @Test(arguments: 1...60) func everyShapeIsWhatPlainLoopsGive(seed: UInt64) throws {
            var fixture = GraphFixture(seed: seed)
            let (channels, filters) = (16 * fixture.pick(1...5), fixture.pick([1, 3, 9, 16, 20, 32, 48, 60, 80]))
            let images = fixture.pick(1...4)
            try agree(&fixture, [images, channels, fixture.pick(10...22), fixture.pick(10...22)], filters: filters)
        }

        @Test func largeWeightsPassBySeldom() throws {
            var fixture = GraphFixture(seed: 1)
            try agree(&fixture, [1, 256, 27, 18], filters: 512)
        }

        private func agree(_ fixture: inout GraphFixture, _ input: [Int], filters: Int) throws {
            try fixture.input("x", input)
            try fixture.constant("w", [filters, input[1], 3, 3])
            try fixture.constant("b", [filters])
            let pads = (0..<4).map { _ in fixture.pick(0...2) }
            let nodes = [node("Conv", fixture.pick([["x", "w"], ["x", "w", "b"]]), "y", ["pads": .ints(pads)])]
            try fixture.expectAgreement(nodes, "\(input) to \(filters), pads \(pads)")
            #expect(try lines(fixture.model(nodes)).contains { $0.contains("Winograd") })
        }

        private func lines(_ model: Model) throws -> [String] { try CompiledModel(model).stepLines }

        /// With the followers that the kernel knows in the same step, and the others behind it.
        @Test(arguments: 1...60) func chains(seed: UInt64) throws {
            var fixture = GraphFixture(seed: seed)
            let size = [fixture.pick(10...19), fixture.pick(10...19)]
            let nodes = try fixture.chainBehindConvolution(
                channels: [16, 32, 48], images: fixture.pick(1...4), size: size)
            try fixture.expectAgreement(nodes, "seed \(seed): \(nodes.map(\.operatorName))")
            #expect(try lines(fixture.model(nodes)).contains { $0.contains("Winograd") })
        }

        /// What fills up the last block of channels is 0 for who reads it, whatever is clipped.
        @Test func fillingStaysZero() throws {
            for low: Float in [-1, 0.5] {
                var fixture = GraphFixture(seed: 4)
                try fixture.input("x", [1, 16, 12, 12])
                try fixture.constant("w", [9, 16, 3, 3])
                try fixture.constant("v", [16, 9, 3, 3])
                let nodes = [
                    node("Conv", ["x", "w"], "a"),
                    node("Clip", ["a"], "b", ["min": .float(low), "max": .float(4)], opset: 10),
                    node("Conv", ["b", "v"], "y"),
                ]
                try fixture.expectAgreement(nodes, "from \(low)")
                #expect(try lines(fixture.model(nodes)).contains { $0.contains("Winograd") })
            }
        }

        /// What lies behind a bias is no part of it.
        @Test func aBiasMayBeAPart() throws {
            var fixture = GraphFixture(seed: 8)
            try fixture.input("x", [1, 16, 12, 12])
            let numbers = (0..<9).map(Double.init) + Array(repeating: .infinity, count: 23)
            fixture.inputs["b"] = try Tensor(.float32, shape: [32], doubles: numbers)
            try fixture.constant("w", [9, 16, 3, 3])
            try fixture.constant("v", [16, 9, 3, 3])
            let cut: [String: Attribute] = ["starts": .ints([0]), "ends": .ints([9]), "axes": .ints([0])]
            try fixture.expectAgreement([
                node("Slice", ["b"], "c", cut, opset: 9), node("Conv", ["x", "w", "c"], "a"),
                node("Conv", ["a", "v"], "y"),
            ])
        }

        /// What is no number is none behind a follower either.
        @Test(arguments: ["Relu", "LeakyRelu", "Clip", "Identity"]) func whatIsNoNumberIsSeen(follower: String) throws {
            var fixture = GraphFixture(seed: 2)
            try fixture.input("x", [1, 16, 12, 12])
            try fixture.constant("w", [16, 16, 3, 3])
            let bounds: [String: Attribute] = ["min": .float(0), "max": .float(6)]
            let model = fixture.model([
                node("Conv", ["x", "w"], "a"),
                node(follower, ["a"], "y", follower == "Clip" ? bounds : [:], opset: follower == "Clip" ? 10 : 17),
            ])
            var numbers = try #require(fixture.inputs["x"]).elements(as: Float.self)
            numbers[5 * 12 + 5] = .nan
            let input = try Tensor(.float32, shape: [1, 16, 12, 12], doubles: numbers.map(Double.init))
            let found = try #require(try CompiledModel(model).execute(["x": input])["y"]).elements(as: Float.self)
            let wanted = try ReferenceRunner().run(model, inputs: ["x": input])[0].elements(as: Float.self)
            #expect(wanted.contains { $0.isNaN })
            #expect(zip(found, wanted).allSatisfy { !$1.isNaN || $0.isNaN })
        }

        /// Values with their channels last are taken as they lie.
        @Test func channelsThatAreLastAreNotMoved() throws {
            var fixture = GraphFixture(seed: 7)
            try fixture.input("x", [2, 14, 13, 32])
            try fixture.constant("w", [32, 32, 3, 3])
            let nodes = [
                node("Transpose", ["x"], "a", ["perm": .ints([0, 3, 1, 2])]),
                node("Conv", ["a", "w"], "y", ["pads": .ints([1, 1, 1, 1])]),
            ]
            try fixture.expectAgreement(nodes)
            let lines = try lines(fixture.model(nodes))
            #expect(lines[0].contains("Winograd"), "\(lines)")
        }

        /// A residual and what clips are one step with the convolution.
        @Test func residualsAndClipsTakeNoStep() throws {
            var fixture = GraphFixture(seed: 3)
            try fixture.input("x", [2, 32, 12, 12])
            try fixture.constant("w", [32, 32, 3, 3])
            let nodes = [
                node("Conv", ["x", "w"], "a", ["pads": .ints([1, 1, 1, 1])]), node("Add", ["a", "x"], "b"),
                node("Relu", ["b"], "y"),
            ]
            try fixture.expectAgreement(nodes)
            let lines = try lines(fixture.model(nodes))
            #expect(lines.count { !$0.contains("reorder") && !$0.contains("holds") } == 1, "\(lines)")
        }

        /// oneDNN and the kernels told to do with fewer instructions, in a process of its own: it looks once.
        @Test func withAVX2ResultsAreAsGood() async throws {
            await #expect(processExitsWith: .success) {
                setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1)
                #expect(try CPUEngine().channelBlock == 8)
                let tests = WinogradConvolutionTests()
                for seed in UInt64(1)...30 {
                    try tests.everyShapeIsWhatPlainLoopsGive(seed: seed)
                    try tests.chains(seed: seed)
                }
                try tests.largeWeightsPassBySeldom()
            }
        }

        /// Where it would not pay, as for few results or channels that fill no vectors, or weights that are computed.
        @Test func otherConvolutionsAreDirect() throws {
            for (channels, side, isConstant, strides) in [
                (16, 6, true, 1), (20, 16, true, 1), (16, 16, false, 1), (16, 32, true, 2),
            ] {
                var fixture = GraphFixture(seed: 5)
                try fixture.input("x", [1, channels, side, side])
                let weights = [16, channels, 3, 3]
                if isConstant { try fixture.constant("w", weights) } else { try fixture.input("w", weights) }
                let nodes = [
                    node(
                        "Conv", ["x", "w"], "y", ["pads": .ints([1, 1, 1, 1]), "strides": .ints([strides, strides])])
                ]
                try fixture.expectAgreement(nodes, "\(weights) \(side)")
                let lines = try lines(fixture.model(nodes))
                #expect(!lines.contains { $0.contains("Winograd") }, "\(lines)")
            }
        }

        /// Fewer products of float32 are faster than all of them in bfloat16, but for a processor with AMX.
        @Test func bfloat16LeavesThemToFloat32() throws {
            var fixture = GraphFixture(seed: 6)
            try fixture.input("x", [1, 32, 16, 16])
            try fixture.constant("w", [32, 32, 3, 3])
            let model = fixture.model([node("Conv", ["x", "w"], "y")])
            let engine = try CPUEngine()
            guard engine.hasBF16 else {
                #expect(throws: ModelError.self) { try CompiledModel(model, precision: .bfloat16) }
                return
            }
            let narrow = try CompiledModel(model, precision: .bfloat16)
            let wide = try CompiledModel(model).execute(fixture.inputs)["y"]?.elements(as: UInt32.self)
            let hasAMX = engine.instructionSet.hasAMX
            #expect(narrow.stepLines.contains { $0.contains("Winograd") } == !hasAMX, "\(narrow.stepLines)")
            #expect((try narrow.execute(fixture.inputs)["y"]?.elements(as: UInt32.self) == wide) == !hasAMX)
        }

        /// Transformed values do not take the place of the values.
        @Test func largePicturesNeedLittleToWorkIn() throws {
            var fixture = GraphFixture(seed: 5)
            try fixture.constant("w", [64, 64, 3, 3])
            let graph = Graph(
                inputs: [Graph.Port("x", TensorType(.float32, extents: [1, 64, 720, 720]))],
                outputs: [Graph.Port("y", nil)], initialisers: fixture.initialisers,
                nodes: [node("Conv", ["x", "w"], "y")])
            let compiled = try CompiledModel(Model(graph: graph, opsets: ["": 17]))
            #expect(compiled.stepLines.contains { $0.contains("Winograd") })
            // Both as they lie for the kernel.
            let values = 64 * (720 * 720 + 718 * 718) * 4
            #expect(compiled.arenaByteCount < values + 1 << 20)
            #expect(compiled.scratchpadByteCount < 1 << 20)
        }
    }
#endif
