/// A file format this package reads or writes, told apart by content.
package enum ImageFormat: String, Codable, Hashable, Sendable, CaseIterable {
    case jpeg, png, tiff, webp, avif, heic, gif
    /// JPEG XL.
    case jxl
    /// JPEG 2000.
    case jp2
    /// What a camera's sensor saw.
    case raw
}

/// What is made of a camera's raw file.
package enum RawHandling: String, Codable, Hashable, Sendable, CaseIterable {
    /// The sensor's values become a picture, with the camera's white balance.
    case develop
    /// The JPEG that the camera made and put beside them.
    case preview
}

/// How the samples of one decoded row lie in memory: interleaved, row-major, native byte order.
package enum PixelLayout: String, Codable, Hashable, Sendable {
    /// 8-bit R, G, B and one unused byte (255). Opaque pictures, gray ones included.
    case rgbx8
    /// 8-bit R, G, B and straight (not premultiplied) alpha.
    case rgba8
    /// 16-bit R, G, B and straight alpha (65535 when the picture is opaque).
    case rgba16
    /// 32-bit float R, G, B and straight alpha, 1.0 = white.
    case rgbaF32
    /// 8-bit C, M, Y, K with 0 = no ink.
    case cmyk8

    package var bytesPerPixel: Int {
        switch self {
        case .rgbx8, .rgba8, .cmyk8: 4
        case .rgba16: 8
        case .rgbaF32: 16
        }
    }
}

/// Metadata carried from the input to the outputs, as raw payloads without container framing.
package struct ImageMetadata: Sendable {
    /// TIFF-structured EXIF block, starting at its byte-order mark (`II` or `MM`).
    package var exif: [UInt8]?
    /// XMP packet, UTF-8.
    package var xmp: [UInt8]?
    /// What does not fit into a JPEG's packet, which names it by its digest.
    package var extendedXMP: ExtendedXMP?
    /// Photoshop image resources with IPTC (the payload of a JPEG APP13 segment after its name).
    package var iptc: [UInt8]?
    /// ICC profile.
    package var icc: [UInt8]?
    /// JPEG comment.
    package var comment: [UInt8]?
    /// What ISO 21496-1 says of a gain map: in the picture versions alone, in the map the meaning of its codes.
    package var gainMapISO: [UInt8]?
    /// What the container says, beside EXIF.
    package var resolution: Resolution?
    /// Sentences on metadata of the file that is not carried.
    package var leftOut: [String] = []

    package init(
        exif: [UInt8]? = nil, xmp: [UInt8]? = nil, iptc: [UInt8]? = nil, icc: [UInt8]? = nil, comment: [UInt8]? = nil,
        gainMapISO: [UInt8]? = nil, resolution: Resolution? = nil
    ) {
        self.exif = exif
        self.xmp = xmp
        self.iptc = iptc
        self.icc = icc
        self.comment = comment
        self.gainMapISO = gainMapISO
        self.resolution = resolution
    }
}

/// What a header says, known before any pixel is decoded.
package struct ImageHeader: Sendable {
    package var format: ImageFormat
    /// Stored size in pixels, before EXIF orientation.
    package var width: Int
    package var height: Int
    /// The layout rows come in.
    package var layout: PixelLayout
    /// Bits a channel in the file (1 ... 16, 32 for float).
    package var bitsPerChannel: Int
    package var isGray: Bool
    package var hasAlpha: Bool
    /// EXIF orientation 1 ... 8; 1 when absent or invalid.
    package var orientation: Int
    package var metadata: ImageMetadata
    /// Things the person should be told, e.g. "first page of 3".
    package var notes: [String]
    /// Of a JPEG that announces one; a failure says why it cannot be used.
    package var gainMap: Result<GainMap, CodecError>?

    package init(
        format: ImageFormat, width: Int, height: Int, layout: PixelLayout, bitsPerChannel: Int, isGray: Bool,
        hasAlpha: Bool, orientation: Int, metadata: ImageMetadata, notes: [String]
    ) {
        self.format = format
        self.width = width
        self.height = height
        self.layout = layout
        self.bitsPerChannel = bitsPerChannel
        self.isGray = isGray
        self.hasAlpha = hasAlpha
        self.orientation = orientation
        self.metadata = metadata
        self.notes = notes
    }
}

/// Bounds checked from the header, before memory is reserved.
package struct DecodeLimits: Codable, Hashable, Sendable {
    /// Largest width times height.
    package var maxPixels: Int = 500_000_000
    /// Largest file in bytes.
    package var maxFileBytes: Int = 4 << 30
    /// Most pixels one input byte may stand for; beyond it the file is treated as a bomb.
    package var maxPixelsPerByte: Int = 5_000
    /// Most scans of a progressive JPEG.
    package var maxScans: Int = 100
    /// Most bytes the decoder may need at once (see ``ImageDecoder/workingBytes(scaleEighths:)``).
    package var maxWorkingBytes: Int = .max

    package init() {}
}

/// Why a file could not be read or written.
package struct CodecError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Codable, Sendable {
        case unknownFormat, unsupported, damaged, limit, outOfMemory, encode
        /// The format's library is not installed.
        case libraryMissing
        /// A ``CodecPulse`` ended the call.
        case stopped
    }
    package let code: Code
    /// One sentence without the file's name.
    package let reason: String
    /// Most bytes that were needed to find out, where the file could not be opened; 0 elsewhere.
    package var workingBytes = 0

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    package var description: String { reason }

    /// The same failure, whatever was needed to find it.
    package static func == (left: CodecError, right: CodecError) -> Bool {
        left.code == right.code && left.reason == right.reason
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(reason)
    }
}

