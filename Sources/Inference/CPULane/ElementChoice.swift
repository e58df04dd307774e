/// Elements of one value where a condition holds, of another elsewhere; all three are repeated along axes of 1.
struct ElementChoice: Sendable {
    /// Of the result, with axes that all three count like a single one put together.
    private let extents: [Int]
    /// Elements from one position to the next: of the condition, of the first and of the second value.
    private let strides: [[Int]]

    /// - Parameters:
    ///   - shape: Of the result.
    ///   - operands: Shapes of the condition and of both values, which broadcast to it.
    init(_ shape: [Int], operands: [[Int]]) {
        (extents, strides) = Extents.merged(shape, operands.map { Extents.broadcastStrides($0, to: shape) })
    }

    /// - Parameters:
    ///   - condition: A byte for each element, row-major.
    ///   - first: Of float32, row-major, as all values.
    ///   - second: Where the condition is 0.
    ///   - target: As many elements as the result has.
    /// - Throws: `damaged` where one of them has too few bytes.
    func choose(
        _ condition: UnsafeRawBufferPointer, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer,
        to target: UnsafeMutableRawBufferPointer
    ) throws(ModelError) {
        for (bytes, (strides, size)) in zip([condition, first, second], zip(strides, [1, 4, 4])) {
            let last = zip(extents, strides).reduce(0) { $0 + ($1.0 - 1) * $1.1 }
            guard bytes.count >= (last + 1) * size else { throw .damaged("\(bytes.count) bytes are too few") }
        }
        let width = extents.last ?? 1
        let rows = extents.dropLast().reduce(1, *)
        guard target.count >= rows * width * 4 else { throw .damaged("\(target.count) bytes are too few") }
        let (flags, to) = (condition.bindMemory(to: UInt8.self), target.bindMemory(to: Float.self))
        let (one, other) = (first.bindMemory(to: Float.self), second.bindMemory(to: Float.self))
        let steps = strides.map { $0.last ?? 0 }
        for row in 0..<rows {
            var (rest, starts) = (row, [0, 0, 0])
            for axis in extents.indices.dropLast().reversed() {
                let position = rest % extents[axis]
                rest /= extents[axis]
                for operand in 0..<3 { starts[operand] += position * strides[operand][axis] }
            }
            var (flag, left, right) = (starts[0], starts[1], starts[2])
            for place in (row * width)..<((row + 1) * width) {
                to[place] = flags[flag] != 0 ? one[left] : other[right]
                (flag, left, right) = (flag + steps[0], left + steps[1], right + steps[2])
            }
        }
    }
}
