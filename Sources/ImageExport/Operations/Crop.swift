/// The part of the upright picture that is exported.
package enum Crop: Codable, Hashable, Sendable {
    /// Pixels of the input; what lies outside of it is left out.
    case box(width: Int, height: Int, x: Int, y: Int)
    /// The largest part of that shape, from the middle.
    case aspect(width: Double, height: Double)

    /// A part of a picture, in its pixels.
    struct Part: Equatable {
        var x = 0.0
        var y = 0.0
        var width: Double
        var height: Double
    }

    /// The part of a picture of that size; nil where nothing of it is left.
    func part(width: Double, height: Double) -> Part? {
        switch self {
        case .box(let w, let h, let x, let y):
            let end = (x: min(width, Double(x + w)), y: min(height, Double(y + h)))
            guard end.x > Double(x), end.y > Double(y) else { return nil }
            return Part(x: Double(x), y: Double(y), width: end.x - Double(x), height: end.y - Double(y))
        case .aspect(let w, let h):
            let scale = min(width / w, height / h)
            let (across, down) = (max(1, (w * scale).rounded()), max(1, (h * scale).rounded()))
            return Part(
                x: ((width - across) / 2).rounded(.down), y: ((height - down) / 2).rounded(.down), width: across,
                height: down)
        }
    }
}

/// A frame of one colour around the finished output, whose size grows by it.
package struct Border: Codable, Hashable, Sendable {
    /// Pixels on each side.
    package var pixels: Int
    /// 8-bit R, G, B.
    package var color: [UInt8]

    package init(pixels: Int, color: [UInt8]) {
        self.pixels = pixels
        self.color = color
    }
}
