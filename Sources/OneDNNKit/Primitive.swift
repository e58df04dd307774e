import COneDNN

/// An operation that oneDNN has chosen an implementation for and compiled; made once, executed as often as wanted by
/// ``CPUStream/execute(_:_:)``.
///
/// `@unchecked Sendable` is true because nothing in it changes once it is made: the scratchpad, the one thing that an
/// execution writes to beside the destination, belongs to the stream.
package final class Primitive: @unchecked Sendable {
    /// A buffer that an execution needs, and how it lies.
    package struct Parameter: Sendable {
        package let argument: Argument
        package let descriptor: MemoryDescriptor
        let byteCount: Int
    }

    package let engine: CPUEngine
    let handle: OpaquePointer
    /// What it does, with shapes: the beginning of each error.
    package let name: String
    /// oneDNN's name of the implementation, e.g. `jit:avx512_core`.
    package let implementation: String
    /// Whether oneDNN has nothing better than plain loops, which are tens of times slower: rather split the operation.
    package var isReference: Bool { implementation.hasPrefix("ref") }
    /// What has to be passed, the destination last before the post-operations' operands.
    package let parameters: [Parameter]
    /// Bytes that a stream keeps for it while it executes.
    package let scratchpadByteCount: Int
    let scratchpad: MemoryDescriptor
    /// Estimate of what one execution computes: see the operation's own, and one for each element of the destination
    /// and element-wise or binary post-operation, two for a sum.
    package let floatingPointOperations: Int

    /// - Parameters:
    ///   - operation: What to compute.
    ///   - attributes: Scales, zero points and what follows in the same pass.
    ///   - engine: Where.
    /// - Throws: ``OneDNNError`` with ``OneDNNError/Code/unimplemented`` or ``OneDNNError/Code/invalidArguments`` where
    ///   oneDNN cannot do it.
    package init(
        _ operation: some PrimitiveOperation, _ attributes: Attributes = Attributes(), on engine: CPUEngine
    ) throws(OneDNNError) {
        let functions = engine.functions
        let request = attributes.isEmpty ? "\(operation)" : "\(operation) with \(attributes)"
        engine.useCallingThreadOnly()
        let prepared = try PreparedAttributes(attributes, for: operation, on: engine, request)
        let description: OpaquePointer
        do throws(OneDNNError) {
            description = try operation.describe(on: engine, attributes: prepared)
        } catch {
            throw OneDNNError(error.code, request, status: error.status)
        }
        defer { _ = functions.dnnl_primitive_desc_destroy(description) }

        func descriptor(_ argument: Argument) throws(OneDNNError) -> Parameter {
            guard
                let found = functions.dnnl_primitive_desc_query_md(
                    description, dnnl_query_exec_arg_md, argument.index), found.pointee.ndims > 0
            else { throw OneDNNError(.invalidArguments, "\(request): \(argument)") }
            let descriptor = MemoryDescriptor(found.pointee)
            return Parameter(argument: argument, descriptor: descriptor, byteCount: descriptor.byteCount)
        }
        var parameters: [Parameter] = []
        for argument in operation.arguments + attributes.arguments { parameters.append(try descriptor(argument)) }
        // One that lies otherwise than the destination would be read in the destination's order.
        for parameter in parameters.suffix(attributes.arguments.count) {
            guard let target = parameters.first(where: { $0.argument == .destination })?.descriptor,
                parameter.descriptor.dimensions == target.dimensions
            else { continue }
            guard parameter.descriptor.hasPlacesOf(target) else {
                throw OneDNNError(.unimplemented, "\(request): \(parameter.argument) lies otherwise than \(target)")
            }
        }
        let scratchpad =
            functions.dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0)?.pointee
            ?? dnnl_memory_desc_t()
        let implementation = try engine.implementationName(description)
        var made: OpaquePointer?
        try check(functions.dnnl_primitive_create(&made, description), request)

        self.handle = try OneDNNKit.made(made, request)
        self.engine = engine
        self.name = "\(operation)"
        self.implementation = implementation
        self.parameters = parameters
        self.scratchpad = MemoryDescriptor(scratchpad)
        self.scratchpadByteCount = scratchpad.ndims > 0 ? self.scratchpad.byteCount : 0
        self.floatingPointOperations =
            operation.floatingPointOperations
            + attributes.operationsPerElement * operation.destination.elementCount
    }

    deinit {
        // A failed release has no caller left to tell and leaks at most this one object.
        _ = engine.functions.dnnl_primitive_destroy(handle)
    }

    /// How a buffer has to lie; nil for one that the primitive does not take.
    package func descriptor(of argument: Argument) -> MemoryDescriptor? {
        parameters.first { $0.argument == argument }?.descriptor
    }
}
