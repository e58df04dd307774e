import CImageCodecs

/// Encodes 8- and 16-bit rows as TIFF with deflate while they come in.
final class TIFFEncoder: ImageEncoder {
    /// What offsets of 32 bits reach, less room for everything beside the rows.
    private static let largestFile = 4_000_000_000
    /// What libdeflate keeps while it searches for the best of all ways to write a strip, and for a good one.
    private static let deflateBytes = (optimizing: 9 << 20, usual: 1 << 20)

    let workingBytes: Int
    /// Not heard by the library; its calls are short.
    var pulse: CodecPulse?
    private let handle: OpaquePointer

    init(_ request: EncodeRequest) throws(CodecError) {
        guard [.rgbx8, .rgba8, .rgba16].contains(request.layout) else {
            throw CodecError(.encode, "TIFF is written from 8- or 16-bit RGB rows")
        }
        let rowBytes = request.width * request.layout.bytesPerPixel
        let metadata = request.metadata
        guard rowBytes * request.height + metadata.totalBytes < TIFFEncoder.largestFile else {
            throw CodecError(.encode, "TIFF holds at most 4 GB; this is \(request.width) × \(request.height)")
        }
        var settings = ic_tiff_settings()
        settings.width = Int32(clamping: request.width)
        settings.height = Int32(clamping: request.height)
        settings.bits = request.layout == .rgba16 ? 16 : 8
        settings.is_gray = request.isGray ? 1 : 0
        settings.has_alpha = request.layout == .rgbx8 || request.isOpaque ? 0 : 1
        settings.level = request.optimize ? 9 : 4
        let parts = metadata.exif.flatMap(TIFFExif.parts)
        handle = try TIFFEncoder.open(settings, metadata, parts)
        let deflate = request.optimize ? TIFFEncoder.deflateBytes.optimizing : TIFFEncoder.deflateBytes.usual
        // Some strips, and the file twice while it grows.
        workingBytes = (rowBytes * request.height + metadata.totalBytes) * 2 + rowBytes * 4 + 1 << 20 + deflate
        guard let parts else { return }
        for text in parts.texts { ic_tiff_encoder_text(handle, UInt32(text.tag), text.value) }
        for (tag, type, bytes) in parts.others {
            let count = type == 3 ? bytes.count / 2 : bytes.count
            ic_tiff_encoder_values(handle, UInt32(tag), Int32(type), bytes, UInt32(count))
        }
    }

    private static func open(
        _ settings: ic_tiff_settings, _ metadata: ImageMetadata, _ parts: TIFFExif.Parts?
    ) throws(CodecError) -> OpaquePointer {
        let icc = metadata.icc ?? []
        let xmp = metadata.xmp ?? []
        let directories = parts?.bytes ?? []
        var settings = settings
        let photoshop = metadata.iptc ?? []
        // Values of the EXIF block keep their byte order, so the file takes it.
        settings.is_big_endian = parts?.isLittle == false ? 1 : 0
        settings.exif_start = UInt32(parts?.exifStart ?? 0)
        settings.gps_start = UInt32(parts?.gpsStart ?? 0)
        settings.resolution_x = metadata.resolution?.x ?? 0
        settings.resolution_y = metadata.resolution?.y ?? 0
        return try opened { error in
            icc.withUnsafeBufferPointer { icc in
                xmp.withUnsafeBufferPointer { xmp in
                    directories.withUnsafeBufferPointer { directories in
                        photoshop.withUnsafeBufferPointer { photoshop in
                            settings.icc = icc.baseAddress
                            settings.icc_size = icc.count
                            settings.xmp = xmp.baseAddress
                            settings.xmp_size = xmp.count
                            settings.directories = directories.baseAddress
                            settings.directories_size = directories.count
                            settings.photoshop = photoshop.baseAddress
                            settings.photoshop_size = photoshop.count
                            return ic_tiff_encoder_open(&settings, &error)
                        }
                    }
                }
            }
        }
    }

    deinit {
        ic_tiff_encoder_close(handle)
    }

    func writeRows(_ rows: UnsafeRawPointer, strideBytes: Int, count: Int) throws(CodecError) {
        let samples = rows.assumingMemoryBound(to: UInt8.self)
        try checked { ic_tiff_encoder_write(handle, samples, strideBytes, Int32(clamping: count), &$0) }
    }

    func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var bytes: UnsafePointer<UInt8>?
        var size = 0
        try checked { ic_tiff_encoder_finish(handle, &bytes, &size, &$0) }
        try body(UnsafeRawBufferPointer(start: bytes, count: size))
    }
}
