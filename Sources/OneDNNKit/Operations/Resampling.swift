import COneDNN

/// Another size in the spatial dimensions; N and C stay.
///
/// Element o of the destination stands at `(o + 0.5) * sourceSize / destinationSize - 0.5` of the source, which ONNX
/// calls half-pixel. Positions outside take the edge.
package struct Resampling: PrimitiveOperation {
    package enum Kind: String, Hashable, Sendable {
        /// The element nearest to that position; of two, the one further on.
        case nearest
        /// Weighted by distance along each spatial dimension.
        case linear
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
    /// Nearest none; linear `2 * 2^d` for each element of the destination and d spatial dimensions.
    package var floatingPointOperations: Int {
        kind == .nearest ? 0 : destination.elementCount * 2 << max(source.rank - 2, 0)
    }
    package var description: String { "\(kind) resampling of \(source) to \(destination)" }

    package func describe(on engine: CPUEngine, attributes: PreparedAttributes) throws(OneDNNError) -> OpaquePointer {
        var operation = dnnl_resampling_desc_t()
        var (source, destination) = (source.raw, destination.raw)
        try check(
            engine.functions.dnnl_resampling_forward_desc_init(
                &operation, dnnl_forward_inference,
                kind == .nearest ? dnnl_resampling_nearest : dnnl_resampling_linear, nil, &source, &destination), "")
        return try engine.primitiveDescription(&operation, attributes)
    }
}
