import CImageCodecs

/// Decodes PNG row by row; interlaced files are held whole.
final class PNGDecoder: ImageDecoder {
    let header: ImageHeader
    let scalesEighths = [8]
    /// Not heard by the library; its calls are short but for interlaced files.
    var pulse: CodecPulse?
    private let handle: OpaquePointer
    private let bytesHeld: Int
    private let hasEnd: Bool

    init(_ bytes: UnsafeRawBufferPointer, limits: DecodeLimits) throws(CodecError) {
        let size = try PNGDecoder.claimedSize(bytes)
        try limits.check(
            width: size.width, height: size.height, bitsPerPixel: bytes[24] == 1 ? 1 : 8, fileBytes: bytes.count)
        let file = bytes.bindMemory(to: UInt8.self)
        var info = ic_png_info()
        handle = try opened { ic_png_decoder_open(file.baseAddress, file.count, &info, &$0) }
        let layout: PixelLayout = info.bit_depth == 16 ? .rgba16 : info.has_alpha != 0 ? .rgba8 : .rgbx8
        let rowBytes = Int(info.width) * layout.bytesPerPixel
        // Two filtered rows, the inflater's window and, before them, profiles and texts.
        bytesHeld = rowBytes * (info.is_interlaced != 0 ? Int(info.height) + 4 : 4) + info.icc_size + 512 << 10
        let exif = UnsafeBufferPointer(start: info.exif, count: info.exif_size)
        let icc = UnsafeBufferPointer(start: info.icc, count: info.icc_size)
        var textLength = 0
        let text = ic_png_decoder_text(handle, "XML:com.adobe.xmp", &textLength)
        let xmp = UnsafeRawBufferPointer(start: text, count: textLength)
        let metadata = ImageMetadata(
            exif: exif.isEmpty ? nil : Array(exif), xmp: xmp.isEmpty ? nil : Array(xmp),
            icc: icc.isEmpty ? nil : Array(icc))
        let chunks = PNGDecoder.walk(bytes)
        hasEnd = chunks.hasEnd
        header = ImageHeader(
            format: .png, width: Int(info.width), height: Int(info.height), layout: layout,
            bitsPerChannel: Int(info.bit_depth), isGray: info.is_gray != 0, hasAlpha: info.has_alpha != 0,
            orientation: metadata.exif.map(TIFFStructure.orientation) ?? 1, metadata: metadata,
            notes: chunks.isAnimated ? ["the still picture of an animation"] : [])
        // Everything is set up, so a throw from here on runs `deinit`.
        try limits.check(workingBytes: bytesHeld)
    }

    deinit {
        ic_png_decoder_close(handle)
    }

    /// Width and height stand at a fixed place, in the chunk that has to come first.
    private static func claimedSize(_ bytes: UnsafeRawBufferPointer) throws(CodecError) -> (width: Int, height: Int) {
        guard bytes.count >= 33 else { throw CodecError(.damaged, "The PNG ends in its header") }
        let width = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
        let height = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self))
        return (Int(width), Int(height))
    }

    /// What the chain of chunks says, without looking into them.
    private static func walk(_ bytes: UnsafeRawBufferPointer) -> (isAnimated: Bool, hasEnd: Bool) {
        var isAnimated = false
        var offset = 8
        while offset + 12 <= bytes.count {
            let kind = bytes[offset + 4..<offset + 8]
            if kind.elementsEqual("IEND".utf8) { return (isAnimated, true) }
            if kind.elementsEqual("acTL".utf8) { isAnimated = true }
            offset += 12 + Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }
        return (isAnimated, false)
    }

    func workingBytes(scaleEighths: Int) -> Int { bytesHeld }

    func start(scaleEighths: Int) throws(CodecError) -> (width: Int, height: Int) {
        precondition(scaleEighths == 8, "PNG is decoded at its own size")
        try checked { ic_png_decoder_start(handle, &$0) }
        return (header.width, header.height)
    }

    func readRows(into rows: UnsafeMutableRawPointer, strideBytes: Int, count: Int) throws(CodecError) -> Int {
        let samples = rows.assumingMemoryBound(to: UInt8.self)
        var read: Int32 = 0
        try checked { ic_png_decoder_read(handle, samples, strideBytes, Int32(clamping: count), &read, &$0) }
        return Int(read)
    }

    var damage: [String] {
        if let damage = ic_png_decoder_damage(handle) { return [String(cString: damage)] }
        return hasEnd ? [] : ["The PNG ends early"]
    }
}
