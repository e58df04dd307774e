import COneDNN

/// The same elements in another layout or type. Numbers are rounded to the nearest, ties to even; integers saturate.
package struct Reorder: PrimitiveOperation {
    package let source: MemoryDescriptor
    package let destination: MemoryDescriptor

    package init(_ source: MemoryDescriptor, to destination: MemoryDescriptor) {
        self.source = source
        self.destination = destination
    }

    package var arguments: [Argument] { [.source, .destination] }
    /// None: elements are moved.
    package var floatingPointOperations: Int { 0 }
    package var description: String { "reorder of \(source) to \(destination)" }

    package func describe(on engine: CPUEngine, attributes: PreparedAttributes) throws(OneDNNError) -> OpaquePointer {
        guard !source.isChosenByPrimitive, !destination.isChosenByPrimitive else {
            throw OneDNNError(.invalidArguments, "")
        }
        var (raw, source, destination) = (OpaquePointer?.none, source.raw, destination.raw)
        try check(
            engine.functions.dnnl_reorder_primitive_desc_create(
                &raw, &source, engine.handle, &destination, engine.handle, attributes.handle), "")
        return try made(raw, "")
    }
}
