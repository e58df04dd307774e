import COneDNN
import Locking

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
        // Chains with a padded convolution and an element-wise step first came out wrong in two of forty runs of tests that
        // made primitives on many threads; never yet with one maker at a time.
        let parts = try Self.making.withLock { (_) throws(OneDNNError) in
            try Parts(operation, attributes, on: engine)
        }
        self.handle = parts.handle
        self.engine = engine
        self.name = "\(operation)"
        self.implementation = parts.implementation
        self.parameters = parts.parameters
        self.scratchpad = MemoryDescriptor(parts.scratchpad)
        self.scratchpadByteCount = parts.scratchpad.ndims > 0 ? self.scratchpad.byteCount : 0
        self.floatingPointOperations =
            operation.floatingPointOperations
            + attributes.operationsPerElement * operation.destination.elementCount
    }

    /// Held while a primitive is made, by whichever thread.
    private static let making = Lock(())

    deinit {
        // A failed release has no caller left to tell and leaks at most this one object.
        _ = engine.functions.dnnl_primitive_destroy(handle)
    }

    /// How a buffer has to lie; nil for one that the primitive does not take.
    package func descriptor(of argument: Argument) -> MemoryDescriptor? {
        parameters.first { $0.argument == argument }?.descriptor
    }
}

/// What oneDNN says of a primitive that it has made.
///
/// `@unchecked Sendable` is true because there is one of it, which its maker hands over.
private struct Parts: @unchecked Sendable {
    let handle: OpaquePointer
    let implementation: String
    let parameters: [Primitive.Parameter]
    let scratchpad: dnnl_memory_desc_t

    init(
        _ operation: some PrimitiveOperation, _ attributes: Attributes, on engine: CPUEngine
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

        func descriptor(_ argument: Argument) throws(OneDNNError) -> Primitive.Parameter {
            guard let descriptor = engine.descriptor(of: argument, in: description) else {
                throw OneDNNError(.invalidArguments, "\(request): \(argument)")
            }
            return Primitive.Parameter(
                argument: argument, descriptor: descriptor, byteCount: descriptor.reachByteCount)
        }
        var parameters: [Primitive.Parameter] = []
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
        scratchpad =
            functions.dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0)?.pointee
            ?? dnnl_memory_desc_t()
        implementation = try engine.implementationName(description)
        self.parameters = parameters
        var raw: OpaquePointer?
        try check(functions.dnnl_primitive_create(&raw, description), request)
        handle = try made(raw, request)
    }
}
