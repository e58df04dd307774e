/// The formats this build reads and writes, and the one place that chooses a codec.
package enum CodecRegistry {
    /// Tells the format from the first bytes of a file; nil when none matches.
    package static func detect(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
        FormatSignature.detect(bytes)
    }

    /// Reads the header and checks `limits`; decodes nothing yet. `bytes` must outlive the decoder. `raw` says what becomes
    /// of a camera's raw file.
    package static func decoder(
        for bytes: UnsafeRawBufferPointer, limits: DecodeLimits, raw: RawHandling = .develop
    ) throws(CodecError) -> any ImageDecoder {
        try limits.check(fileBytes: bytes.count)
        switch detect(bytes) {
        case .jpeg: return try JPEGDecoder(bytes, limits: limits)
        case .png: return try PNGDecoder(bytes, limits: limits)
        case .webp: return try WebPDecoder(bytes, limits: limits)
        case .tiff where !CameraRaw.isStored(in: bytes): return try TIFFDecoder(bytes, limits: limits)
        case .tiff, .raw:
            switch raw {
            case .develop: return try PictureDecoder(bytes, format: .raw, limits: limits)
            case .preview: return try RawPreviewDecoder(bytes, limits: limits)
            }
        case let format?: return try PictureDecoder(bytes, format: format, limits: limits)
        case nil: throw CodecError(.unknownFormat, FormatSignature.reason(bytes))
        }
    }

    package static func encoder(for request: EncodeRequest) throws(CodecError) -> any ImageEncoder {
        guard request.width > 0, request.height > 0 else {
            throw CodecError(.encode, "A picture of \(request.width) × \(request.height) pixels cannot be written")
        }
        let request = request.withFittingProfile
        switch request.format {
        case .jpeg: return try JPEGEncoder(request)
        case .png: return try PNGEncoder(request)
        case .webp: return try WebPEncoder(request)
        case .avif: return try AVIFEncoder(request)
        case .jxl: return try JXLEncoder(request)
        case .tiff: return try TIFFEncoder(request)
        case .heic, .gif, .jp2, .raw: throw CodecError(.encode, "\(request.format.name) is read but not written")
        }
    }
}

extension EncodeRequest {
    /// A gray file may not carry a profile for R, G and B. Where the profile's curve is sRGB's, it says nothing that
    /// an untagged gray file does not; elsewhere the picture is written in colour.
    fileprivate var withFittingProfile: EncodeRequest {
        guard isGray, let icc = metadata.icc, ColorProfile.channels(of: icc) != "GRAY" else { return self }
        var copy = self
        if ProfileCurves.isNeutralSRGB(icc) {
            copy.metadata.icc = nil
        } else {
            copy.isGray = false
        }
        return copy
    }
}
