import COneDNN

/// Products of matrices, batch by batch.
///
/// Source B… × M × K, weights B… × K × N, destination B… × M × N, all of one rank; batch dimensions of 1 are repeated. An
/// operand that lies transposed is passed as ``MemoryDescriptor/transposed()``. The bias has the destination's rank and
/// is repeated along dimensions of 1.
package struct MatrixProduct: PlainSumOfProducts {
    package let operands: ProductOperands

    package init(_ operands: ProductOperands) { self.operands = operands }

    /// `2 * B * M * N * K`, and one more for each element of the destination for a bias.
    package var floatingPointOperations: Int {
        destination.elementCount * (2 * (source.dimensions.last ?? 0) + (bias == nil ? 0 : 1))
    }

    package var description: String { "product of \(source) and \(weights) to \(destination)" }

    package func describe(on engine: CPUEngine, attributes: PreparedAttributes) throws(OneDNNError) -> OpaquePointer {
        var operation = dnnl_matmul_desc_t()
        var (source, weights, destination) = (source.raw, weights.raw, destination.raw)
        var bias = operands.rawBias
        try check(
            engine.functions.dnnl_matmul_desc_init(&operation, &source, &weights, &bias, &destination), "")
        return try engine.primitiveDescription(&operation, attributes)
    }
}
