import COneDNN

/// `scale[0] * source[0] + scale[1] * source[1] + …`; all have the same dimensions.
package struct Sum: PrimitiveOperation {
    package let sources: [MemoryDescriptor]
    package let scales: [Float]
    package let destination: MemoryDescriptor

    /// - Parameters:
    ///   - sources: At least one; passed as ``Argument/source(_:)``.
    ///   - scales: One for each source; all 1 when not given.
    ///   - destination: Same dimensions as each source.
    package init(_ sources: [MemoryDescriptor], scales: [Float]? = nil, destination: MemoryDescriptor) {
        self.sources = sources
        self.scales = scales ?? sources.map { _ in 1 }
        self.destination = destination
    }

    package var arguments: [Argument] { sources.indices.map { .source($0) } + [.destination] }
    /// Two for each element of each source.
    package var floatingPointOperations: Int { 2 * sources.count * destination.elementCount }
    package var description: String { "sum of \(sources) to \(destination)" }

    package func describe(on engine: CPUEngine, attributes: PreparedAttributes) throws(OneDNNError) -> OpaquePointer {
        guard sources.count == scales.count else { throw OneDNNError(.invalidArguments, "") }
        var (raw, destination) = (OpaquePointer?.none, destination.raw)
        try check(
            engine.functions.dnnl_sum_primitive_desc_create(
                &raw, &destination, Int32(sources.count), scales, sources.map(\.raw), attributes.handle, engine.handle),
            "")
        return try made(raw, "")
    }
}
