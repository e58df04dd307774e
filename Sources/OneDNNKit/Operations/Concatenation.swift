import COneDNN

/// Sources one after the other along one dimension; they agree in all others.
package struct Concatenation: PrimitiveOperation {
    package let sources: [MemoryDescriptor]
    package let axis: Int
    package let destination: MemoryDescriptor

    /// - Parameters:
    ///   - sources: At least one; passed as ``Argument/source(_:)``.
    ///   - axis: Dimension along which they are put together.
    ///   - destination: As the sources, with the sum of their sizes along `axis`.
    package init(_ sources: [MemoryDescriptor], axis: Int, destination: MemoryDescriptor) {
        self.sources = sources
        self.axis = axis
        self.destination = destination
    }

    package var arguments: [Argument] { sources.indices.map { .source($0) } + [.destination] }
    /// None: elements are moved.
    package var floatingPointOperations: Int { 0 }
    package var description: String { "concatenation of \(sources) along \(axis) to \(destination)" }

    package func describe(on engine: CPUEngine, attributes: PreparedAttributes) throws(OneDNNError) -> OpaquePointer {
        guard (0..<destination.rank).contains(axis) else { throw OneDNNError(.invalidArguments, "") }
        var (raw, destination) = (OpaquePointer?.none, destination.raw)
        try check(
            engine.functions.dnnl_concat_primitive_desc_create(
                &raw, &destination, Int32(sources.count), Int32(axis), sources.map(\.raw), attributes.handle,
                engine.handle),
            "")
        return try made(raw, "")
    }
}
