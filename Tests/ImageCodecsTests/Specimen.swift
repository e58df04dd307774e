import ImageCodecs
import JPEGVariants

/// Small sound files of every format and kind.
enum Specimen: String, CaseIterable, Sendable {
    case jpeg, progressive, arithmetic, cmyk, png, interlaced, palette, png16, webp, webpAlpha, webpLossless
    case tiff, tiff16Tiles, tiffPalette, tiffFloat, tiffDeflated, avif

    func file() throws -> [UInt8] {
        let picture = Picture.sample(width: 40, height: 30)
        let clear = Picture.sample(width: 40, height: 30, layout: .rgba8)
        switch self {
        case .jpeg:
            return try encoded(picture, as: .jpeg) {
                $0.metadata.exif = MetadataTests.exif(isBigEndian: true)
                $0.metadata.icc = BuiltInProfile.displayP3.bytes
            }
        case .progressive: return try encoded(picture, as: .jpeg) { $0.progressive = true }
        case .arithmetic, .cmyk:
            var variant = jpeg_variant(self == .cmyk ? 4 : 3, width: 40, height: 30)
            variant.is_arithmetic = self == .cmyk ? 0 : 1
            variant.is_progressive = variant.is_arithmetic
            return ImageCodecsTests.jpeg(variant) { x, y, c in UInt8((x * 5 + y * 3 + c) % 256) }
        case .png:
            return try encoded(picture, as: .png) {
                $0.metadata.icc = BuiltInProfile.displayP3.bytes
                $0.metadata.xmp = Array("<x/>".utf8)
            }
        case .png16: return try encoded(Picture.sample(width: 40, height: 30, layout: .rgba16), as: .png)
        case .interlaced, .palette: return storedPNG()
        case .webp: return try encoded(picture, as: .webp) { $0.metadata.xmp = Array("<x/>".utf8) }
        case .webpAlpha: return try encoded(clear, as: .webp)
        case .webpLossless: return try encoded(clear, as: .webp) { $0.lossless = true }
        case .tiff, .tiff16Tiles, .tiffPalette, .tiffFloat: return tiff()
        case .tiffDeflated:
            return try encoded(clear, as: .tiff) { $0.metadata.exif = MetadataTests.exif(isBigEndian: true) }
        case .avif: return try encoded(clear, as: .avif) { $0.metadata.xmp = Array("<x/>".utf8) }
        }
    }

    private func storedPNG() -> [UInt8] {
        var writer = PNGWriter(width: 40, height: 30) { x, y, c in (x * y + c) % (self == .palette ? 4 : 256) }
        writer.isInterlaced = self == .interlaced
        if self == .palette {
            writer.kind = 3
            writer.bits = 2
            writer.palette = [UInt8](repeating: 99, count: 12)
            writer.transparency = [1, 2]
        }
        return writer.file()
    }

    private func tiff() -> [UInt8] {
        var writer = TIFFWriter(width: 40, height: 30) { x, y, c in UInt64((x * 5 + y * 3 + c) % 200) }
        writer.pages = 2
        switch self {
        case .tiff16Tiles:
            writer.bits = 16
            writer.tile = 16
            writer.isSeparate = true
            writer.samples = 4
            writer.extraSamples = [1]
            writer.isBigEndian = true
        case .tiffPalette:
            writer.bits = 4
            writer.samples = 1
            writer.photometric = 3
            writer.palette = (0..<48).map { $0 * 1_000 }
            writer.sample = { x, y, _ in UInt64((x + y) % 16) }
        case .tiffFloat:
            writer.bits = 32
            writer.sampleFormat = 3
        default: writer.icc = BuiltInProfile.sRGB.bytes
        }
        return writer.file()
    }
}
