/// What a primitive computes, with the descriptors of its operands. Descriptors whose layout is left to the primitive
/// are found out by ``Primitive/descriptor(of:)``.
package protocol PrimitiveOperation: Sendable, CustomStringConvertible {
    /// What has to be passed to an execution, apart from post-operations.
    var arguments: [Argument] { get }
    var destination: MemoryDescriptor { get }
    /// An estimate by a stated formula, so that rates can be compared.
    var floatingPointOperations: Int { get }

    /// - Parameters:
    ///   - engine: Where it will be computed.
    ///   - attributes: What the primitive will be made with.
    /// - Returns: A `dnnl_primitive_desc_t`, which the caller destroys.
    /// - Throws: What oneDNN refuses; the caller adds the request.
    func describe(on engine: CPUEngine, attributes: PreparedAttributes) throws(OneDNNError) -> OpaquePointer
}
