import COneDNN

/// Executes primitives one after the other on the thread that asks, with a scratchpad of its own.
///
/// Not `Sendable`: one thread at a time uses it. Any number of streams may execute the same primitives and read the same
/// weights at once.
package final class CPUStream {
    package let engine: CPUEngine
    let handle: OpaquePointer
    private var reserve: AlignedBuffer
    /// Bytes that are reserved for whatever executes here.
    package private(set) var scratchpadByteCount = 0

    package init(on engine: CPUEngine) throws(OneDNNError) {
        var raw: OpaquePointer?
        try check(
            engine.functions.dnnl_stream_create(&raw, engine.handle, dnnl_stream_default_flags.rawValue), "a stream")
        handle = try made(raw, "a stream")
        self.engine = engine
        reserve = AlignedBuffer(byteCount: 0)
    }

    deinit {
        // A failed release has no caller left to tell and leaks at most this one object.
        _ = engine.functions.dnnl_stream_destroy(handle)
    }

    /// Sees to it that there are so many bytes, so that no execution of what needs no more has to.
    package func reserveScratchpad(byteCount: Int) {
        guard byteCount > scratchpadByteCount else { return }
        reserve = AlignedBuffer(byteCount: byteCount)
        scratchpadByteCount = byteCount
    }

    /// What is reserved, until more is; to be used while this is held.
    package var scratchpad: UnsafeMutableRawBufferPointer { reserve.bytes }

    /// Computes, and returns when the destination is complete.
    ///
    /// - Parameters:
    ///   - primitive: What to compute.
    ///   - operands: A buffer for each of ``Primitive/parameters``, in any order. A layout with padding has to come from
    ///     a primitive: padding is not set here, and must be zero. Addresses that are multiples of 64 are fastest.
    /// - Throws: ``OneDNNError/Code/operandMissing``, ``OneDNNError/Code/operandUnexpected`` and
    ///   ``OneDNNError/Code/operandUnsuitable`` before anything is computed; what oneDNN refuses.
    package func execute(_ primitive: Primitive, _ operands: [Operand]) throws(OneDNNError) {
        let functions = engine.functions
        guard operands.count <= primitive.parameters.count else {
            let unexpected = operands.first { primitive.descriptor(of: $0.argument) == nil }
            throw OneDNNError(
                .operandUnexpected,
                "\(primitive.name): \(unexpected?.argument.description ?? "an operand passed twice")")
        }
        reserveScratchpad(byteCount: primitive.scratchpadByteCount)
        var arguments: [dnnl_exec_arg_t] = []
        arguments.reserveCapacity(operands.count + 1)
        defer { for argument in arguments { _ = functions.dnnl_memory_destroy(argument.memory) } }

        func pass(_ index: Int32, _ descriptor: MemoryDescriptor, _ start: UnsafeMutableRawPointer?) throws(OneDNNError)
        {
            var memory: OpaquePointer?
            try withUnsafePointer(to: descriptor.raw) { (raw) throws(OneDNNError) in
                try check(
                    functions.dnnl_memory_create(&memory, raw, engine.handle, start),
                    "\(primitive.name): a memory object")
            }
            arguments.append(dnnl_exec_arg_t(arg: index, memory: memory))
        }
        for parameter in primitive.parameters {
            guard let operand = operands.first(where: { $0.argument == parameter.argument }) else {
                throw OneDNNError(.operandMissing, "\(primitive.name): \(parameter.argument)")
            }
            try operand.check(as: parameter, of: primitive)
            try pass(parameter.argument.index, parameter.descriptor, operand.start)
        }
        if primitive.scratchpadByteCount > 0 {
            try pass(DNNL_ARG_SCRATCHPAD, primitive.scratchpad, scratchpad.baseAddress)
        }
        engine.useCallingThreadOnly()
        try check(
            functions.dnnl_primitive_execute(primitive.handle, handle, Int32(arguments.count), arguments),
            primitive.name)
        try check(functions.dnnl_stream_wait(handle), primitive.name)
    }
}
