import COneDNN

/// oneDNN on this processor. All engines of a process are one, so another costs nothing.
///
/// Everything made with it computes on the thread that asks, and starts no other: each call first tells OpenMP, which
/// keeps that for each thread, that parallel regions have one thread.
///
/// `@unchecked Sendable` is true because all of it stays what it is from the beginning.
package final class CPUEngine: @unchecked Sendable {
    let handle: OpaquePointer
    let functions: bg_dnnl_functions
    /// oneDNN's release and commit.
    package let version: String
    /// The widest instruction set that oneDNN has found and uses.
    package let instructionSet: InstructionSet

    /// - Throws: ``OneDNNError/Code/libraryMissing``, ``OneDNNError/Code/processorUnsupported``.
    package init() throws(OneDNNError) {
        let library = try OneDNNLibrary.open()
        functions = library.functions
        version = library.version
        handle = library.engine
        instructionSet = InstructionSet(functions.dnnl_get_effective_cpu_isa())
        #if arch(x86_64)
            // Before AVX2 oneDNN 2.6.3 crashes on some chains of post-operations.
            guard instructionSet.hasAVX2 else {
                throw OneDNNError(.processorUnsupported, "an engine for the CPU, which has \(instructionSet)")
            }
        #endif
    }

    /// Whether bfloat16 is computed by instructions of its own. Without them most primitives refuse the type.
    package var hasBF16: Bool { instructionSet.hasBF16 }
    /// Channels that lie together where primitives choose blocks: what a vector register holds of float32.
    package var channelBlock: Int { instructionSet.hasAVX512 ? 16 : 8 }
    /// Whether products of 8-bit integers are summed in 32 bits at once. Without, sums of two products of uint8 and int8
    /// saturate at 16 bits on the way, so weights should keep to 7 bits; for sources of int8 oneDNN halves the weights to
    /// make room, and loses their last bit.
    package var hasExactInt8: Bool { instructionSet.hasExactInt8 }

    /// To be called before everything that may enter a parallel region, and before primitives are made: they are
    /// partitioned for the number of threads at that time.
    func useCallingThreadOnly() {
        functions.omp_set_num_threads(1)
    }
}

/// What oneDNN says of the processor.
package struct InstructionSet: Hashable, Sendable, CustomStringConvertible {
    /// One bit a capability, as in `dnnl_cpu_isa_t`.
    private let bits: UInt32

    init(_ isa: dnnl_cpu_isa_t) { bits = isa.rawValue }

    private func includes(_ isa: dnnl_cpu_isa_t) -> Bool { bits & isa.rawValue == isa.rawValue }

    var hasAVX2: Bool { includes(dnnl_cpu_isa_avx2) }
    var hasAVX512: Bool { includes(dnnl_cpu_isa_avx512_core) }
    package var hasBF16: Bool { includes(dnnl_cpu_isa_avx512_core_bf16) }
    package var hasAMX: Bool { includes(dnnl_cpu_isa_avx512_core_amx) }
    package var hasExactInt8: Bool { includes(dnnl_cpu_isa_avx512_core_vnni) || includes(dnnl_cpu_isa_avx2_vnni) }

    package var description: String {
        let names: [(dnnl_cpu_isa_t, String)] = [
            (dnnl_cpu_isa_avx512_core_amx, "avx512_core_amx"), (dnnl_cpu_isa_avx512_core_bf16, "avx512_core_bf16"),
            (dnnl_cpu_isa_avx512_core_vnni, "avx512_core_vnni"), (dnnl_cpu_isa_avx512_core, "avx512_core"),
            (dnnl_cpu_isa_avx2_vnni, "avx2_vnni"), (dnnl_cpu_isa_avx2, "avx2"), (dnnl_cpu_isa_avx, "avx"),
            (dnnl_cpu_isa_sse41, "sse41"),
        ]
        return names.first { includes($0.0) }?.1 ?? "generic"
    }
}
