/// Which layouts the implementations of oneDNN 2.6.3 read and write as they are.
///
/// Each rule stands for layouts that an implementation accepts and then takes for others: wrong numbers, elements that are
/// never written, or memory beyond the operands. Sources: `get_op_type` and `compare_layouts` in its
/// `src/cpu/x64/jit_uni_binary.cpp`, `get_layout_type` in `src/cpu/x64/injectors/injector_utils.cpp`; found by comparing
/// random graphs with plain operators.
struct LayoutSoundness {
    private let isBinary: Bool
    private let isProduct: Bool
    /// Whether a post-operation has an operand with more than one number.
    private let hasOperand: Bool

    init(_ postOperations: [PostOperation], for operation: some PrimitiveOperation) {
        isBinary = operation is Binary
        isProduct = operation is MatrixProduct
        hasOperand = postOperations.contains {
            guard case .binary(_, let operand) = $0 else { return false }
            return operand.isChosenByPrimitive || operand.elementCount > 1
        }
    }

    /// Whether an implementation, by oneDNN's name of it, knows the layouts that it has for its arguments.
    func isSound(in implementation: String, _ descriptor: (Argument) -> MemoryDescriptor?) -> Bool {
        // Plain loops go by the strides.
        guard isBinary || hasOperand, !implementation.hasPrefix("ref"), let target = descriptor(.destination) else {
            return true
        }
        if isBinary {
            guard let first = descriptor(.source), let second = descriptor(.secondSource),
                Self.isKnown(first), first.hasStrides(of: target)
            else { return false }
            // Another order is read as if it were the first operand's; one that is repeated has to be regular by itself.
            guard second.dimensions == first.dimensions ? second.hasStrides(of: first) : Self.isKnown(second) else {
                return false
            }
        }
        guard hasOperand else { return true }
        // Where the operand's numbers are found is computed from these destinations only.
        return isProduct ? target.hasPlaces(of: .plain) : Self.isKnown(target)
    }

    /// Row-major, with contiguous channels, or in blocks of channels. The strides of a list are read beyond their end.
    private static func isKnown(_ descriptor: MemoryDescriptor) -> Bool {
        descriptor.rank > 1
            && [.plain, .channelsLast, .channelBlocks(of: 8), .channelBlocks(of: 16)].contains {
                descriptor.hasPlaces(of: $0)
            }
    }
}
