import ChunkedCompute
import Testing

@Suite struct RowWindowTests {
    /// Appends rows whose bytes tell their number.
    private func append(_ count: Int, to window: RowWindow) {
        let room = window.room(for: count)
        for i in 0..<count {
            (room + i * window.strideBytes).initializeMemory(
                as: UInt8.self, repeating: UInt8(truncatingIfNeeded: window.endRow + i), count: window.strideBytes)
        }
        window.appended(count)
    }

    @Test func rowsStayWhatTheyWereHoweverTheWindowMoves() {
        let window = RowWindow()
        window.reset(strideBytes: 12, capacityRows: 10)
        var next = 0
        for step in 0..<200 {
            append(1 + step % 4, to: window)
            next += 1 + step % 4
            #expect(window.endRow == next)
            for row in window.firstRow..<window.endRow {
                let bytes = UnsafeRawBufferPointer(start: window.band.pointer(row: row), count: 12)
                #expect(bytes.allSatisfy { $0 == UInt8(truncatingIfNeeded: row) }, "row \(row)")
            }
            window.discard(before: next - 1 - step % 6)
        }
    }

    @Test func aWindowStartsAnewAtAnyRow() {
        let window = RowWindow()
        window.reset(strideBytes: 4, capacityRows: 4)
        append(3, to: window)
        window.reset(strideBytes: 8, capacityRows: 4, startRow: 70)
        #expect(window.firstRow == 70 && window.endRow == 70)
        append(2, to: window)
        #expect(window.band.rows(71, count: 1).pointer(row: 71).load(as: UInt8.self) == 71)
    }

    @Test func discardingMoreThanThereIsLeavesAnEmptyWindow() {
        let window = RowWindow()
        window.reset(strideBytes: 4, capacityRows: 4)
        append(2, to: window)
        window.discard(before: 50)
        #expect(window.firstRow == 2 && window.endRow == 2)
    }

    @Test func moreRowsThanTheWindowWasMadeForAreAProgrammerError() async {
        await #expect(processExitsWith: .failure) {
            let window = RowWindow()
            window.reset(strideBytes: 4, capacityRows: 2)
            _ = window.room(for: 5)
        }
    }
}
