import ChunkedCompute
import ImageCodecs

/// Puts a border around the rows on their way to an encoder.
final class BorderedEncoder: ImageEncoder {
    private let encoder: any ImageEncoder
    private let pixels: Int
    private let color: [UInt16]
    private let width: Int
    private let height: Int
    private let layout: PixelLayout
    private let line = Scratch()
    private var rowsWritten = 0

    /// - Parameters:
    ///   - encoder: Made for the size with the border.
    ///   - pixels: How many are added on each side.
    ///   - color: Their 16-bit R, G, B.
    ///   - request: Of that encoder.
    init(_ encoder: any ImageEncoder, pixels: Int, color: [UInt16], request: EncodeRequest) {
        self.encoder = encoder
        self.pixels = pixels
        self.color = color
        width = request.width
        height = request.height - 2 * pixels
        layout = request.layout
        fillLine()
    }

    var pulse: CodecPulse? {
        get { encoder.pulse }
        set { encoder.pulse = newValue }
    }

    var workingBytes: Int { encoder.workingBytes + stride }

    private var stride: Int { width * layout.bytesPerPixel }
    private var base: UnsafeMutableRawPointer { line.bytes(stride) }

    private func fillLine() {
        for i in 0..<4 * width {
            let code = i % 4 == 3 ? 65535 : color[i % 4]
            if layout == .rgba16 {
                base.storeBytes(of: code, toByteOffset: 2 * i, as: UInt16.self)
            } else {
                base.storeBytes(of: PixelConversion.narrow(code), toByteOffset: i, as: UInt8.self)
            }
        }
    }

    private func writeBorder() throws(CodecError) {
        for _ in 0..<pixels { try encoder.writeRows(base, strideBytes: stride, count: 1) }
    }

    func writeRows(_ rows: UnsafeRawPointer, strideBytes: Int, count: Int) throws(CodecError) {
        if rowsWritten == 0 { try writeBorder() }
        let inner = (width - 2 * pixels) * layout.bytesPerPixel
        for row in 0..<count {
            (base + pixels * layout.bytesPerPixel).copyMemory(from: rows + row * strideBytes, byteCount: inner)
            try encoder.writeRows(base, strideBytes: stride, count: 1)
        }
        rowsWritten += count
        if rowsWritten == height {
            fillLine()
            try writeBorder()
        }
    }

    func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try encoder.finish(body)
    }
}
