import CImageCodecs
import Glibc

/// The rows of a picture that is encoded whole, and what its encoder is told about it.
final class CollectedPicture {
    /// Without the encoder's own choices.
    private(set) var settings = ic_picture_settings()
    private let request: EncodeRequest
    private let rowBytes: Int
    /// Reserved with the first row.
    private var rows: UnsafeMutableRawPointer?
    private var rowCount = 0

    /// - Parameters:
    ///   - request: In rows of 8 or 16 bits.
    ///   - deepBits: Bits a channel of the file for rows of 16.
    init(_ request: EncodeRequest, deepBits: Int) {
        self.request = request
        rowBytes = request.width * request.layout.bytesPerPixel
        let isWide = request.layout == .rgba16
        settings.width = Int32(clamping: request.width)
        settings.height = Int32(clamping: request.height)
        settings.is_wide = isWide ? 1 : 0
        settings.bits = Int32(isWide ? deepBits : 8)
        settings.has_alpha = request.layout == .rgbx8 || request.isOpaque ? 0 : 1
        settings.is_gray = request.isGray ? 1 : 0
        settings.lossless = request.lossless ? 1 : 0
        settings.full_chroma = request.fullChroma ? 1 : 0
        let icc = request.metadata.icc
        settings.primaries =
            icc == nil || icc == BuiltInProfile.sRGB.bytes ? 1 : icc == BuiltInProfile.displayP3.bytes ? 12 : 2
    }

    deinit {
        free(rows)
    }

    /// Bytes of the rows.
    var byteCount: Int { rowBytes * request.height }

    func append(_ given: UnsafeRawPointer, strideBytes: Int, count: Int) throws(CodecError) {
        guard count <= request.height - rowCount else {
            throw CodecError(.encode, "More rows were given than the picture has")
        }
        let room = rows ?? malloc(byteCount)
        guard let room else { throw CodecError(.outOfMemory, "No memory for a picture") }
        rows = room
        for row in 0..<count {
            (room + (rowCount + row) * rowBytes).copyMemory(from: given + row * strideBytes, byteCount: rowBytes)
        }
        rowCount += count
    }

    /// Has the whole picture encoded and lends the file to `body`.
    func encode(
        pulse: CodecPulse?, _ body: (UnsafeRawBufferPointer) throws -> Void,
        by codec: (
            inout ic_picture_settings, UnsafePointer<UInt8>, inout UnsafeMutablePointer<UInt8>?, inout Int,
            inout ic_error
        )
            -> ic_status
    ) throws {
        guard let rows, rowCount == request.height else {
            throw CodecError(.encode, "Fewer rows were given than the picture has")
        }
        let icc = request.metadata.icc ?? []
        let exif = request.metadata.exif ?? []
        let xmp = request.metadata.xmp ?? []
        var bytes: UnsafeMutablePointer<UInt8>?
        var size = 0
        defer { free(bytes) }
        try checked { error in
            icc.withUnsafeBufferPointer { icc in
                exif.withUnsafeBufferPointer { exif in
                    xmp.withUnsafeBufferPointer { xmp in
                        var settings = settings
                        settings.icc = icc.baseAddress
                        settings.icc_size = icc.count
                        settings.exif = exif.baseAddress
                        settings.exif_size = exif.count
                        settings.xmp = xmp.baseAddress
                        settings.xmp_size = xmp.count
                        settings.pulse = pulse?.forC ?? ic_pulse()
                        return codec(&settings, rows.assumingMemoryBound(to: UInt8.self), &bytes, &size, &error)
                    }
                }
            }
        }
        try body(UnsafeRawBufferPointer(start: bytes, count: size))
    }
}
