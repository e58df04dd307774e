/// Plain conversions between row layouts.
package enum PixelConversion {
    /// 8-bit samples to 16-bit: 255 becomes 65535.
    package static func widen(
        _ from: UnsafePointer<UInt8>, to: UnsafeMutablePointer<UInt16>, sampleCount: Int
    ) {
        for i in 0..<sampleCount { to[i] = UInt16(from[i]) &* 257 }
    }

    /// Lays pixels of 16-bit R, G, B and alpha over a colour, on gamma-coded values as other programs do it.
    static func flatten(_ samples: UnsafeMutablePointer<UInt16>, pixelCount: Int, over color: [UInt16]) {
        for pixel in 0..<pixelCount {
            let place = samples + 4 * pixel
            let alpha = UInt64(place[3])
            for channel in 0..<3 {
                let sum = UInt64(place[channel]) * alpha + UInt64(color[channel]) * (65535 - alpha)
                place[channel] = UInt16(truncatingIfNeeded: (sum + 32767) / 65535)
            }
            place[3] = 65535
        }
    }

    /// Float samples to 16-bit; what lies outside 0 ... 1, or is not a number, is clipped.
    package static func quantise(
        _ from: UnsafePointer<Float>, to: UnsafeMutablePointer<UInt16>, sampleCount: Int
    ) {
        for i in 0..<sampleCount {
            let v = from[i]
            to[i] = v > 0 ? UInt16(min(v, 1) * 65535 + 0.5) : 0
        }
    }

    /// 16-bit samples to 8-bit, rounded to the nearest; in place is allowed.
    package static func narrow(
        _ from: UnsafePointer<UInt16>, to: UnsafeMutablePointer<UInt8>, sampleCount: Int
    ) {
        for i in 0..<sampleCount { to[i] = narrow(from[i]) }
    }

    @inline(__always) static func narrow(_ code: UInt16) -> UInt8 {
        UInt8(truncatingIfNeeded: (UInt32(code) &* 255 &+ 32895) >> 16)
    }
}
