import COneDNN

/// `scale * (x - mean) / sqrt(variance + epsilon) + shift` along the last dimension, with the variance of all its
/// elements (divided by their number).
///
/// Scale and shift are float32, one for each element of the last dimension.
package struct LayerNormalization: PrimitiveOperation {
    /// Any rank from 2 on; the destination lies as the source does.
    package let source: MemoryDescriptor
    package let epsilon: Float
    package let hasScale: Bool
    package let hasShift: Bool

    package init(_ source: MemoryDescriptor, epsilon: Float, hasScale: Bool = true, hasShift: Bool = true) {
        self.source = source
        self.epsilon = epsilon
        self.hasScale = hasScale
        self.hasShift = hasShift
    }

    package var destination: MemoryDescriptor { source }
    package var arguments: [Argument] {
        [.source] + (hasScale ? [.scale] : []) + (hasShift ? [.shift] : []) + [.destination]
    }
    /// Eight for each element: one for the mean, three for the variance, two to normalise, two to scale and shift.
    package var floatingPointOperations: Int { 8 * source.elementCount }
    package var description: String { "layer normalisation of \(source)" }

    package func describe(on engine: CPUEngine, attributes: PreparedAttributes) throws(OneDNNError) -> OpaquePointer {
        var (operation, source) = (dnnl_layer_normalization_desc_t(), source.raw)
        var flags: UInt32 = 0
        if hasScale { flags |= dnnl_use_scale.rawValue }
        if hasShift { flags |= dnnl_use_shift.rawValue }
        try check(
            engine.functions.dnnl_layer_normalization_forward_desc_init(
                &operation, dnnl_forward_inference, &source, nil, epsilon, flags), "")
        return try engine.primitiveDescription(&operation, attributes)
    }
}
