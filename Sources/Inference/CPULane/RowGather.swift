/// Rows chosen by indices: `outer` blocks of `extent` rows each, of which the result has one for each index.
struct RowGather: Sendable {
    var outer: Int
    var extent: Int
    var rowByteCount: Int

    /// - Parameters:
    ///   - source: Row-major.
    ///   - indices: Of `int32` or `int64`; negative ones count from the end.
    ///   - target: As many bytes as the rows have together.
    /// - Throws: `wrongValue` for an index that is outside.
    func copy(
        _ source: UnsafeRawBufferPointer, _ indices: Tensor, to target: UnsafeMutableRawBufferPointer
    ) throws(ModelError) {
        let places = try Operators.positions(indices.indices(), extent: extent)
        guard source.count >= outer * extent * rowByteCount, target.count >= outer * places.count * rowByteCount else {
            throw .damaged("\(places.count) rows of \(rowByteCount) bytes do not fit")
        }
        var end = 0
        for block in 0..<outer {
            for place in places {
                let start = (block * extent + place) * rowByteCount
                UnsafeMutableRawBufferPointer(rebasing: target[end..<(end + rowByteCount)]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: source[start..<(start + rowByteCount)]))
                end += rowByteCount
            }
        }
    }
}
