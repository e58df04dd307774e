import CImageCodecs

/// Encodes 8- and 10-bit AVIF. The rows are collected; the work is done at the end.
final class AVIFEncoder: ImageEncoder {
    /// AV1's own limit on each side.
    private static let largestSide = 65_536

    /// What the encoder has beside and below a picture, which is most of one that is thin.
    private static let border = 64

    /// What each thread but the first takes.
    private static let threadBytes = 4 << 20

    let workingBytes: Int
    /// Not heard by the library.
    var pulse: CodecPulse?
    private let picture: CollectedPicture
    private let quantizer: Int32
    private let speed: Int32
    private let threads: Int32
    private let tileColumns: Int

    init(_ request: EncodeRequest) throws(CodecError) {
        guard [.rgbx8, .rgba8, .rgba16].contains(request.layout) else {
            throw CodecError(.encode, "AVIF is written from 8- or 16-bit RGB rows")
        }
        guard max(request.width, request.height) <= AVIFEncoder.largestSide else {
            throw CodecError(
                .encode,
                "AVIF holds at most \(AVIFEncoder.largestSide) pixels a side; this is \(request.width) × \(request.height)"
            )
        }
        picture = CollectedPicture(request, deepBits: 10)
        quantizer = Int32(((100 - request.quality) * 63 + 50) / 100)
        // Speed 6 takes three to four times as long.
        speed = request.optimize ? 6 : 8
        tileColumns = Self.tileColumns(width: request.width, height: request.height)
        threads = Int32(min(request.cores, tileColumns))
        // Planes, those of the encoder with their borders, and its search beside them.
        let coded = (request.width + Self.border) * (request.height + Self.border)
        workingBytes =
            picture.byteCount + coded * (request.lossless ? 48 : request.layout == .rgba16 ? 40 : 24)
            + request.metadata.totalBytes * 2 + 24 << 20 + Int(threads - 1) * Self.threadBytes
    }

    /// Columns that are encoded apart from each other, at once where there are cores for it: 1, 2, 4 or 8. Each is at least 512
    /// pixels wide and has a quarter of a megapixel, which costs up to 0.6 % of the bytes of photographs; with 256 pixels 2.5 %.
    static func tileColumns(width: Int, height: Int) -> Int {
        [8, 4, 2].first { width >= 512 * $0 && width * height >= 1 << 18 * $0 } ?? 1
    }

    func writeRows(_ rows: UnsafeRawPointer, strideBytes: Int, count: Int) throws(CodecError) {
        try picture.append(rows, strideBytes: strideBytes, count: count)
    }

    func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try picture.encode(pulse: pulse, body) { settings, rows, bytes, size, error in
            settings.quantizer = quantizer
            settings.speed = speed
            // At speed 8 a tenth of the time for 0.5 % of the bytes at the same PSNR.
            settings.plain_search = speed == 8 ? 1 : 0
            settings.tile_columns_log2 = Int32(tileColumns.trailingZeroBitCount)
            settings.threads = threads
            return ic_avif_encode(&settings, rows, &bytes, &size, &error)
        }
    }
}
