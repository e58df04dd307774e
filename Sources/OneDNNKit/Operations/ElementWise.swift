import COneDNN

/// One function of each element; the destination lies as the source does.
package struct ElementWise: PrimitiveOperation {
    package let function: ElementFunction
    package let source: MemoryDescriptor

    package init(_ function: ElementFunction, _ source: MemoryDescriptor) {
        self.function = function
        self.source = source
    }

    package var destination: MemoryDescriptor { source }
    package var arguments: [Argument] { [.source, .destination] }
    /// One for each element, whatever the function.
    package var floatingPointOperations: Int { source.elementCount }
    package var description: String { "\(function) of \(source)" }

    package func describe(on engine: CPUEngine, attributes: PreparedAttributes) throws(OneDNNError) -> OpaquePointer {
        var (operation, source) = (dnnl_eltwise_desc_t(), source.raw)
        let (algorithm, alpha, beta) = function.raw
        try check(
            engine.functions.dnnl_eltwise_forward_desc_init(
                &operation, dnnl_forward_inference, algorithm, &source, alpha, beta), "")
        return try engine.primitiveDescription(&operation, attributes)
    }
}
