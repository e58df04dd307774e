import CImageCodecs

/// Decodes a WebP whole, the first frame where it is an animation.
final class WebPDecoder: ImageDecoder {
    let header: ImageHeader
    let scalesEighths = [8]
    var pulse: CodecPulse? {
        didSet { ic_webp_decoder_set_pulse(handle, pulse?.forC ?? ic_pulse()) }
    }
    private let handle: OpaquePointer
    private let bytesHeld: Int
    private var nextRow = 0

    init(_ bytes: UnsafeRawBufferPointer, limits: DecodeLimits) throws(CodecError) {
        let file = bytes.bindMemory(to: UInt8.self)
        var info = ic_webp_info()
        handle = try opened { ic_webp_decoder_open(file.baseAddress, file.count, &info, &$0) }
        let width = Int(info.width)
        let height = Int(info.height)
        // The canvas, and in a lossless file the coded pixels beside it.
        bytesHeld = width * height * 8 + 1 << 20
        var metadata = ImageMetadata()
        metadata.icc = WebPDecoder.chunk("ICCP", of: handle)
        metadata.xmp = WebPDecoder.chunk("XMP ", of: handle)
        metadata.exif = WebPDecoder.chunk("EXIF", of: handle).map(JPEGSegments.withoutExifPrefix)
        metadata.leftOut = WebPDecoder.leftOut(of: bytes)
        header = ImageHeader(
            format: .webp, width: width, height: height, layout: info.has_alpha != 0 ? .rgba8 : .rgbx8,
            bitsPerChannel: 8, isGray: false, hasAlpha: info.has_alpha != 0,
            orientation: metadata.exif.map(TIFFStructure.orientation) ?? 1, metadata: metadata,
            notes: info.frames > 1 ? ["the first frame of \(info.frames)"] : [])
        // Everything is set up, so a throw from here on runs `deinit`.
        try limits.check(width: width, height: height, fileBytes: bytes.count)
        try limits.check(workingBytes: bytesHeld)
    }

    deinit {
        ic_webp_decoder_close(handle)
    }

    private static func chunk(_ kind: String, of handle: OpaquePointer) -> [UInt8]? {
        var payload: UnsafePointer<UInt8>?
        var size = 0
        guard ic_webp_decoder_chunk(handle, kind, &payload, &size) != 0, size > 0 else { return nil }
        return Array(UnsafeBufferPointer(start: payload, count: size))
    }

    /// Chunks that are read, or say how the picture is stored (RFC 9649).
    private static let known: Set<String> = ["VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF"]

    private static func leftOut(of file: UnsafeRawBufferPointer) -> [String] {
        var seen: Set<String> = []
        var others: [String] = []
        var offset = 12
        while offset + 8 <= file.count, others.count < 8 {
            let letters = file[offset..<offset + 4].prefix { (0x20...0x7E).contains($0) }
            let name = String(decoding: letters, as: UTF8.self)
            let isRead = ["ICCP", "EXIF", "XMP "].contains(name) && seen.insert(name).inserted
            if !known.contains(name), !isRead { others.append("the chunk \(name) was left out") }
            let size = Int(UInt32(littleEndian: file.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)))
            offset += 8 + size + size % 2
        }
        return others
    }

    func workingBytes(scaleEighths: Int) -> Int { bytesHeld }

    func start(scaleEighths: Int) throws(CodecError) -> (width: Int, height: Int) {
        precondition(scaleEighths == 8, "WebP is decoded at its own size")
        try checked { ic_webp_decoder_start(handle, &$0) }
        return (header.width, header.height)
    }

    func readRows(into rows: UnsafeMutableRawPointer, strideBytes: Int, count: Int) throws(CodecError) -> Int {
        guard let canvas = ic_webp_decoder_canvas(handle) else {
            preconditionFailure("rows are read after decoding was started")
        }
        let wanted = min(count, header.height - nextRow)
        let rowBytes = header.width * 4
        for row in 0..<wanted {
            (rows + row * strideBytes).copyMemory(from: canvas + (nextRow + row) * rowBytes, byteCount: rowBytes)
        }
        nextRow += wanted
        return wanted
    }

    var damage: [String] {
        ic_webp_decoder_damage(handle).map { [String(cString: $0)] } ?? []
    }
}
