/// Where the lines of a file begin and end, without their ends.
struct LineIndex: Sendable {
    struct Line: Hashable, Sendable {
        var offset: Int
        var byteCount: Int
        /// Counted from 1.
        var number: Int
    }

    private(set) var lines: [Line] = []

    private static let pieceBytes = 1 << 18
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// - Throws: `tooLarge` for a line above the limit or too many, `notReadable`, `stopped`.
    init(
        _ file: OpenFile, largestLineBytes: Int, largestCount: Int, passesOverBlanks: Bool, shouldStop: () -> Bool
    ) throws(DataError) {
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        var scan = Scan(largestLineBytes: largestLineBytes, passesOverBlanks: passesOverBlanks)
        var offset = 0
        while true {
            if shouldStop() { throw .stopped }
            let count = try piece.withMutableDataBytes { bytes throws(DataError) in
                try file.readSome(into: bytes, offset: offset)
            }
            if count == 0 { break }
            if offset == 0, piece.starts(with: Self.byteOrderMark), count >= 3 { scan.start = 3 }
            for place in max(0, scan.start - offset)..<count {
                try scan.take(piece[place], at: offset + place, &lines)
            }
            offset += count
            try checkCount(largestCount)
        }
        if offset > scan.start { scan.end(at: offset, &lines) }
        try checkCount(largestCount)
    }

    private func checkCount(_ largest: Int) throws(DataError) {
        guard lines.count <= largest else { throw .tooLarge("The file has more than \(largest) texts.") }
    }

    private struct Scan {
        let largestLineBytes: Int
        let passesOverBlanks: Bool
        /// Of the line that goes on.
        var start = 0
        var number = 1
        var isBlank = true
        var endsInReturn = false

        mutating func take(_ byte: UInt8, at offset: Int, _ lines: inout [Line]) throws(DataError) {
            if byte == 0x0A {
                end(at: offset, &lines)
                start = offset + 1
                return
            }
            guard offset - start < largestLineBytes else {
                throw .tooLarge("Line \(number) has more than the limit of \(largestLineBytes) bytes.")
            }
            endsInReturn = byte == 0x0D
            if byte != 0x20, byte != 0x09, byte != 0x0D { isBlank = false }
        }

        mutating func end(at offset: Int, _ lines: inout [Line]) {
            if !(passesOverBlanks && isBlank) {
                lines.append(Line(offset: start, byteCount: offset - start - (endsInReturn ? 1 : 0), number: number))
            }
            number += 1
            isBlank = true
            endsInReturn = false
        }
    }
}
