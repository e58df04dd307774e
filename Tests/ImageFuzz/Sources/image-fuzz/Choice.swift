import ImageCodecs
import ImageExport

/// Settings of one output by a number: the lowest three bits are the format, the others what is done with the picture.
enum Choice {
    static let formats: [ImageFormat?] = [.jpeg, .png, .tiff, .webp, .avif, .jxl, nil, nil]

    static func settings(_ choice: UInt8) -> OutputSettings {
        var settings = OutputSettings()
        settings.format = formats[Int(choice & 7)]
        change(&settings, Int(choice >> 3))
        return settings
    }

    private static func change(_ settings: inout OutputSettings, _ look: Int) {
        // Most inputs are resized, as most exports are.
        settings.size = look % 4 == 0 ? .original : .longEdge(16)
        switch look {
        case 0: break
        case 1: settings.leavesOutGainMap = true
        case 2: settings.enlarge = true
        case 3: settings.size = .fill(width: 12, height: 20)
        case 4: settings.linearLight = true
        case 5: settings.exact = true
        case 6: settings.sharpening = Sharpening(amount: 1, sigma: 1)
        case 7: settings.colorSpace = .displayP3
        case 8: settings.colorSpace = .keep
        case 9: settings.metadata = settings.format == .jpeg ? MetadataSelection(rawValue: "-gps") ?? .keep : .strip
        case 10: settings.artist = "An artist"
        case 11: settings.copyright = "© somebody"
        case 12: settings.lossless = true
        case 13: settings.optimize = true
        case 14: settings.progressive = true
        case 15: settings.fullChroma = true
        case 16: settings.raw = .preview
        case 17: settings.turns = 1
        case 18: settings.crop = .box(width: 5, height: 4, x: 1, y: 2)
        case 19: settings.border = Border(pixels: 2, color: [1, 2, 3])
        case 20: settings.operations = [.exposure(0.3), .contrast(0.2), .saturation(0.1)]
        case 21: settings.operations = [.denoise(Denoising(luma: 0.3, chroma: 0.3))]
        case 22: settings.operations = [.localContrast(LocalContrast(amount: 0.4, reach: 2))]
        case 23: settings.operations = [.deconvolve(Deconvolution(amount: 0.5, sigma: 0.8, rounds: 2))]
        case 24: settings.operations = [.whiteBalance(WhiteBalance(temperature: 0.2, tint: 0.1))]
        case 25: settings.maxBytes = 700
        case 26: settings.quality = 1
        case 27: settings.bitsPerChannel = settings.format?.writtenBits.max()
        case 28: settings.size = .megapixels(0.0001)
        case 29: (settings.turns, settings.linearLight) = (2, true)
        case 30: settings.matte = [0, 0, 0]
        default: (settings.quality, settings.fullChroma) = (100, true)
        }
    }
}
