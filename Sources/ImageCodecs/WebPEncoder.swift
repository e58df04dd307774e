import CImageCodecs

/// Encodes 8-bit rows as WebP. The rows are collected; the work is done at the end.
final class WebPEncoder: ImageEncoder {
    /// The format's own limit on each side.
    static let largestSide = 16_383

    let workingBytes: Int
    var pulse: CodecPulse? {
        didSet { ic_webp_encoder_set_pulse(handle, pulse?.forC ?? ic_pulse()) }
    }
    private let handle: OpaquePointer
    private let metadata: ImageMetadata

    init(_ request: EncodeRequest) throws(CodecError) {
        guard request.layout == .rgbx8 || request.layout == .rgba8 else {
            throw CodecError(.encode, "WebP is written from 8-bit rows")
        }
        guard max(request.width, request.height) <= WebPEncoder.largestSide else {
            throw CodecError(
                .encode,
                "WebP holds at most \(WebPEncoder.largestSide) pixels a side; this is \(request.width) × \(request.height)"
            )
        }
        var settings = ic_webp_settings()
        settings.width = Int32(request.width)
        settings.height = Int32(request.height)
        settings.has_alpha = request.layout == .rgba8 && !request.isOpaque ? 1 : 0
        settings.lossless = request.lossless ? 1 : 0
        // For the lossless form, quality is effort.
        settings.quality = request.lossless ? (request.optimize ? 75 : 30) : Int32(request.quality)
        settings.method = request.optimize ? 4 : 2
        handle = try opened { ic_webp_encoder_open(&settings, &$0) }
        metadata = request.metadata
        // Planes, the encoder's own copies and coefficients, and the output twice for its container.
        let pixels = request.width * request.height
        workingBytes = pixels * (request.lossless ? 36 : 8) + metadata.totalBytes * 2 + 2 << 20
    }

    deinit {
        ic_webp_encoder_close(handle)
    }

    func writeRows(_ rows: UnsafeRawPointer, strideBytes: Int, count: Int) throws(CodecError) {
        let samples = rows.assumingMemoryBound(to: UInt8.self)
        try checked { ic_webp_encoder_write(handle, samples, strideBytes, Int32(clamping: count), &$0) }
    }

    func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let icc = metadata.icc ?? []
        let exif = metadata.exif ?? []
        let xmp = metadata.xmp ?? []
        var bytes: UnsafePointer<UInt8>?
        var size = 0
        try checked { error in
            icc.withUnsafeBufferPointer { icc in
                exif.withUnsafeBufferPointer { exif in
                    xmp.withUnsafeBufferPointer { xmp in
                        var chunks = ic_webp_metadata(
                            icc: icc.baseAddress, icc_size: icc.count, exif: exif.baseAddress,
                            exif_size: exif.count, xmp: xmp.baseAddress, xmp_size: xmp.count)
                        return ic_webp_encoder_finish(handle, &chunks, &bytes, &size, &error)
                    }
                }
            }
        }
        try body(UnsafeRawBufferPointer(start: bytes, count: size))
    }
}
