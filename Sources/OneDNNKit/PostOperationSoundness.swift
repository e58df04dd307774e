/// Which implementations of oneDNN 2.6.3 compute a chain of post-operations correctly.
///
/// Found by comparing random convolutions and chains with plain loops (`PostOperationTests`); each rule stands for a case
/// in which an implementation accepts the chain and then writes wrong numbers or beyond its memory.
struct PostOperationSoundness {
    /// Whether every second operand is a scalar, one number a channel, or as large as the destination, or of products one
    /// row for each index of the first of four dimensions, as others are read as if they lay otherwise; and whether there
    /// is nothing that the operation would leave out or misplace: a sum anywhere else, a full operand of resampling.
    let isSupported: Bool
    private let hasSum: Bool
    private let hasFullOperand: Bool
    private let repeatsFunctionOtherwise: Bool
    private let isConvolution: Bool
    private let hasWindowOutside: Bool
    private let hasOperandInGroups: Bool
    private let hasOperandByRow: Bool
    private let hasNothingBehindChannels: Bool

    init(_ postOperations: [PostOperation], for operation: some PrimitiveOperation) {
        let target = operation.destination.dimensions
        let channels = operation is MatrixProduct ? target.count - 1 : 1
        var (supported, sum, full, byChannel, byRow) = (true, false, false, false, false)
        var functions: [ElementFunction] = []
        for step in postOperations {
            switch step {
            case .sum: sum = true
            case .elementWise(let function): functions.append(function)
            case .binary(_, let operand):
                let dimensions = operand.dimensions
                let long = dimensions.indices.filter { dimensions[$0] > 1 }
                if long.isEmpty { continue }
                if long == [channels] {
                    byChannel = true
                } else if dimensions == target {
                    full = true
                } else if operation is MatrixProduct, target.count == 4, long == [0, 3], dimensions[0] == target[0],
                    dimensions[3] == target[3]
                {
                    byRow = true
                } else {
                    supported = false
                }
            }
        }
        let sums = operation is any SumOfProducts || operation is Binary
        isSupported = supported && (sums || !sum) && !(full && operation is Resampling)
        hasSum = sum
        hasFullOperand = full
        repeatsFunctionOtherwise = functions.indices.contains { i in
            functions[..<i].contains { $0 != functions[i] && $0.raw.0 == functions[i].raw.0 }
        }
        let convolution = operation as? Convolution
        isConvolution = convolution != nil || operation is TransposedConvolution
        // Groups of one channel have implementations of their own.
        let isGrouped = (convolution?.weights).map { $0.rank > target.count && $0.dimensions[1] > 1 } ?? isConvolution
        let hasOperand = postOperations.contains { if case .binary = $0 { true } else { false } }
        hasOperandInGroups = hasOperand && isGrouped
        hasWindowOutside = convolution?.hasWindowOutside ?? isConvolution
        hasOperandByRow = byRow
        hasNothingBehindChannels =
            operation is Binary && byChannel && target.count > 2 && target[0] > 1
            && target[2...].allSatisfy { $0 == 1 }
    }

    func isSound(in implementation: String) -> Bool {
        guard !implementation.hasPrefix("ref") else { return true }
        // The second of two functions of one kind gets the first one's parameters.
        if repeatsFunctionOtherwise { return false }
        // Elements without any tap are written by another kernel, which misplaces the sum and computes element-wise
        // functions with constants from wherever a register happens to point: wrong now and then, or a crash.
        if implementation.hasPrefix("brg"), hasSum, hasWindowOutside { return false }
        // Only this one knows operands of N × 1 × 1 × columns, such as the masks of attention.
        if hasOperandByRow, !implementation.hasPrefix("brg") { return false }
        // Takes the operand's first number for every channel.
        if hasNothingBehindChannels { return false }
        // Reads the operand of a group from beyond its end.
        if implementation.hasPrefix("jit"), hasOperandInGroups { return false }
        // Multiplied as matrices, channel by channel, with the operand at the place of another channel.
        return !(isConvolution && hasFullOperand && implementation.contains("gemm"))
    }
}

extension Convolution {
    /// Whether some element of the destination has all taps of its window on padding.
    fileprivate var hasWindowOutside: Bool {
        let rank = source.rank - 2
        let (size, kernel, count) = (
            source.dimensions.suffix(rank), weights.dimensions.suffix(rank), destination.dimensions.suffix(rank)
        )
        return (0..<rank).contains { d in
            let size = size[size.startIndex + d]
            return (0..<count[count.startIndex + d]).contains { index in
                let first = index * window.strides[d] - window.paddingBefore[d]
                return !(0..<kernel[kernel.startIndex + d]).contains {
                    (0..<size).contains(first + $0 * window.dilations[d])
                }
            }
        }
    }
}
