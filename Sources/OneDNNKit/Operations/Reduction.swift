import COneDNN

/// One element for all along the dimensions in which the destination has 1 and the source more.
package struct Reduction: PrimitiveOperation {
    package enum Kind: String, Hashable, Sendable {
        case maximum, minimum, sum, product, mean
    }

    package let kind: Kind
    package let source: MemoryDescriptor
    package let destination: MemoryDescriptor

    package init(_ kind: Kind, _ source: MemoryDescriptor, destination: MemoryDescriptor) {
        self.kind = kind
        self.source = source
        self.destination = destination
    }

    package var arguments: [Argument] { [.source, .destination] }
    /// One for each element of the source.
    package var floatingPointOperations: Int { source.elementCount }
    package var description: String { "\(kind) of \(source) to \(destination)" }

    package func describe(on engine: CPUEngine, attributes: PreparedAttributes) throws(OneDNNError) -> OpaquePointer {
        var operation = dnnl_reduction_desc_t()
        var (source, destination) = (source.raw, destination.raw)
        let algorithm =
            switch kind {
            case .maximum: dnnl_reduction_max
            case .minimum: dnnl_reduction_min
            case .sum: dnnl_reduction_sum
            case .product: dnnl_reduction_mul
            case .mean: dnnl_reduction_mean
            }
        try check(
            engine.functions.dnnl_reduction_desc_init(&operation, algorithm, &source, &destination, 0, 0), "")
        return try engine.primitiveDescription(&operation, attributes)
    }
}
