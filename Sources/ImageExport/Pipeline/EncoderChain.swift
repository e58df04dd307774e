import ImageCodecs

/// The encoder of one output with what stands before it: marks are put onto the rows, a border around them, and the quality is
/// fitted to a size.
struct EncoderChain {
    /// Takes the output's rows.
    let head: any ImageEncoder
    private let fitting: FittingEncoder?
    private let maxBytes: Int

    /// - Throws: ``CodecError`` where the format cannot hold the picture.
    init(
        _ request: EncodeRequest, _ settings: OutputSettings, marks: [Mark], paint: Paint = Paint()
    ) throws(CodecError) {
        maxBytes = settings.maxBytes ?? .max
        fitting = try settings.maxBytes.map { bytes throws(CodecError) in
            try FittingEncoder(request, maxBytes: bytes)
        }
        let encoder: any ImageEncoder
        if let fitting { encoder = fitting } else { encoder = try CodecRegistry.encoder(for: request) }
        head = Self.head(before: encoder, request, settings, marks: marks, paint: paint)
    }

    /// What puts marks and border onto rows on their way to an encoder.
    static func head(
        before encoder: any ImageEncoder, _ request: EncodeRequest, _ settings: OutputSettings, marks: [Mark],
        paint: Paint
    ) -> any ImageEncoder {
        let bordered =
            settings.border.map {
                BorderedEncoder(encoder, pixels: $0.pixels, color: paint.codes($0.color), request: request)
            } ?? encoder
        return marks.isEmpty ? bordered : MarkingEncoder(bordered, inside(request, settings), marks)
    }

    /// What is asked of the part within the border.
    static func inside(_ request: EncodeRequest, _ settings: OutputSettings) -> EncodeRequest {
        var inside = request
        inside.width -= 2 * (settings.border?.pixels ?? 0)
        inside.height -= 2 * (settings.border?.pixels ?? 0)
        return inside
    }

    /// How much longer than one encoder it may be silent at its end.
    var silence: Double { fitting == nil ? 1 : 8 }

    /// What was decided about the finished picture; nil where nothing had to be.
    var note: String? {
        guard let fitting, let quality = fitting.quality, fitting.attempts > 1 else { return nil }
        return "quality \(quality) was found in \(fitting.attempts) attempts for at most \(maxBytes) bytes"
    }
}
