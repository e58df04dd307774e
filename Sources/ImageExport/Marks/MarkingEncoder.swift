import ChunkedCompute
import ImageCodecs

/// Puts marks onto rows on their way to the encoder. The rows themselves stay as they are: other outputs may be made of
/// them.
final class MarkingEncoder: ImageEncoder {
    var pulse: CodecPulse? {
        get { encoder.pulse }
        set { encoder.pulse = newValue }
    }

    private let encoder: any ImageEncoder
    private let marks: [Mark]
    private let layout: PixelLayout
    private let width: Int
    private let marked = Scratch()
    private var nextRow = 0

    init(_ encoder: any ImageEncoder, _ request: EncodeRequest, _ marks: [Mark]) {
        self.encoder = encoder
        self.marks = marks
        layout = request.layout
        width = request.width
    }

    var workingBytes: Int { encoder.workingBytes + rowBytes + marks.reduce(0) { $0 + 2 * $1.samples.count } }

    func writeRows(_ rows: UnsafeRawPointer, strideBytes: Int, count: Int) throws(CodecError) {
        var row = 0
        while row < count {
            // Rows without a mark go on as they are, as many together as there are.
            let plain = (row..<count).prefix { !isMarked(nextRow + $0) }.count
            if plain > 0 {
                try encoder.writeRows(rows + row * strideBytes, strideBytes: strideBytes, count: plain)
                row += plain
            }
            guard row < count else { break }
            try writeMarked(rows + row * strideBytes, number: nextRow + row)
            row += 1
        }
        nextRow += count
    }

    private func isMarked(_ row: Int) -> Bool { marks.contains { row >= $0.y && row < $0.y + $0.height } }

    private func writeMarked(_ row: UnsafeRawPointer, number: Int) throws(CodecError) {
        let copy = marked.bytes(rowBytes)
        copy.copyMemory(from: row, byteCount: rowBytes)
        for mark in marks { mark.draw(onto: copy, number: number, layout: layout, outputWidth: width) }
        try encoder.writeRows(copy, strideBytes: rowBytes, count: 1)
    }

    private var rowBytes: Int { width * layout.bytesPerPixel }

    func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws { try encoder.finish(body) }
}
