import CImageCodecs

/// Encodes 8- and 16-bit rows as PNG while they come in.
final class PNGEncoder: ImageEncoder {
    let workingBytes: Int
    /// Not heard by the library; its calls are short but for none.
    var pulse: CodecPulse?
    private let handle: OpaquePointer

    init(_ request: EncodeRequest) throws(CodecError) {
        guard [.rgbx8, .rgba8, .rgba16].contains(request.layout) else {
            throw CodecError(.encode, "PNG is written from 8- or 16-bit RGB rows")
        }
        let metadata = request.metadata
        var settings = ic_png_settings()
        settings.width = Int32(clamping: request.width)
        settings.height = Int32(clamping: request.height)
        settings.bit_depth = request.layout == .rgba16 ? 16 : 8
        settings.is_gray = request.isGray ? 1 : 0
        settings.has_alpha = request.layout == .rgbx8 || request.isOpaque ? 0 : 1
        // Level 6 takes half as long again for a few thousandths of the bytes.
        settings.level = request.optimize ? 9 : 4
        let handle = try PNGEncoder.open(&settings, metadata)
        self.handle = handle
        // The file is at most as large as its rows and a little framing, and twice that while it grows.
        let rowBytes = request.width * request.layout.bytesPerPixel
        workingBytes = (rowBytes * request.height + metadata.totalBytes) * 2 + rowBytes * 8 + 512 << 10
    }

    private static func open(
        _ settings: inout ic_png_settings, _ metadata: ImageMetadata
    ) throws(CodecError) -> OpaquePointer {
        let icc = metadata.icc ?? []
        let exif = metadata.exif ?? []
        // The library takes text up to its first zero byte.
        let xmp = metadata.xmp.map { $0 + [0] } ?? []
        var settings = settings
        settings.icc_size = icc.count
        settings.exif_size = exif.count
        settings.xmp_size = xmp.count
        (settings.resolution_x, settings.resolution_y) = metadata.resolution?.perMeter ?? (0, 0)
        return try opened { error in
            icc.withUnsafeBufferPointer { icc in
                exif.withUnsafeBufferPointer { exif in
                    xmp.withUnsafeBufferPointer { xmp in
                        settings.icc = icc.baseAddress
                        settings.exif = exif.baseAddress
                        settings.xmp = xmp.baseAddress
                        return ic_png_encoder_open(&settings, &error)
                    }
                }
            }
        }
    }

    deinit {
        ic_png_encoder_close(handle)
    }

    func writeRows(_ rows: UnsafeRawPointer, strideBytes: Int, count: Int) throws(CodecError) {
        let samples = rows.assumingMemoryBound(to: UInt8.self)
        try checked { ic_png_encoder_write(handle, samples, strideBytes, Int32(clamping: count), &$0) }
    }

    func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var bytes: UnsafePointer<UInt8>?
        var size = 0
        try checked { ic_png_encoder_finish(handle, &bytes, &size, &$0) }
        try body(UnsafeRawBufferPointer(start: bytes, count: size))
    }
}
