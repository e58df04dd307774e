/// What a function gives for each 8-bit integer: 256 results of 1 or 4 bytes, the first for the integer whose bits are 0.
struct ByteTable: Sendable {
    let resultByteCount: Int
    private let results: Tensor

    /// - Parameter results: 256 elements of float32 or 8-bit integers.
    init(_ results: Tensor) {
        precondition(results.count == 256, "there are 256 integers of 8 bits")
        resultByteCount = results.elementType.byteCount
        self.results = results
    }

    /// Writes the result for each byte of `source`.
    ///
    /// - Throws: `damaged` where `target` has not room for as many.
    func apply(
        _ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer
    ) throws(ModelError) {
        let count = target.count / resultByteCount
        guard source.count >= count else {
            throw .damaged("\(source.count) bytes do not give \(count) results")
        }
        try results.withBytes { table in
            switch resultByteCount {
            case 1:
                for place in 0..<count { target[place] = table[Int(source[place])] }
            default:
                let (from, to) = (table.bindMemory(to: UInt32.self), target.bindMemory(to: UInt32.self))
                for place in 0..<count { to[place] = from[Int(source[place])] }
            }
        }
    }
}
