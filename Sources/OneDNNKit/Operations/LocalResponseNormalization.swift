import COneDNN

/// `x · (bias + alpha / size · sum of squares of neighbouring channels) ^ -beta` (Krizhevsky, Sutskever and Hinton, ImageNet
/// Classification with Deep Convolutional Neural Networks, 2012).
package struct LocalResponseNormalization: PrimitiveOperation {
    package let source: MemoryDescriptor
    package let destination: MemoryDescriptor
    /// Channels whose squares are summed, as many on one side as on the other.
    package let size: Int
    package let alpha: Float
    package let beta: Float
    package let bias: Float

    /// - Parameters:
    ///   - source: N × C × spatial; the destination lies in the same way.
    ///   - size: Odd: of an even number oneDNN takes one channel less than the standard has.
    ///   - alpha: Of the mean of the squares.
    ///   - beta: The exponent.
    ///   - bias: Added to the mean.
    package init(_ source: MemoryDescriptor, size: Int, alpha: Float, beta: Float, bias: Float) {
        self.source = source
        destination = source
        (self.size, self.alpha, self.beta, self.bias) = (size, alpha, beta, bias)
    }

    package var arguments: [Argument] { [.source, .destination] }
    /// For each element: a product and a sum for each neighbour, and three more.
    package var floatingPointOperations: Int { (2 * size + 3) * source.elementCount }
    package var description: String { "local response normalisation of \(source) over \(size) channels" }

    package func describe(on engine: CPUEngine, attributes: PreparedAttributes) throws(OneDNNError) -> OpaquePointer {
        guard size > 0, size % 2 == 1 else { throw OneDNNError(.invalidArguments, "") }
        var operation = dnnl_lrn_desc_t()
        var source = source.raw
        try check(
            engine.functions.dnnl_lrn_forward_desc_init(
                &operation, dnnl_forward_inference, dnnl_lrn_across_channels, &source, Int64(size), alpha, beta, bias),
            "")
        return try engine.primitiveDescription(&operation, attributes)
    }
}
