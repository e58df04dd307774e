import COneDNN

/// The largest or the mean element under a window. A window as large as the source is global pooling.
package struct Pooling: PrimitiveOperation {
    package enum Kind: String, Hashable, Sendable {
        case maximum
        /// Padding counts as zeros.
        case averageWithPadding
        /// Divided by the number of elements under the window that exist.
        case averageWithoutPadding
    }

    package let kind: Kind
    package let source: MemoryDescriptor
    package let destination: MemoryDescriptor
    /// One entry for each spatial dimension.
    package let kernel: [Int]
    package let window: Window

    package init(
        _ kind: Kind, _ source: MemoryDescriptor, destination: MemoryDescriptor, kernel: [Int], window: Window
    ) {
        self.kind = kind
        self.source = source
        self.destination = destination
        self.kernel = kernel
        self.window = window
    }

    package var arguments: [Argument] { [.source, .destination] }
    /// One for each element of the destination and of the kernel.
    package var floatingPointOperations: Int { destination.elementCount * kernel.reduce(1, *) }
    package var description: String { "\(kind) pooling of \(source) by \(kernel) to \(destination), \(window)" }

    package func describe(on engine: CPUEngine, attributes: PreparedAttributes) throws(OneDNNError) -> OpaquePointer {
        try window.validate(spatialRank: source.rank - 2)
        guard kernel.count == source.rank - 2 else { throw OneDNNError(.invalidArguments, "") }
        var operation = dnnl_pooling_v2_desc_t()
        var (source, destination) = (source.raw, destination.raw)
        let algorithm =
            switch kind {
            case .maximum: dnnl_pooling_max
            case .averageWithPadding: dnnl_pooling_avg_include_padding
            case .averageWithoutPadding: dnnl_pooling_avg_exclude_padding
            }
        let window = window.raw
        try check(
            engine.functions.dnnl_pooling_v2_forward_desc_init(
                &operation, dnnl_forward_inference, algorithm, &source, &destination, window.strides,
                kernel.map(Int64.init), window.dilations, window.before, window.after), "")
        return try engine.primitiveDescription(&operation, attributes)
    }
}
