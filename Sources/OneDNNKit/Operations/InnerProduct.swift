import COneDNN

/// A fully connected layer: source N × C [× spatial], weights O × C [× spatial], bias O, destination N × O.
package struct InnerProduct: PlainSumOfProducts {
    package let operands: ProductOperands

    package init(_ operands: ProductOperands) { self.operands = operands }

    /// `2 * N * O * C * spatial`, and one for each element of the destination for a bias.
    package var floatingPointOperations: Int {
        let taps = weights.dimensions.dropFirst().reduce(1, *)
        return destination.elementCount * (2 * taps + (bias == nil ? 0 : 1))
    }

    package var description: String { "inner product of \(source) and \(weights) to \(destination)" }

    package func describe(on engine: CPUEngine, attributes: PreparedAttributes) throws(OneDNNError) -> OpaquePointer {
        var operation = dnnl_inner_product_desc_t()
        var (source, weights, destination) = (source.raw, weights.raw, destination.raw)
        var bias = operands.rawBias
        try check(
            engine.functions.dnnl_inner_product_forward_desc_init(
                &operation, dnnl_forward_inference, &source, &weights, &bias, &destination), "")
        return try engine.primitiveDescription(&operation, attributes)
    }
}
