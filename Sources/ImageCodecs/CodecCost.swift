/// About how long codecs take that do their work in one go, on one core, with Debian 12's libraries. PNG and lossy WebP, AVIF
/// and JPEG XL were timed with camera-like pictures of 3 MP on an AMD EPYC (Zen 5); the others are rough. For estimates, and
/// for telling a hang from work.
package enum CodecCost {
    /// Seconds for a megapixel that is written.
    package static func encoding(_ format: ImageFormat, optimize: Bool = false, lossless: Bool = false) -> Double {
        switch format {
        case .jpeg: optimize ? 0.02 : 0.005
        case .png: optimize ? 0.6 : 0.12
        case .tiff: optimize ? 0.6 : 0.08
        case .webp: lossless ? 0.9 : optimize ? 0.07 : 0.03
        case .avif: lossless ? 0.4 : optimize ? 0.33 : 0.11
        case .jxl: optimize ? (lossless ? 1.0 : 0.14) : lossless ? 0.2 : 0.03
        case .heic, .gif, .jp2, .raw: 0
        }
    }

    /// Whether an encoder asks its pulse on its way.
    package static func hearsStop(_ format: ImageFormat) -> Bool { format != .avif }

    /// Seconds for a megapixel that is read; nil for codecs that give their rows one by one.
    static func decoding(_ format: ImageFormat) -> Double? {
        switch format {
        case .jpeg, .png, .tiff: nil
        case .webp, .gif, .avif, .heic: 0.02
        case .jxl: 0.03
        case .jp2: 0.08
        case .raw: 0.4
        }
    }
}

extension EncodeRequest {
    /// For the whole picture.
    package var expectedSeconds: Double {
        let parts = format == .avif ? min(cores, AVIFEncoder.tileColumns(width: width, height: height)) : 1
        return CodecCost.encoding(format, optimize: optimize, lossless: lossless) * Double(width * height) / 1e6
            / Double(parts)
    }
}

extension ImageHeader {
    /// What a decoder that reads the whole picture first takes for that; nil for others.
    package var silentSeconds: Double? {
        CodecCost.decoding(format).map { $0 * Double(width * height) / 1e6 }
    }
}
