import ImageCodecs
import SeededNumbers
import Testing

/// A picture whole in memory, rows without gaps.
struct Picture: Equatable {
    var width: Int
    var height: Int
    var layout: PixelLayout
    var bytes: [UInt8]

    init(width: Int, height: Int, layout: PixelLayout, bytes: [UInt8]) {
        self.width = width
        self.height = height
        self.layout = layout
        self.bytes = bytes
    }

    /// Smooth gradients with some texture, so that lossy formats have something to lose.
    static func sample(width: Int, height: Int, layout: PixelLayout = .rgbx8, isGray: Bool = false) -> Picture {
        var random = SeededGenerator(seed: 7)
        var values: [UInt16] = []
        for y in 0..<height {
            for x in 0..<width {
                let texture = Int(random.next() & 0x3FF)
                let red = x * 60_000 / max(width, 2) + texture
                let green = isGray ? red : y * 60_000 / max(height, 2) + texture
                let blue = isGray ? red : (x + y) * 60_000 / (width + height) + texture
                let alpha = (x / 3 + y / 5) % 3 == 0 ? 65_535 : (x * 257 + y * 31) % 65_536
                values += [UInt16(red), UInt16(green), UInt16(blue), UInt16(alpha)]
            }
        }
        return Picture(width: width, height: height, layout: layout, bytes: bytes(of: values, as: layout))
    }

    private static func bytes(of values: [UInt16], as layout: PixelLayout) -> [UInt8] {
        switch layout {
        case .rgbx8: values.enumerated().map { $0.offset % 4 == 3 ? 255 : UInt8($0.element >> 8) }
        case .rgba8, .cmyk8: values.map { UInt8($0 >> 8) }
        case .rgba16: values.withUnsafeBytes { Array($0) }
        case .rgbaF32: values.map { Float($0) / 65_535 }.withUnsafeBytes { Array($0) }
        }
    }

    /// Mean absolute difference of the bytes.
    func meanDifference(to other: Picture) -> Double {
        let sum = zip(bytes, other.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        return Double(sum) / Double(max(bytes.count, 1))
    }

    func pixel(_ x: Int, _ y: Int) -> [UInt8] {
        let start = (y * width + x) * layout.bytesPerPixel
        return Array(bytes[start..<start + layout.bytesPerPixel])
    }
}
