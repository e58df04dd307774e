import COneDNN

/// A primitive with its operands, looked up once and executed many times: what ``CPUStream/execute(_:_:)`` does anew each
/// time costs as much as a small layer.
///
/// Not `Sendable`: it is used on the thread that uses its stream. Buffers that are passed stay the caller's, and have to be
/// there for as long as it is executed.
package final class PreparedExecution {
    package let primitive: Primitive
    private let stream: CPUStream
    private var arguments: [dnnl_exec_arg_t] = []
    private let parameters: [Primitive.Parameter]

    /// - Parameters:
    ///   - primitive: What to compute.
    ///   - operands: A buffer for each of ``Primitive/parameters``; those that are missing are passed before each execution.
    ///   - stream: Has room reserved for the primitive, and reserves no more later.
    /// - Throws: ``OneDNNError/Code/operandUnexpected``, ``OneDNNError/Code/operandUnsuitable``; what oneDNN refuses.
    package init(_ primitive: Primitive, _ operands: [Operand], on stream: CPUStream) throws(OneDNNError) {
        self.primitive = primitive
        self.stream = stream
        parameters = primitive.parameters
        if let stray = operands.first(where: { primitive.descriptor(of: $0.argument) == nil }) {
            throw OneDNNError(.operandUnexpected, "\(primitive.name): \(stray.argument)")
        }
        precondition(
            stream.scratchpadByteCount >= primitive.scratchpadByteCount, "reserve room for the primitive before")
        for parameter in parameters {
            let operand = operands.first { $0.argument == parameter.argument }
            try operand?.check(as: parameter, of: primitive)
            try append(parameter.argument.index, parameter.descriptor, operand?.start)
        }
        if primitive.scratchpadByteCount > 0 {
            try append(DNNL_ARG_SCRATCHPAD, primitive.scratchpad, stream.scratchpad.baseAddress)
        }
    }

    deinit {
        // A failed release has no caller left to tell.
        for argument in arguments { _ = stream.engine.functions.dnnl_memory_destroy(argument.memory) }
    }

    private func append(
        _ index: Int32, _ descriptor: MemoryDescriptor, _ start: UnsafeMutableRawPointer?
    ) throws(OneDNNError) {
        var memory: OpaquePointer?
        let engine = stream.engine
        try withUnsafePointer(to: descriptor.raw) { (raw) throws(OneDNNError) in
            try check(
                engine.functions.dnnl_memory_create(&memory, raw, engine.handle, start),
                "\(primitive.name): a memory object")
        }
        arguments.append(dnnl_exec_arg_t(arg: index, memory: memory))
    }

    /// Passes a buffer from now on.
    ///
    /// - Throws: As the initialiser.
    package func pass(_ operand: Operand) throws(OneDNNError) {
        guard let place = parameters.firstIndex(where: { $0.argument == operand.argument }) else {
            throw OneDNNError(.operandUnexpected, "\(primitive.name): \(operand.argument)")
        }
        try operand.check(as: parameters[place], of: primitive)
        try check(
            stream.engine.functions.dnnl_memory_set_data_handle(arguments[place].memory, operand.start), primitive.name)
    }

    /// Computes, and returns when the destination is complete.
    ///
    /// - Throws: ``OneDNNError/Code/runtimeError``.
    package func execute() throws(OneDNNError) {
        let functions = stream.engine.functions
        stream.engine.useCallingThreadOnly()
        try check(
            functions.dnnl_primitive_execute(primitive.handle, stream.handle, Int32(arguments.count), arguments),
            primitive.name)
        try check(functions.dnnl_stream_wait(stream.handle), primitive.name)
    }
}
