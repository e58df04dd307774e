import CImageCodecs
import Glibc

/// Encodes 8- and 16-bit JPEG XL. The rows are collected; the work is done at the end.
final class JXLEncoder: ImageEncoder {
    let workingBytes: Int
    var pulse: CodecPulse?
    private let picture: CollectedPicture
    private let distance: Float
    private let effort: Int32

    init(_ request: EncodeRequest) throws(CodecError) {
        guard [.rgbx8, .rgba8, .rgba16].contains(request.layout) else {
            throw CodecError(.encode, "JPEG XL is written from 8- or 16-bit RGB rows")
        }
        picture = CollectedPicture(request, deepBits: 16)
        distance = JXLEncoder.distance(quality: request.quality)
        effort = request.optimize ? 7 : 3
        // Float planes of the picture, of its transform and of what it is compared with, of whole tiles of 64 × 64.
        let pixels = JXLEncoder.wholeTiles(request.width) * JXLEncoder.wholeTiles(request.height)
        workingBytes = picture.byteCount * 2 + pixels * 72 + request.metadata.totalBytes + 16 << 20
    }

    private static func wholeTiles(_ side: Int) -> Int { (side + 63) / 64 * 64 }

    /// The scale of cjxl 0.7, where 90 is a distance of 1 and 100 has no loss that anyone could see. The library takes no
    /// distance above 25.
    private static func distance(quality: Int) -> Float {
        let quality = Float(quality)
        return quality >= 30
            ? max(0.1, 0.1 + (100 - quality) * 0.09) : min(25, 6.24 + pow(2.5, (30 - quality) / 5) / 6.25)
    }

    func writeRows(_ rows: UnsafeRawPointer, strideBytes: Int, count: Int) throws(CodecError) {
        try picture.append(rows, strideBytes: strideBytes, count: count)
    }

    func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try picture.encode(pulse: pulse, body) { settings, rows, bytes, size, error in
            settings.distance = distance
            settings.effort = effort
            return ic_jxl_encode(&settings, rows, &bytes, &size, &error)
        }
    }
}
