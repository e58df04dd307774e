/// A sliding window of consecutive rows: one side appends, the other reads and discards.
///
/// Rows stay in one piece of memory, so a kernel sees them as a band; what is still wanted moves to the front when the end is
/// reached.
package final class RowWindow {
    private let memory = Scratch()
    package private(set) var capacityRows = 0
    private var startRow = 0
    private var offsetRows = 0
    private var rowCount = 0
    package private(set) var strideBytes = 0

    package init() {}

    /// First row not yet discarded.
    package var firstRow: Int { startRow }
    /// One past the last row appended.
    package var endRow: Int { startRow + rowCount }
    package var byteCount: Int { memory.byteCount }

    /// Empties the window for a new picture.
    ///
    /// - Parameters:
    ///   - strideBytes: Bytes from one row to the next.
    ///   - capacityRows: The most rows held at a time.
    ///   - startRow: The first row that will be appended.
    package func reset(strideBytes: Int, capacityRows: Int, startRow: Int = 0) {
        self.strideBytes = strideBytes
        self.capacityRows = capacityRows
        self.startRow = startRow
        offsetRows = 0
        rowCount = 0
        // One more row: kernels read the row behind the last with weight 0. Twice the rows: few moves.
        _ = memory.bytes(strideBytes * (2 * capacityRows + 1))
    }

    package func trim(above limit: Int) {
        memory.trim(above: limit)
    }

    /// Room for `count` more rows; call ``appended(_:)`` with the number filled in.
    package func room(for count: Int) -> UnsafeMutableRawPointer {
        precondition(rowCount + count <= 2 * capacityRows, "more rows than the window was made for")
        let base = memory.bytes(strideBytes * (2 * capacityRows + 1))
        if offsetRows + rowCount + count > 2 * capacityRows {
            base.copyMemory(from: base + offsetRows * strideBytes, byteCount: rowCount * strideBytes)
            offsetRows = 0
        }
        return base + (offsetRows + rowCount) * strideBytes
    }

    package func appended(_ count: Int) {
        rowCount += count
    }

    /// Gives up the rows before `row`.
    package func discard(before row: Int) {
        let count = min(max(row - startRow, 0), rowCount)
        startRow += count
        offsetRows += count
        rowCount -= count
        if rowCount == 0 { offsetRows = 0 }
    }

    /// All rows held.
    package var band: RowBand {
        RowBand(
            base: memory.bytes(strideBytes * (2 * capacityRows + 1)) + offsetRows * strideBytes,
            strideBytes: strideBytes, firstRow: startRow, rowCount: rowCount)
    }
}
