package import ImageCodecs
import SeededNumbers

/// A small picture made from a seed: its upright pixels, and how a file stores them.
package struct RandomPicture: Sendable {
    package enum Alpha: Sendable, CaseIterable {
        case none
        /// A channel in which nothing is clear.
        case full
        /// Parts are clear, with hard edges.
        case cutOut
        case soft
    }

    package enum Profile: Sendable, CaseIterable {
        case none, sRGB, displayP3, adobeRGB

        package var icc: [UInt8]? {
            switch self {
            case .none: nil
            case .sRGB: BuiltInProfile.sRGB.bytes
            case .displayP3: BuiltInProfile.displayP3.bytes
            case .adobeRGB: BuiltInProfile.adobeRGB.bytes
            }
        }
    }

    /// Upright.
    package var width: Int
    package var height: Int
    /// R, G, B and alpha of 16 bits, row-major, upright; multiples of 257 for a file of 8 bits.
    package var pixels: [UInt16]
    /// All pixels have one colour.
    package var isFlat: Bool
    package var isDeep: Bool
    package var isGray: Bool
    package var alpha: Alpha
    package var profile: Profile
    /// As the file says it, where its format does.
    package var orientation: Int
    package var format: ImageFormat
    package var quality: Int
    package var fullChroma: Bool
    package var progressive: Bool

    /// Of 8 bits each, or of 16 in a format that has them.
    private static let formats: [ImageFormat] = [.png, .png, .tiff, .tiff, .webp, .jpeg, .jpeg, .jpeg]

    package init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        // Odd and prime sizes, single rows and columns, and now and then more than a tile of a kernel.
        func edge() -> Int {
            switch Int.random(in: 0..<20, using: &random) {
            case 0: Int.random(in: 1...3, using: &random)
            case 1...11: Int.random(in: 4...40, using: &random)
            case 12...18: Int.random(in: 41...90, using: &random)
            default: Int.random(in: 91...180, using: &random)
            }
        }
        (width, height) = (edge(), edge())
        format = Self.formats.randomElement(using: &random) ?? .png
        isDeep = (format == .png || format == .tiff) && Int.random(in: 0..<3, using: &random) == 0
        isGray = format != .webp && Int.random(in: 0..<5, using: &random) == 0
        let hasAlpha = format != .jpeg && Int.random(in: 0..<3, using: &random) == 0
        alpha = hasAlpha ? Alpha.allCases.randomElement(using: &random) ?? .none : .none
        profile = isGray ? .none : Profile.allCases.randomElement(using: &random) ?? .none
        if Bool.random(using: &random) { profile = .none }
        orientation = Bool.random(using: &random) ? Int.random(in: 1...8, using: &random) : 1
        quality = Int.random(in: 60...100, using: &random)
        fullChroma = Bool.random(using: &random)
        progressive = Int.random(in: 0..<4, using: &random) == 0
        isFlat = Int.random(in: 0..<10, using: &random) == 0
        pixels = Self.content(
            width, height, isFlat: isFlat, isGray: isGray, isDeep: isDeep, alpha: alpha, &random)
    }

    /// Ramps, edges, stripes and noise, or one colour.
    private static func content(
        _ width: Int, _ height: Int, isFlat: Bool, isGray: Bool, isDeep: Bool, alpha: Alpha,
        _ random: inout SeededGenerator
    ) -> [UInt16] {
        let base = (0..<3).map { _ in Double.random(in: 0...1, using: &random) }
        let slopes = (0..<6).map { _ in isFlat ? 0 : Double.random(in: -1...1, using: &random) }
        let period = Int.random(in: 1...17, using: &random)
        let step = isFlat ? 0 : Double.random(in: 0...0.7, using: &random)
        let noises: [Double] = [0, 0.02, 0.1, 0.5]
        let noise: Double = isFlat ? 0 : noises.randomElement(using: &random) ?? 0
        let hole = (
            x: Int.random(in: 0..<width, using: &random), y: Int.random(in: 0..<height, using: &random),
            radius: Double.random(in: 1...30, using: &random)
        )
        var pixels: [UInt16] = []
        pixels.reserveCapacity(4 * width * height)
        func code(_ value: Double) -> UInt16 {
            let value = min(max(value, 0), 1)
            return isDeep ? UInt16((value * 65535).rounded()) : UInt16((value * 255).rounded()) * 257
        }
        for y in 0..<height {
            for x in 0..<width {
                let (u, v) = (Double(x) / Double(width) - 0.5, Double(y) / Double(height) - 0.5)
                let edge = (x / period + y / period) % 2 == 0 ? step : -step
                let codes = (0..<3).map { c -> UInt16 in
                    let grain = noise == 0 ? 0 : Double.random(in: -noise...noise, using: &random)
                    return code(base[c] + slopes[2 * c] * u + slopes[2 * c + 1] * v + edge + grain)
                }
                pixels += isGray ? [codes[0], codes[0], codes[0]] : codes
                let dx = Double(x - hole.x)
                let distance = (dx * dx + Double((y - hole.y) * (y - hole.y))).squareRoot() - hole.radius
                switch alpha {
                case .none, .full: pixels.append(65535)
                case .cutOut: pixels.append(distance < 0 ? 0 : 65535)
                case .soft: pixels.append(code(distance / 12 + 0.5))
                }
            }
        }
        return pixels
    }

    /// Every pixel is opaque, though there may be a channel that could say otherwise.
    package var isOpaque: Bool { alpha == .none || alpha == .full }

    /// With other pixels of the same size, or stored in another way.
    package func with(_ change: (inout RandomPicture) -> Void) -> RandomPicture {
        var copy = self
        change(&copy)
        return copy
    }

    /// The file.
    ///
    /// - Throws: What its encoder throws.
    package func file() throws -> [UInt8] {
        let (stored, size) = stored
        let isWide = isDeep
        let layout: PixelLayout = isWide ? .rgba16 : alpha == .none ? .rgbx8 : .rgba8
        let request = EncodeRequest(
            format: format, width: size.width, height: size.height, layout: layout, isGray: isGray,
            isOpaque: alpha == .none, quality: quality, lossless: format == .webp, progressive: progressive,
            fullChroma: fullChroma,
            metadata: ImageMetadata(exif: orientation == 1 ? nil : Self.exif(orientation), icc: profile.icc))
        let encoder = try CodecRegistry.encoder(for: request)
        let rowBytes = size.width * layout.bytesPerPixel
        if isWide {
            try stored.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                try encoder.writeRows(base, strideBytes: rowBytes, count: size.height)
            }
        } else {
            try encoder.writeRows(stored.map { UInt8($0 >> 8) }, strideBytes: rowBytes, count: size.height)
        }
        var file: [UInt8] = []
        try encoder.finish { file = Array($0) }
        if format == .tiff, orientation != 1 { file = Self.turned(file, orientation) }
        return file
    }

    /// The pixels as they lie in the file.
    private var stored: ([UInt16], size: (width: Int, height: Int)) {
        guard orientation != 1 else { return (pixels, (width, height)) }
        let size = orientation >= 5 ? (width: height, height: width) : (width: width, height: height)
        var out: [UInt16] = []
        out.reserveCapacity(pixels.count)
        for y in 0..<size.height {
            for x in 0..<size.width {
                // Where the stored pixel is seen (Exif 2.32, tag 274).
                let (across, down) =
                    switch orientation {
                    case 2: (width - 1 - x, y)
                    case 3: (width - 1 - x, height - 1 - y)
                    case 4: (x, height - 1 - y)
                    case 5: (y, x)
                    case 6: (width - 1 - y, x)
                    case 7: (width - 1 - y, height - 1 - x)
                    default: (y, height - 1 - x)
                    }
                let place = 4 * (down * width + across)
                out += pixels[place..<place + 4]
            }
        }
        return (out, size)
    }

    /// A TIFF, which is written upright, with another orientation in its directory.
    private static func turned(_ tiff: [UInt8], _ orientation: Int) -> [UInt8] {
        let upright: [UInt8] = [0x12, 1, 3, 0, 1, 0, 0, 0, 1, 0]
        guard let place = tiff.firstRange(of: upright)?.upperBound else {
            preconditionFailure("a TIFF without an orientation")
        }
        var file = tiff
        file[place - 2] = UInt8(orientation)
        return file
    }

    /// A block that holds only an orientation.
    private static func exif(_ orientation: Int) -> [UInt8] {
        [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, UInt8(orientation), 0, 0, 0, 0, 0, 0, 0]
    }
}

extension RandomPicture: CustomStringConvertible {
    package var description: String {
        let words = [
            "\(width)x\(height)", format.rawValue, isDeep ? "16 bits" : "8 bits", isGray ? "gray" : "colours",
            "alpha \(alpha)", "profile \(profile)", "orientation \(orientation)", isFlat ? "flat" : nil,
        ]
        return words.compactMap(\.self).joined(separator: ", ")
    }
}
