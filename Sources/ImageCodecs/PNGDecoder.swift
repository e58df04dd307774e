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
        var chunks = PNGDecoder.walk(bytes)
        let lateBytes = chunks.late.reduce(0) { $0 + $1.count }
        // Two filtered rows, the inflater's window and, before them, profiles and texts.
        bytesHeld =
            rowBytes * (info.is_interlaced != 0 ? Int(info.height) + 4 : 4) + info.icc_size + 512 << 10 + 3 * lateBytes
        let colors = PNGDecoder.colors(info, coded: chunks.coded)
        var (exif, xmp) = PNGDecoder.metadata(of: handle, info)
        if exif == nil || xmp == nil, let late = PNGDecoder.metadata(behindPictureOf: bytes, chunks.late) {
            (exif, xmp) = (exif ?? late.exif, xmp ?? late.xmp)
        }
        var metadata = ImageMetadata(
            exif: exif, xmp: xmp, icc: colors.icc,
            resolution: Resolution(perMeter: info.resolution_x, info.resolution_y))
        // What the library refuses, such as one with a wrong checksum.
        for (name, block) in [("eXIf", exif), (PNGDecoder.xmpName, xmp)]
        where chunks.seen.contains(name) && block == nil {
            chunks.leaveOut(name)
        }
        metadata.leftOut = chunks.leftOut
        hasEnd = chunks.hasEnd
        header = ImageHeader(
            format: .png, width: Int(info.width), height: Int(info.height), layout: layout,
            bitsPerChannel: Int(info.bit_depth), isGray: info.is_gray != 0, hasAlpha: info.has_alpha != 0,
            orientation: metadata.exif.map(TIFFStructure.orientation) ?? 1, metadata: metadata,
            notes: (chunks.isAnimated ? ["the still picture of an animation"] : [])
                + (info.has_wide_transparency != 0 ? [PNGDecoder.wideTransparency] : []) + colors.notes)
        // Everything is set up, so a throw from here on runs `deinit`.
        try limits.check(workingBytes: bytesHeld)
    }

    deinit {
        ic_png_decoder_close(handle)
    }

    private static let wideTransparency =
        "its clear colour has more bits than the picture, of which the lower ones count"

    /// Width and height stand at a fixed place, in the chunk that has to come first.
    private static func claimedSize(_ bytes: UnsafeRawBufferPointer) throws(CodecError) -> (width: Int, height: Int) {
        guard bytes.count >= 33 else { throw CodecError(.damaged, "The PNG ends in its header") }
        let width = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
        let height = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self))
        return (Int(width), Int(height))
    }

    private struct Chunks {
        var isAnimated = false
        /// What cICP says, which the library does not know.
        var coded: CodedColors?
        /// The first of each that stands behind the picture.
        var lateEXIF: Range<Int>?
        var lateXMP: Range<Int>?
        var late: [Range<Int>] { [lateEXIF, lateXMP].compactMap(\.self) }
        var hasEnd = false
        /// Chunks of metadata that are not read, and how many there are beside those that are named.
        var others: [String] = []
        var moreOthers = 0
        /// Kinds that are read.
        var seen: Set<String> = []
        var leftOut: [String] {
            guard !others.isEmpty else { return [] }
            let named = others.joined(separator: ", ")
            let more = moreOthers > 0 ? " and \(moreOthers) more" : ""
            return [others.count == 1 ? "the chunk \(named) was left out" : "the chunks \(named)\(more) were left out"]
        }

        mutating func leaveOut(_ name: String) {
            if others.count < PNGDecoder.mostNamed { others.append(name) } else { moreOthers += 1 }
        }
    }

    private static let mostNamed = 8
    /// Chunks that are read, or say how the picture is stored (PNG, third edition).
    private static let known: Set<String> = [
        "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "mDCV", "cLLI", "mDCv",
        "cLLi", "bKGD", "hIST", "pHYs", "sPLT", "acTL", "fcTL", "fdAT",
    ]

    /// What the chain of chunks says.
    private static func walk(_ bytes: UnsafeRawBufferPointer) -> Chunks {
        var chunks = Chunks()
        var isBeforePicture = true
        var offset = 8
        while offset + 12 <= bytes.count, !chunks.hasEnd {
            let kind = bytes[offset + 4..<offset + 8]
            let length = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
            if kind.elementsEqual("IEND".utf8) { chunks.hasEnd = true }
            if kind.elementsEqual("acTL".utf8) { chunks.isAnimated = true }
            if kind.elementsEqual("IDAT".utf8) { isBeforePicture = false }
            if kind.elementsEqual("cICP".utf8), isBeforePicture, length == 4, offset + 16 <= bytes.count {
                chunks.coded = CodedColors(png: bytes[offset + 8..<offset + 12])
            }
            let end = offset + 12 + length
            if end <= bytes.count {
                let name = name(kind, bytes[offset + 8..<end - 4])
                // The first of each kind that is read.
                let isRead = ["eXIf", xmpName].contains(name) && chunks.seen.insert(name).inserted
                if !known.contains(name), !isRead { chunks.leaveOut(name) }
            }
            if !isBeforePicture, end <= bytes.count, length <= mostMetadata {
                if kind.elementsEqual("eXIf".utf8) { chunks.lateEXIF = chunks.lateEXIF ?? offset..<end }
                let isXMP = kind.elementsEqual("iTXt".utf8) && bytes[offset + 8..<end - 4].starts(with: xmpKeyword)
                if isXMP { chunks.lateXMP = chunks.lateXMP ?? offset..<end }
            }
            offset = end
        }
        return chunks
    }

    /// A chunk's kind, and its keyword where it is a text.
    private static func name(_ kind: Slice<UnsafeRawBufferPointer>, _ data: Slice<UnsafeRawBufferPointer>) -> String {
        func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
            String(decoding: bytes.prefix { (0x20...0x7E).contains($0) }, as: UTF8.self)
        }
        let kind = text(kind)
        return ["tEXt", "zTXt", "iTXt"].contains(kind) ? "\(kind) \(text(data.prefix(79)))" : kind
    }

    private static let xmpName = "iTXt XML:com.adobe.xmp"

    /// Of a chunk behind the picture.
    private static let mostMetadata = 4 << 20
    private static let xmpKeyword = "XML:com.adobe.xmp\0".utf8

    private typealias Metadata = (exif: [UInt8]?, xmp: [UInt8]?)

    private static func metadata(of handle: OpaquePointer, _ info: ic_png_info) -> Metadata {
        func block(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? { bytes.isEmpty ? nil : Array(bytes) }
        var length = 0
        let xmp = ic_png_decoder_xmp(handle, &length)
        return (
            block(UnsafeRawBufferPointer(start: info.exif, count: info.exif_size)),
            block(UnsafeRawBufferPointer(start: xmp, count: length))
        )
    }

    /// The library reads what stands behind the picture after its last row. Here it is read before the first one, out of a
    /// file that has it in front of its picture; nil where there is nothing, or nothing sound.
    private static func metadata(behindPictureOf bytes: UnsafeRawBufferPointer, _ chunks: [Range<Int>]) -> Metadata? {
        guard !chunks.isEmpty else { return nil }
        // Signature, and one gray pixel of which nothing follows.
        let start: [UInt8] =
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
            + [0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0, 0x3A, 0x7E, 0x9B, 0x55]
        let end: [UInt8] = [0, 0, 0, 0] + Array("IDAT".utf8) + [0x35, 0xAF, 0x06, 0x1E]
        let file = start + chunks.flatMap { bytes[$0] } + end
        return file.withUnsafeBufferPointer { file in
            var info = ic_png_info()
            var error = ic_error()
            guard let handle = ic_png_decoder_open(file.baseAddress, file.count, &info, &error) else { return nil }
            defer { ic_png_decoder_close(handle) }
            return metadata(of: handle, info)
        }
    }

    /// The first of cICP, iCCP, sRGB, and gAMA with cHRM that is there and understood (PNG specification, third edition,
    /// section 4.3).
    private static func colors(_ info: ic_png_info, coded: CodedColors?) -> (icc: [UInt8]?, notes: [String]) {
        if let coded, coded.note == nil { return (coded.profile, []) }
        guard info.icc_size == 0 else {
            return (Array(UnsafeBufferPointer(start: info.icc, count: info.icc_size)), [])
        }
        if let note = coded?.note { return (nil, [note]) }
        let isOdd = info.has_impossible_colors != 0
        return (nil, isOdd ? ["its gamma and primaries cannot be, and are taken for sRGB's"] : [])
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
