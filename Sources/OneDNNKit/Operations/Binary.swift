import COneDNN

/// A function of two elements.
package enum BinaryFunction: String, Hashable, Sendable {
    case add, subtract, multiply, divide, minimum, maximum

    var raw: dnnl_alg_kind_t {
        switch self {
        case .add: dnnl_binary_add
        case .subtract: dnnl_binary_sub
        case .multiply: dnnl_binary_mul
        case .divide: dnnl_binary_div
        case .minimum: dnnl_binary_min
        case .maximum: dnnl_binary_max
        }
    }
}

/// `function(first, second)` element by element; both have the destination's rank and are repeated along dimensions of 1.
package struct Binary: PrimitiveOperation {
    package let function: BinaryFunction
    package let first: MemoryDescriptor
    package let second: MemoryDescriptor
    package let destination: MemoryDescriptor

    package init(
        _ function: BinaryFunction, _ first: MemoryDescriptor, _ second: MemoryDescriptor,
        destination: MemoryDescriptor
    ) {
        self.function = function
        self.first = first
        self.second = second
        self.destination = destination
    }

    package var arguments: [Argument] { [.source, .secondSource, .destination] }
    /// One for each element of the destination.
    package var floatingPointOperations: Int { destination.elementCount }
    package var description: String { "\(function) of \(first) and \(second) to \(destination)" }

    package func describe(on engine: CPUEngine, attributes: PreparedAttributes) throws(OneDNNError) -> OpaquePointer {
        var operation = dnnl_binary_desc_t()
        var (first, second, destination) = (first.raw, second.raw, destination.raw)
        try check(
            engine.functions.dnnl_binary_desc_init(&operation, function.raw, &first, &second, &destination), "")
        return try engine.primitiveDescription(&operation, attributes)
    }
}
