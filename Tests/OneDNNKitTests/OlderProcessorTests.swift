import Glibc
import OneDNNKit
import Testing

#if arch(x86_64)
    /// oneDNN told to do with fewer instructions, in a process of its own: it looks once.
    @Suite struct OlderProcessorTests {
        @Test(arguments: ["AVX2", "AVX512_CORE"]) func resultsAreAsGood(instructions: String) async throws {
            await #expect(processExitsWith: .success) { [instructions] in
                setenv("ONEDNN_MAX_CPU_ISA", instructions, 1)
                let engine = try CPUEngine()
                #expect(!engine.hasBF16 && !engine.hasExactInt8)
                for spatialRank in 1...3 {
                    try ConvolutionTests().everyShapeIsWhatPlainLoopsGive(spatialRank: spatialRank)
                }
                try ConvolutionTests().integersAreSummedExactlyThenScaledAndRounded()
                try MatrixProductTests().everyShapeIsWhatPlainLoopsGive(layout: .chosenByPrimitive)
                try PostOperationTests().convolutionsTakeThemInAnyOrder(spatialRank: 2)
                try PostOperationTests().productsTakeThemInAnyOrder()
            }
        }

        @Test func onesWithoutAVX2AreRefused() async throws {
            await #expect(processExitsWith: .success) {
                setenv("ONEDNN_MAX_CPU_ISA", "AVX", 1)
                let error = #expect(throws: OneDNNError.self) { try CPUEngine() }
                #expect(error?.code == .processorUnsupported)
            }
        }
    }
#endif