/// Decodes one file that lies whole in memory. Used by one thread; the bytes outlive it.
package protocol ImageDecoder: AnyObject {
    var header: ImageHeader { get }

    /// Asked within calls that take long, where the library allows it. Set before ``start(scaleEighths:)``.
    var pulse: CodecPulse? { get set }

    /// Scales the format decodes at directly, in eighths, largest first; `[8]` for most formats, `[8, 4, 2, 1]`
    /// for JPEG.
    var scalesEighths: [Int] { get }

    /// Peak bytes the decoder itself holds at that scale, its own row or picture buffers included.
    func workingBytes(scaleEighths: Int) -> Int

    /// Starts decoding; called once.
    ///
    /// - Returns: The size rows come in: the header's at 8, rounded up at smaller scales.
    /// - Throws: ``CodecError`` when nothing can be decoded.
    func start(scaleEighths: Int) throws(CodecError) -> (width: Int, height: Int)

    /// Decodes the next `count` rows (fewer at the end) into `rows`, top to bottom.
    ///
    /// A file that ends early or has corrupt data goes on with what the codec makes of it, and says so in ``damage``.
    ///
    /// - Returns: The number of rows written; 0 only after the last row.
    func readRows(into rows: UnsafeMutableRawPointer, strideBytes: Int, count: Int) throws(CodecError) -> Int

    /// What was wrong with the data read so far, complete after the last row; empty for a sound file.
    var damage: [String] { get }

    /// Bytes kept for followers; nil where there can be none, and each scale needs a decoding by itself.
    var bytesForFollowers: Int? { get }

    /// A decoder of the same file that takes what it needs from this one as this one reads it, so that another scale costs
    /// little. Its rows are those of a decoding by itself. To be started after this one, at no larger scale, before the first row.
    ///
    /// - Returns: nil where there can be none.
    /// - Throws: ``CodecError`` when it cannot be opened.
    func follower() throws(CodecError) -> (any ImageDecoder)?

    /// It follows a decoder that has not read the whole file: ``readRows(into:strideBytes:count:)`` may write fewer rows, or none.
    var isWaiting: Bool { get }
}

extension ImageDecoder {
    package var bytesForFollowers: Int? { nil }

    package func follower() throws(CodecError) -> (any ImageDecoder)? { nil }

    package var isWaiting: Bool { false }
}

/// What an encoder has to write.
package struct EncodeRequest: Sendable {
    package var format: ImageFormat
    package var width: Int
    package var height: Int
    /// Layout of the rows given: `rgbx8`, `rgba8`, or `rgba16` for files of more than 8 bits a channel.
    package var layout: PixelLayout
    /// The picture has no colour, and is written as gray where the format can.
    package var isGray: Bool
    /// Every alpha given is full, so the alpha channel is left out; known already for `rgbx8`.
    package var isOpaque: Bool
    /// 1 ... 100 for lossy formats.
    package var quality: Int
    /// Lossless WebP, AVIF and JPEG XL.
    package var lossless: Bool
    /// Effort: smaller files, slower (JPEG: optimised Huffman tables; WebP: method 4; PNG and TIFF: level 9; AVIF: speed 6;
    /// JPEG XL: effort 7).
    package var optimize: Bool
    package var progressive: Bool
    /// 4:4:4 instead of 4:2:0 for JPEG and AVIF.
    package var fullChroma: Bool
    /// Cores that the encoder may keep busy at once; only AVIF's has use for more than one. They change no byte of the file.
    package var cores: Int
    package var metadata: ImageMetadata
    /// A finished JPEG that follows the picture, whose metadata announces it; for JPEG alone.
    package var gainMap: [UInt8]?

    package init(
        format: ImageFormat, width: Int, height: Int, layout: PixelLayout, isGray: Bool = false,
        isOpaque: Bool = false, quality: Int = 85, lossless: Bool = false, optimize: Bool = false,
        progressive: Bool = false, fullChroma: Bool = false, cores: Int = 1,
        metadata: ImageMetadata = ImageMetadata()
    ) {
        self.format = format
        self.width = width
        self.height = height
        self.layout = layout
        self.isGray = isGray
        self.isOpaque = isOpaque
        self.quality = quality
        self.lossless = lossless
        self.optimize = optimize
        self.progressive = progressive
        self.fullChroma = fullChroma
        self.cores = cores
        self.metadata = metadata
    }
}

/// Encodes one picture, row by row, into memory. Used by one thread.
package protocol ImageEncoder: AnyObject {
    /// Asked within calls that take long, where the library allows it. Set before the first row.
    var pulse: CodecPulse? { get set }

    /// Peak bytes the encoder holds, output included, an estimate from above.
    var workingBytes: Int { get }

    /// Takes the next `count` rows, top to bottom, in the request's layout.
    func writeRows(_ rows: UnsafeRawPointer, strideBytes: Int, count: Int) throws(CodecError)

    /// Ends the file and lends its bytes to `body`; they are gone afterwards.
    func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws
}
