package import ChunkedCompute
package import ImageCodecs

/// Feeds decoded rows into a window, in the layout the kernels work in.
package final class SourceReader {
    let decoder: any ImageDecoder
    package let width: Int
    package let height: Int
    /// `rgbx8` for opaque 8-bit pictures, else `rgba16`.
    package let workingLayout: PixelLayout
    private let toRGB: ColorTransform?
    private let window: RowWindow
    private let staging: Scratch
    private(set) var decodeSeconds = 0.0
    private var rowsRead = 0

    /// Starts decoding.
    ///
    /// - Parameters:
    ///   - decoder: Not started yet.
    ///   - scaleEighths: One of the decoder's scales.
    ///   - toRGB: For CMYK pictures, to sRGB.
    ///   - window: Where rows go.
    ///   - staging: For rows that need another layout first.
    /// - Throws: ``CodecError`` when nothing can be decoded.
    package init(
        decoder: any ImageDecoder, scaleEighths: Int, toRGB: ColorTransform?, window: RowWindow, staging: Scratch
    ) throws(CodecError) {
        self.decoder = decoder
        self.toRGB = toRGB
        self.window = window
        self.staging = staging
        let clock = ContinuousClock.now
        (width, height) = try decoder.start(scaleEighths: scaleEighths)
        decodeSeconds = clock.secondsSince
        workingLayout = Self.workingLayout(of: decoder.header)
    }

    package static func workingLayout(of header: ImageHeader) -> PixelLayout {
        header.layout == .rgbx8 || header.layout == .cmyk8 ? .rgbx8 : .rgba16
    }

    package var isAtEnd: Bool { rowsRead == height }
    var rowsDone: Int { rowsRead }

    /// Appends up to `count` rows to the window.
    ///
    /// - Returns: How many; 0 only at the end, and where the decoder waits for the one that it follows.
    /// - Throws: ``CodecError`` when the picture ends early or cannot be decoded.
    @discardableResult package func read(_ count: Int) throws -> Int {
        let clock = ContinuousClock.now
        defer { decodeSeconds += clock.secondsSince }
        let count = min(count, height - rowsRead)
        let room = window.room(for: count)
        let layout = decoder.header.layout
        let direct = layout == workingLayout || layout == .cmyk8
        let stride = width * layout.bytesPerPixel
        let rows = direct ? room : staging.bytes(stride * count)
        var filled = 0
        while filled < count {
            let n = try decoder.readRows(into: rows + filled * stride, strideBytes: stride, count: count - filled)
            if n == 0, decoder.isWaiting { break }
            guard n > 0 else {
                throw CodecError(.damaged, "the picture ends after \(rowsRead + filled) of \(height) rows")
            }
            filled += n
        }
        let samples = 4 * width * filled
        switch layout {
        case .rgbx8, .rgba16: break
        case .cmyk8:
            toRGB?.apply(to: rows, strideBytes: stride, width: width, count: filled)
        case .rgba8:
            PixelConversion.widen(
                UnsafePointer(rows.assumingMemoryBound(to: UInt8.self)), to: room.assumingMemoryBound(to: UInt16.self),
                sampleCount: samples)
        case .rgbaF32:
            PixelConversion.quantise(
                UnsafePointer(rows.assumingMemoryBound(to: Float.self)), to: room.assumingMemoryBound(to: UInt16.self),
                sampleCount: samples)
        }
        window.appended(filled)
        rowsRead += filled
        return filled
    }
}
