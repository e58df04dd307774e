import Foundation

/// A convex shape that covers one interval of each pixel row: an ellipse or a rectangle, turned by an angle.
struct Shape {
    enum Outline { case ellipse, rectangle }

    let outline: Outline
    /// Centre in pixels.
    let x: Float
    let y: Float
    /// Half the size along and across the turned axis.
    let halfLength: Float
    let halfWidth: Float
    let surface: Surface
    /// Change of brightness from the left end of a row to its right end.
    let shading: Float
    private let cosine: Float
    private let sine: Float

    init(
        _ outline: Outline, x: Float, y: Float, halfLength: Float, halfWidth: Float, angle: Float = 0,
        surface: Surface, shading: Float = 0
    ) {
        self.outline = outline
        self.x = x
        self.y = y
        self.halfLength = max(halfLength, 0.3)
        self.halfWidth = max(halfWidth, 0.3)
        self.surface = surface
        self.shading = shading
        self.cosine = cos(angle)
        self.sine = sin(angle)
    }

    /// Pixel rows that may be touched.
    var rows: Range<Int> {
        let reach =
            switch outline {
            case .ellipse:
                (halfLength * halfLength * sine * sine + halfWidth * halfWidth * cosine * cosine).squareRoot()
            case .rectangle: halfLength * abs(sine) + halfWidth * abs(cosine)
            }
        return Int((y - reach).rounded(.down))..<(Int((y + reach).rounded(.up)) + 1)
    }

    /// The interval covered on the line at height `line`; nil where the shape has none.
    func span(at line: Float) -> (from: Float, to: Float)? {
        let dy = line - y
        switch outline {
        case .ellipse:
            let (a, b) = (1 / (halfLength * halfLength), 1 / (halfWidth * halfWidth))
            let p = a * cosine * cosine + b * sine * sine
            let q = (a - b) * cosine * sine * dy
            let r = (a * sine * sine + b * cosine * cosine) * dy * dy - 1
            let discriminant = q * q - p * r
            guard discriminant > 0 else { return nil }
            let root = discriminant.squareRoot()
            return (x + (-q - root) / p, x + (-q + root) / p)
        case .rectangle:
            let along = Self.slab(cosine, sine * dy, halfLength)
            let across = Self.slab(-sine, cosine * dy, halfWidth)
            let (from, to) = (max(along.from, across.from), min(along.to, across.to))
            return from < to ? (x + from, x + to) : nil
        }
    }

    /// The values of t with |slope t + offset| <= half.
    private static func slab(_ slope: Float, _ offset: Float, _ half: Float) -> (from: Float, to: Float) {
        guard abs(slope) > 1e-5 else {
            return abs(offset) <= half ? (-.infinity, .infinity) : (.infinity, -.infinity)
        }
        let (a, b) = ((-half - offset) / slope, (half - offset) / slope)
        return (min(a, b), max(a, b))
    }
}

/// What light does on a surface: its colour (0 ... 1, display values) and how strongly it shows texture.
struct Surface {
    var red: Float
    var green: Float
    var blue: Float
    /// Contrast of structures larger than 16 pixels.
    var coarse: Float
    /// Contrast of structures of 2 to 16 pixels.
    var fine: Float

    func lit(_ gain: Float) -> Surface {
        Surface(red: red * gain, green: green * gain, blue: blue * gain, coarse: coarse, fine: fine)
    }
}
