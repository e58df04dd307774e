import COneDNN

/// `exp(x - max) / sum(exp(x - max))` along one dimension, or the logarithm of that.
package struct Softmax: PrimitiveOperation {
    package let source: MemoryDescriptor
    package let destination: MemoryDescriptor
    package let axis: Int
    package let isLogarithm: Bool

    /// - Parameters:
    ///   - source: Any rank.
    ///   - destination: Same dimensions; as the source when not given.
    ///   - axis: Dimension along which the results (of softmax) sum to 1.
    ///   - isLogarithm: Gives `x - max - log(sum(exp(x - max)))`.
    package init(
        _ source: MemoryDescriptor, destination: MemoryDescriptor? = nil, axis: Int, isLogarithm: Bool = false
    ) {
        self.source = source
        self.destination = destination ?? source
        self.axis = axis
        self.isLogarithm = isLogarithm
    }

    package var arguments: [Argument] { [.source, .destination] }
    /// Five for each element: compare, subtract, exponential, add, divide.
    package var floatingPointOperations: Int { 5 * source.elementCount }
    package var description: String { "\(isLogarithm ? "log-softmax" : "softmax") of \(source) along \(axis)" }

    package func describe(on engine: CPUEngine, attributes: PreparedAttributes) throws(OneDNNError) -> OpaquePointer {
        guard (0..<source.rank).contains(axis) else { throw OneDNNError(.invalidArguments, "") }
        var operation = dnnl_softmax_v2_desc_t()
        var (source, destination) = (source.raw, destination.raw)
        try check(
            engine.functions.dnnl_softmax_v2_forward_desc_init(
                &operation, dnnl_forward_inference, isLogarithm ? dnnl_softmax_log : dnnl_softmax_accurate, &source,
                &destination, Int32(axis)), "")
        return try engine.primitiveDescription(&operation, attributes)
    }
}
