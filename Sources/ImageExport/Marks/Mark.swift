import ImageCodecs

/// A small picture that is put onto an output: 16-bit R, G, B and straight alpha.
struct Mark {
    /// Left edge and top edge in the upright output.
    var x: Int
    var y: Int
    var width: Int
    var height: Int
    /// `4 * width * height` samples, row-major.
    var samples: [UInt16]

    static func margin(_ output: (width: Int, height: Int)) -> Int { min(output.width, output.height) / 50 }

    /// Makes it weaker.
    mutating func fade(to opacity: Double) {
        let factor = UInt32((min(max(opacity, 0), 1) * 65535).rounded())
        for place in stride(from: 3, to: samples.count, by: 4) {
            samples[place] = UInt16((UInt32(samples[place]) * factor + 32767) / 65535)
        }
    }

    /// Puts the part of it that lies on a row of the output onto that row: the "over" of Porter and Duff (1984), on
    /// gamma-coded values as other programs do it, in whole numbers, so that it is the same everywhere.
    ///
    /// - Parameters:
    ///   - row: Pixels of the whole row, in `layout`.
    ///   - number: Which row of the output.
    ///   - layout: `rgbx8`, `rgba8` or `rgba16`.
    ///   - outputWidth: Pixels in the row.
    func draw(onto row: UnsafeMutableRawPointer, number: Int, layout: PixelLayout, outputWidth: Int) {
        guard number >= y, number < y + height else { return }
        let count = min(width, outputWidth - x)
        let first = (number - y) * width * 4
        samples.withUnsafeBufferPointer { samples in
            let mark = UnsafeBufferPointer(rebasing: samples[first..<first + 4 * width])
            if layout == .rgba16 {
                let pixels = row.assumingMemoryBound(to: UInt16.self) + 4 * x
                for i in 0..<count { Self.blend(mark, i, pixels + 4 * i, unit: 1, hasAlpha: true) }
            } else {
                let pixels = row.assumingMemoryBound(to: UInt8.self) + 4 * x
                for i in 0..<count { Self.blend(mark, i, pixels + 4 * i, unit: 257, hasAlpha: layout == .rgba8) }
            }
        }
    }

    /// `unit` is what one level of the pixel is in levels of 65535.
    private static func blend<Sample: FixedWidthInteger & UnsignedInteger>(
        _ mark: UnsafeBufferPointer<UInt16>, _ place: Int, _ pixel: UnsafeMutablePointer<Sample>, unit: UInt64,
        hasAlpha: Bool
    ) {
        let alpha = UInt64(mark[4 * place + 3])
        guard alpha > 0 else { return }
        let under = hasAlpha ? UInt64(pixel[3]) * unit : 65535
        // Both weights in parts of 65535 squared.
        let (top, bottom) = (alpha * 65535, under * (65535 - alpha))
        let total = top + bottom
        for channel in 0..<3 {
            let sum = UInt64(mark[4 * place + channel]) * top + UInt64(pixel[channel]) * unit * bottom
            pixel[channel] = Sample(truncatingIfNeeded: (sum + total * unit / 2) / (total * unit))
        }
        if hasAlpha { pixel[3] = Sample(truncatingIfNeeded: (total + 65535 * unit / 2) / (65535 * unit)) }
    }
}

extension Mark {
    /// Puts a mark of a size into its place, away from the edges by a fiftieth of the output's shorter side.
    init(width: Int, height: Int, samples: [UInt16], at place: Placement, on output: (width: Int, height: Int)) {
        let margin = Self.margin(output)
        func start(_ free: Int, _ fraction: Double) -> Int {
            let inner = Double(max(0, free - 2 * margin))
            return max(0, min(free, margin) + Int((inner * fraction).rounded()))
        }
        x = start(output.width - width, place.x)
        y = start(output.height - height, place.y)
        self.width = width
        self.height = height
        self.samples = samples
    }
}
