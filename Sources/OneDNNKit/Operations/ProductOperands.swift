import COneDNN

/// What an operation takes and gives that multiplies a source by weights and adds up.
package struct ProductOperands: Sendable {
    package let source: MemoryDescriptor
    package let weights: MemoryDescriptor
    package let bias: MemoryDescriptor?
    package let destination: MemoryDescriptor

    var arguments: [Argument] { [.source, .weights] + (bias == nil ? [] : [.bias]) + [.destination] }

    /// One without dimensions is none.
    var rawBias: dnnl_memory_desc_t { bias?.raw ?? dnnl_memory_desc_t() }
}

/// The operations that quantisation and residuals are made for.
package protocol SumOfProducts: PrimitiveOperation {
    var operands: ProductOperands { get }
}

extension SumOfProducts {
    package var source: MemoryDescriptor { operands.source }
    package var weights: MemoryDescriptor { operands.weights }
    package var bias: MemoryDescriptor? { operands.bias }
    package var destination: MemoryDescriptor { operands.destination }
    package var arguments: [Argument] { operands.arguments }
}

/// One that its operands say everything about.
package protocol PlainSumOfProducts: SumOfProducts {
    init(_ operands: ProductOperands)
}

extension PlainSumOfProducts {
    package init(
        _ source: MemoryDescriptor, weights: MemoryDescriptor, bias: MemoryDescriptor? = nil,
        destination: MemoryDescriptor
    ) {
        self.init(ProductOperands(source: source, weights: weights, bias: bias, destination: destination))
    }
}

/// One whose weights move over spatial dimensions.
package protocol WindowedSumOfProducts: SumOfProducts {
    init(_ operands: ProductOperands, window: Window)
}

extension WindowedSumOfProducts {
    package init(
        _ source: MemoryDescriptor, weights: MemoryDescriptor, bias: MemoryDescriptor? = nil,
        destination: MemoryDescriptor, window: Window
    ) {
        self.init(
            ProductOperands(source: source, weights: weights, bias: bias, destination: destination), window: window)
    }
}
