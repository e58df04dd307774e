import COneDNN

/// The gradient of ``Convolution`` with respect to its source, used as an upsampling.
///
/// Source N × C × spatial, destination N × O × spatial. Weights O × C × kernel, or G × O/G × C/G × kernel: ONNX keeps
/// C × O/G × kernel, which is this with two dimensions exchanged (``MemoryDescriptor/permuted(_:)``). Bias: O.
package struct TransposedConvolution: WindowedSumOfProducts {
    package let operands: ProductOperands
    package let window: Window

    package init(_ operands: ProductOperands, window: Window) {
        self.operands = operands
        self.window = window
    }

    /// `2 * N * C * (O / G) * kernel * spatial` of the source, and one for each element of the destination for a bias.
    package var floatingPointOperations: Int {
        let hasGroups = weights.rank > source.rank
        let dimensions = weights.dimensions
        let outputs = hasGroups ? dimensions[1] : dimensions[0]
        let taps = outputs * dimensions.dropFirst(hasGroups ? 3 : 2).reduce(1, *)
        return source.elementCount * 2 * taps + (bias == nil ? 0 : destination.elementCount)
    }

    package var description: String {
        "transposed convolution of \(source) with \(weights) to \(destination), \(window)"
    }

    package func describe(on engine: CPUEngine, attributes: PreparedAttributes) throws(OneDNNError) -> OpaquePointer {
        try window.validate(spatialRank: source.rank - 2)
        var operation = dnnl_deconvolution_desc_t()
        var (source, weights, destination) = (source.raw, weights.raw, destination.raw)
        var bias = operands.rawBias
        let window = window.raw
        try check(
            engine.functions.dnnl_dilated_deconvolution_forward_desc_init(
                &operation, dnnl_forward_inference, dnnl_deconvolution_direct, &source, &weights, &bias, &destination,
                window.strides, window.dilations, window.before, window.after), "")
        return try engine.primitiveDescription(&operation, attributes)
    }
}
