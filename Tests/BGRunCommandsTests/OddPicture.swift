import Foundation
import ImageCodecs
import SeededNumbers
import Testing

/// A small picture whose features are drawn by a seed, and files of it in several forms.
struct OddPicture {
    var width: Int
    var height: Int
    /// Upright: 8-bit R, G, B and alpha, four samples a pixel.
    var samples: [UInt8]
    var hasAlpha: Bool
    var isGray: Bool
    /// Its file has 16 bits a channel.
    var isWide: Bool
    /// How its file is turned, by EXIF.
    var orientation = 1
    var format: ImageFormat = .png

    /// Formats with which a file can be turned.
    private static let turning: Set<ImageFormat> = [.png, .jpeg, .webp]

    /// Of colours that run into each other, with an edge and some noise.
    init(_ random: inout SeededGenerator) {
        func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        let formats = ImageFormat.allCases.filter { $0.isWritten && $0.library?.isInstalled ?? true }
        format = formats[draw(0...formats.count - 1)]
        (width, height) = (draw(5...70), draw(5...70))
        hasAlpha = draw(0...2) == 0 && format.writesAlpha
        isGray = draw(0...2) == 0 && format.writesGray
        isWide = draw(0...2) == 0 && format.writtenBits.contains(16)
        if Self.turning.contains(format) { orientation = draw(1...8) }
        let (slope, edge) = ((x: draw(1...5), y: draw(1...5)), draw(0...width))
        samples = []
        for y in 0..<height {
            for x in 0..<width {
                let level = (x < edge ? 40 : 120) + draw(0...9)
                let color = isGray ? [0, 0, 0] : [slope.x * x / 3, slope.y * y / 3, (x + y) / 2]
                samples += color.map { UInt8(min(level + $0, 255)) }
                samples.append(hasAlpha ? UInt8(y < 3 ? 0 : min(255, 30 + 6 * x)) : 255)
            }
        }
    }

    /// The stored picture: its size, and where in the upright one each of its pixels is (Exif 2.32, tag 274).
    private var stored: (width: Int, height: Int, place: (_ x: Int, _ y: Int) -> Int) {
        let (w, h) = orientation >= 5 ? (height, width) : (width, height)
        let (width, orientation) = (width, orientation)
        return (
            w, h,
            { x, y in
                let (ux, uy) =
                    switch orientation {
                    case 2: (w - 1 - x, y)
                    case 3: (w - 1 - x, h - 1 - y)
                    case 4: (x, h - 1 - y)
                    case 5: (y, x)
                    case 6: (h - 1 - y, x)
                    case 7: (h - 1 - y, w - 1 - x)
                    case 8: (y, w - 1 - x)
                    default: (x, y)
                    }
                return uy * width + ux
            }
        )
    }

    var file: Data {
        get throws {
            let (width, height, place) = stored
            var metadata = ImageMetadata()
            if orientation != 1 {
                // A TIFF structure with one entry, the orientation as a SHORT.
                metadata.exif =
                    [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, UInt8(orientation)]
                    + [UInt8](repeating: 0, count: 7)
            }
            let layout: PixelLayout = isWide ? .rgba16 : hasAlpha ? .rgba8 : .rgbx8
            let encoder = try CodecRegistry.encoder(
                for: EncodeRequest(
                    format: format, width: width, height: height, layout: layout, isGray: isGray, isOpaque: !hasAlpha,
                    quality: 90, lossless: format.canBeLossless, metadata: metadata))
            var bytes: [UInt8] = []
            for y in 0..<height {
                for x in 0..<width {
                    // A code of 8 bits twice is one of 16.
                    for sample in samples[(4 * place(x, y))..<(4 * place(x, y) + 4)] {
                        bytes += isWide ? [sample, sample] : [sample]
                    }
                }
            }
            try bytes.withUnsafeBytes {
                let base = try #require($0.baseAddress)
                try encoder.writeRows(base, strideBytes: width * layout.bytesPerPixel, count: height)
            }
            var file = Data()
            try encoder.finish { file.append(contentsOf: $0) }
            return file
        }
    }
}
