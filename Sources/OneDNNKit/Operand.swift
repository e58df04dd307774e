/// A buffer and the part that it plays in an execution.
package struct Operand {
    let argument: Argument
    let start: UnsafeMutableRawPointer?
    let byteCount: Int
    let isWritable: Bool
    /// Who gives the buffer back; kept until the execution is over.
    private(set) var owner: AlignedBuffer?

    /// A buffer of the caller's that is only read.
    package static func input(_ argument: Argument, _ bytes: UnsafeRawBufferPointer) -> Operand {
        Operand(
            argument: argument, start: UnsafeMutableRawPointer(mutating: bytes.baseAddress), byteCount: bytes.count,
            isWritable: false)
    }

    /// A buffer that is only read.
    package static func input(_ argument: Argument, _ buffer: AlignedBuffer) -> Operand {
        var operand = Operand.input(argument, UnsafeRawBufferPointer(buffer.bytes))
        operand.owner = buffer
        return operand
    }

    /// Weights that ``PackedWeights`` has laid out.
    package static func input(_ argument: Argument, _ weights: PackedWeights) -> Operand {
        .input(argument, weights.buffer)
    }

    /// The caller's buffer that is written; also read, where a sum is among the post-operations. It may be the source's
    /// in element-wise operations, softmax and layer normalisation of one layout and type.
    package static func output(_ bytes: UnsafeMutableRawBufferPointer) -> Operand {
        Operand(argument: .destination, start: bytes.baseAddress, byteCount: bytes.count, isWritable: true)
    }

    /// As ``output(_:)`` of a caller's buffer.
    package static func output(_ buffer: AlignedBuffer) -> Operand {
        var operand = Operand.output(buffer.bytes)
        operand.owner = buffer
        return operand
    }
}

extension Operand {
    /// - Throws: ``OneDNNError/Code/operandUnsuitable``.
    func check(as parameter: Primitive.Parameter, of primitive: Primitive) throws(OneDNNError) {
        guard byteCount >= parameter.byteCount, isWritable || parameter.argument != .destination else {
            throw OneDNNError(
                .operandUnsuitable,
                "\(primitive.name): \(byteCount) bytes\(isWritable ? "" : ", read only,") as \(parameter.argument),"
                    + " needs \(parameter.byteCount) for \(parameter.descriptor)")
        }
    }
}
