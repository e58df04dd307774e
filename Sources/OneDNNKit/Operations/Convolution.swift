import COneDNN

/// Cross-correlation over 1 to 3 spatial dimensions, as neural networks call convolution.
///
/// Source N × C × spatial, destination N × O × spatial. Weights O × C × kernel, or with groups G × O/G × C/G × kernel;
/// depthwise is G = C. Plain bytes of ONNX's weights O × C/G × kernel are those of the grouped form. Bias: O.
package struct Convolution: WindowedSumOfProducts {
    package let operands: ProductOperands
    package let window: Window

    package init(_ operands: ProductOperands, window: Window) {
        self.operands = operands
        self.window = window
    }

    /// `2 * N * O * (C / G) * kernel * spatial` of the destination, taps on padding included, and one more for a bias.
    package var floatingPointOperations: Int {
        let hasGroups = weights.rank > source.rank
        let taps = weights.dimensions.dropFirst(hasGroups ? 2 : 1).reduce(1, *)
        return destination.elementCount * (2 * taps + (bias == nil ? 0 : 1))
    }

    package var description: String { "convolution of \(source) with \(weights) to \(destination), \(window)" }

    package func describe(on engine: CPUEngine, attributes: PreparedAttributes) throws(OneDNNError) -> OpaquePointer {
        try window.validate(spatialRank: source.rank - 2)
        var operation = dnnl_convolution_desc_t()
        var (source, weights, destination) = (source.raw, weights.raw, destination.raw)
        var bias = operands.rawBias
        let window = window.raw
        try check(
            engine.functions.dnnl_dilated_convolution_forward_desc_init(
                &operation, dnnl_forward_inference, dnnl_convolution_direct, &source, &weights, &bias, &destination,
                window.strides, window.dilations, window.before, window.after), "")
        return try engine.primitiveDescription(&operation, attributes)
    }
}
