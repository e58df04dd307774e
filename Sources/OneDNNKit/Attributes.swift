/// What is done to a primitive's result before it is written, in one pass.
///
/// A result r of ``Convolution`` or ``MatrixProduct``, bias included, becomes
/// `write(zeroPoint + p(outputScale * r))`, where p are the post-operations in order and `write` rounds to the nearest
/// (ties to even) and saturates where the destination is an integer. Zero points of operands are subtracted from them
/// before they are multiplied. That is oneDNN 2's order: a bias is added before the scale is applied, so it is given in
/// the accumulator's units. ``Reorder`` has the same without post-operations, r being an element less its zero point.
/// ``Binary`` has no zero points, and scales its operands instead of its result.
package struct Attributes: Sendable, CustomStringConvertible {
    package var postOperations: [PostOperation] = []
    package var outputScale: OutputScale = .one
    package var sourceZeroPoint: Int32 = 0
    package var destinationZeroPoint: Int32 = 0
    /// What the operands of ``Binary`` are multiplied by first.
    package var operandScales: (first: Float, second: Float) = (1, 1)

    package init(_ postOperations: [PostOperation] = []) {
        self.postOperations = postOperations
    }

    package enum OutputScale: Hashable, Sendable {
        case one
        case common(Float)
        /// One for each index of the destination's channels: dimension 1, or the last one of ``MatrixProduct``.
        case perChannel([Float])
    }

    var isEmpty: Bool {
        postOperations.isEmpty && outputScale == .one && sourceZeroPoint == 0 && destinationZeroPoint == 0
            && operandScales == (1, 1)
    }

    package var description: String {
        var parts = postOperations.map(\.description)
        switch outputScale {
        case .one: break
        case .common(let scale): parts.append("scale \(scale)")
        case .perChannel(let scales): parts.append("\(scales.count) scales")
        }
        if sourceZeroPoint != 0 { parts.append("source zero point \(sourceZeroPoint)") }
        if destinationZeroPoint != 0 { parts.append("destination zero point \(destinationZeroPoint)") }
        if operandScales != (1, 1) { parts.append("operands times \(operandScales.first), \(operandScales.second)") }
        return parts.joined(separator: ", ")
    }

    /// Second operands of binary post-operations.
    var arguments: [Argument] {
        postOperations.indices.compactMap {
            if case .binary = postOperations[$0] { .postOperation($0) } else { nil }
        }
    }

    var operationsPerElement: Int {
        postOperations.reduce(0) { sum, operation in
            if case .sum = operation { sum + 2 } else { sum + 1 }
        }
    }
}

/// One step on a result r that has not been written yet.
package enum PostOperation: Sendable, CustomStringConvertible {
    /// `r + scale * (d - zeroPoint)`, where d is what the destination's buffer holds: a residual.
    case sum(scale: Float = 1, zeroPoint: Int32 = 0)
    case elementWise(ElementFunction)
    /// `function(r, operand)`. The operand has the destination's rank and is passed as ``Argument/postOperation(_:)``. It is
    /// a scalar, one number for each channel (as with ``Attributes/OutputScale/perChannel(_:)``), or as large as the
    /// destination and then lies as that does, which ``MemoryDescriptor/Layout/chosenByPrimitive`` gives.
    case binary(BinaryFunction, MemoryDescriptor)

    package var description: String {
        switch self {
        case .sum(let scale, let zeroPoint): "sum \(scale) \(zeroPoint)"
        case .elementWise(let function): "\(function)"
        case .binary(let function, let operand): "\(function) \(operand)"
        }
    }
}
