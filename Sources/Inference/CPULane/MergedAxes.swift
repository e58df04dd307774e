import OneDNNKit

/// The fewest axes under which every operand of an element-wise operation lies row-major.
///
/// Axes of one element are left out, the others stand in the order in which the first operand lies, and neighbours that lie
/// like one in every operand become one. oneDNN then meets one layout only, whatever Transpose, Split or Gather left: its
/// binary primitive (2.6.3, `get_op_type` in `jit_uni_binary.cpp`) knows falling strides and contiguous channels, and reads
/// others as if they were one of these.
struct MergedAxes {
    /// Elements along each axis, from the outermost to the contiguous one.
    private(set) var extents: [Int] = []
    /// For each operand: whether it has elements of its own along each axis, or is repeated.
    private(set) var isLong: [[Bool]]

    /// The order in which the axes of an operand without gaps lie, from the outermost inwards.
    static func order(of descriptor: MemoryDescriptor) -> [Int]? {
        guard let strides = descriptor.strides else { return nil }
        let dimensions = descriptor.dimensions
        let order = dimensions.indices.sorted { (strides[$0], -$0) > (strides[$1], -$1) }
        return StridedView.isDense(dimensions, strides, order: order) ? order : nil
    }

    /// - Parameters:
    ///   - shape: Of the result.
    ///   - order: Of the result's axes in memory.
    ///   - operands: Dimensions of each, of the result's rank, with 1 where they are repeated. Each lies in that order, without
    ///     gaps.
    init(_ shape: [Int], order: [Int], _ operands: [[Int]]) {
        isLong = operands.map { _ in [] }
        for axis in order where shape[axis] > 1 {
            let long = operands.map { $0[axis] > 1 }
            // Operands have no gaps, so neighbours along which all are long, or repeated, alike are one.
            if let last = extents.indices.last, operands.indices.allSatisfy({ isLong[$0][last] == long[$0] }) {
                extents[last] *= shape[axis]
            } else {
                extents.append(shape[axis])
                for (number, flag) in long.enumerated() { isLong[number].append(flag) }
            }
        }
    }

    /// Where an operand that has elements of its own along one axis has them; nil for others.
    func onlyAxis(of operand: Int) -> Int? {
        let axes = isLong[operand].indices.filter { isLong[operand][$0] }
        return axes.count == 1 ? axes[0] : nil
    }

    func isRepeatedWholly(_ operand: Int) -> Bool { !isLong[operand].contains(true) }

    func isFull(_ operand: Int) -> Bool { isLong[operand].allSatisfy { $0 } }

    /// An operand under these axes, with `leading` ones of one element in front; at least two in all.
    func descriptor(
        of operand: Int, _ type: DataType, leading: Int
    ) throws(OneDNNError) -> MemoryDescriptor {
        let ones = [Int](repeating: 1, count: max(leading, 2 - extents.count))
        return try MemoryDescriptor(ones + extents.indices.map { isLong[operand][$0] ? extents[$0] : 1 }, type)
    }
}
