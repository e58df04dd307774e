/// Rows of a picture that lie in memory owned by somebody else.
package struct RowBand {
    /// The first sample of ``firstRow``.
    package var base: UnsafeMutableRawPointer
    package var strideBytes: Int
    /// The picture row that `base` points at.
    package var firstRow: Int
    package var rowCount: Int

    package init(base: UnsafeMutableRawPointer, strideBytes: Int, firstRow: Int, rowCount: Int) {
        self.base = base
        self.strideBytes = strideBytes
        self.firstRow = firstRow
        self.rowCount = rowCount
    }

    /// The first sample of picture row `row`.
    package func pointer(row: Int) -> UnsafeMutableRawPointer {
        base + (row - firstRow) * strideBytes
    }

    /// The part from picture row `first` on.
    package func rows(_ first: Int, count: Int) -> RowBand {
        precondition(first >= firstRow && first + count <= firstRow + rowCount, "rows outside the band")
        return RowBand(base: pointer(row: first), strideBytes: strideBytes, firstRow: first, rowCount: count)
    }
}
