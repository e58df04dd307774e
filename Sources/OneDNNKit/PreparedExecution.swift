import COneDNN

/// A primitive with its operands, looked up once and executed many times: what ``CPUStream/execute(_:_:)`` does anew each
/// time costs as much as a small layer.
///
/// Not `Sendable`: it is used on the thread that uses its stream. Buffers that are passed stay the caller's, and have to be
/// there for as long as it is executed.
package final class PreparedExecution {
    package let primitive: Primitive
    private let stream: CPUStream
    private let parameters: [Primitive.Parameter]
    private let arguments: UnsafeMutablePointer<dnnl_exec_arg_t>
    private var argumentCount = 0

    /// An execution without what holds it, for whoever executes many in a row: caches have forgotten whatever else each
    /// looks at, while the one before computed.
    package struct Call {
        fileprivate let primitive: OpaquePointer
        fileprivate let stream: OpaquePointer
        fileprivate let arguments: UnsafeMutablePointer<dnnl_exec_arg_t>
        fileprivate let argumentCount: Int32
        fileprivate let setThreadCount: @convention(c) (Int32) -> Void
        fileprivate let execute:
            @convention(c) (OpaquePointer?, OpaquePointer?, Int32, UnsafePointer<dnnl_exec_arg_t>?) -> dnnl_status_t
        fileprivate let wait: @convention(c) (OpaquePointer?) -> dnnl_status_t

        /// Computes, and returns when the destination is complete. To be used while the execution is held.
        package func compute() -> Outcome {
            setThreadCount(1)
            let status = execute(primitive, stream, argumentCount, arguments)
            return Outcome(status: status == dnnl_success ? wait(stream) : status)
        }
    }

    /// What became of a call; see ``PreparedExecution/check(_:)``.
    package struct Outcome {
        fileprivate let status: dnnl_status_t
        package var isGood: Bool { status == dnnl_success }
    }

    package var call: Call {
        let functions = stream.engine.functions
        return Call(
            primitive: primitive.handle, stream: stream.handle, arguments: arguments,
            argumentCount: Int32(argumentCount), setThreadCount: functions.omp_set_num_threads,
            execute: functions.dnnl_primitive_execute, wait: functions.dnnl_stream_wait)
    }

    /// - Parameters:
    ///   - primitive: What to compute.
    ///   - operands: A buffer for each of ``Primitive/parameters``; those that are missing are passed before each execution.
    ///   - stream: Has room reserved for the primitive, and reserves no more later.
    /// - Throws: ``OneDNNError/Code/operandUnexpected``, ``OneDNNError/Code/operandUnsuitable``; what oneDNN refuses.
    package init(_ primitive: Primitive, _ operands: [Operand], on stream: CPUStream) throws(OneDNNError) {
        self.primitive = primitive
        self.stream = stream
        parameters = primitive.parameters
        arguments = .allocate(capacity: parameters.count + 1)
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
        for place in 0..<argumentCount {
            _ = stream.engine.functions.dnnl_memory_destroy(arguments[place].memory)
        }
        arguments.deallocate()
    }

    private func append(
        _ index: Int32, _ descriptor: MemoryDescriptor, _ start: UnsafeMutableRawPointer?
    ) throws(OneDNNError) {
        var memory: OpaquePointer?
        let engine = stream.engine
        try withUnsafePointer(to: descriptor.raw) { (raw) throws(OneDNNError) in
            try OneDNNKit.check(
                engine.functions.dnnl_memory_create(&memory, raw, engine.handle, start),
                "\(primitive.name): a memory object")
        }
        arguments[argumentCount] = dnnl_exec_arg_t(arg: index, memory: memory)
        argumentCount += 1
    }

    /// Passes a buffer from now on.
    ///
    /// - Throws: As the initialiser.
    package func pass(_ operand: Operand) throws(OneDNNError) {
        guard let place = parameters.firstIndex(where: { $0.argument == operand.argument }) else {
            throw OneDNNError(.operandUnexpected, "\(primitive.name): \(operand.argument)")
        }
        try operand.check(as: parameters[place], of: primitive)
        try OneDNNKit.check(
            stream.engine.functions.dnnl_memory_set_data_handle(arguments[place].memory, operand.start), primitive.name)
    }

    /// Computes, and returns when the destination is complete.
    ///
    /// - Throws: ``OneDNNError/Code/runtimeError``.
    package func execute() throws(OneDNNError) { try check(call.compute()) }

    /// - Throws: What kept a call of this execution from computing.
    package func check(_ outcome: Outcome) throws(OneDNNError) {
        try OneDNNKit.check(outcome.status, primitive.name)
    }
}
