/// The formats this build reads and writes, and the one place that chooses a codec.
package enum CodecRegistry {
    /// Tells the format from the first bytes of a file; nil when none matches.
    package static func detect(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
        FormatSignature.detect(bytes)
    }

    /// Reads the header and checks `limits`; decodes nothing yet. `bytes` must outlive the decoder.
    package static func decoder(
        for bytes: UnsafeRawBufferPointer, limits: DecodeLimits
    ) throws(CodecError) -> any ImageDecoder {
        try limits.check(fileBytes: bytes.count)
        switch detect(bytes) {
        case .jpeg: return try JPEGDecoder(bytes, limits: limits)
        case .png: return try PNGDecoder(bytes, limits: limits)
        case .webp: return try WebPDecoder(bytes, limits: limits)
        case .tiff: throw CodecError(.unsupported, "This format is not supported yet")
        case nil: throw CodecError(.unknownFormat, FormatSignature.reason(bytes))
        }
    }

    package static func encoder(for request: EncodeRequest) throws(CodecError) -> any ImageEncoder {
        guard request.width > 0, request.height > 0 else {
            throw CodecError(.encode, "A picture of \(request.width) × \(request.height) pixels cannot be written")
        }
        switch request.format {
        case .jpeg: return try JPEGEncoder(request)
        case .png: return try PNGEncoder(request)
        case .webp: return try WebPEncoder(request)
        case .tiff: throw CodecError(.encode, "\(request.format.rawValue) cannot be written")
        }
    }
}
