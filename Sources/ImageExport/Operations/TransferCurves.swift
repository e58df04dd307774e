import Glibc

/// Tables between codes and the values that a resize averages: linear light, or the codes themselves.
package final class TransferCurves: Sendable {
    /// For 8-bit integer light: code to Q14 light, `[3][256][4]`; each channel's table sets its own sample of four.
    package let decodeLight: [Int16]
    /// Q14 light to 8-bit code, `[3][16385]`.
    package let encodeLight: [UInt8]
    /// For float: 16-bit code to value, `[channels][65536]`.
    package let decodeFloat: [Float]
    /// Square root of a value times 65536 to code 0 ... 65535, `[channels][65538]`.
    package let encodeFloat: [Float]
    /// 1 when R, G and B share one float table, else 3.
    package let floatChannels: Int

    /// Codes averaged as they are, for ``ResizeArithmetic/float``.
    package static let identity = TransferCurves(float: true, channels: [Curve(decode: { $0 }, encode: { $0 })])
    /// The sRGB transfer function (IEC 61966-2-1), which Display P3 shares.
    package static let srgbInteger = TransferCurves(float: false, channels: [.srgb])
    package static let srgbFloat = TransferCurves(float: true, channels: [.srgb])

    /// Tables for colours in sRGB or Display P3; nil for plain 8-bit codes.
    static func srgb(for arithmetic: ResizeArithmetic, linear: Bool) -> TransferCurves? {
        switch arithmetic {
        case .codes: nil
        case .light: .srgbInteger
        case .float: linear ? .srgbFloat : .identity
        }
    }

    package struct Curve {
        /// Code 0 ... 1 to light 0 ... 1, monotonic.
        package var decode: (Double) -> Double
        package var encode: (Double) -> Double

        package init(decode: @escaping (Double) -> Double, encode: @escaping (Double) -> Double) {
            self.decode = decode
            self.encode = encode
        }

        package static var srgb: Curve { Curve(decode: srgbToLight, encode: lightToSRGB) }

        /// From samples of the decoding curve at equal steps of the code; the inverse is found by bisection. What a profile
        /// says beyond 0 to 1 is cut off.
        package init(samples: [Float]) {
            let samples = samples.map { $0 > 0 ? min($0, 1) : 0 }
            let last = Double(samples.count - 1)
            func value(_ code: Double) -> Double {
                let at = min(max(code, 0), 1) * last
                let i = min(Int(at), samples.count - 2)
                return Double(samples[i]) + (Double(samples[i + 1]) - Double(samples[i])) * (at - Double(i))
            }
            decode = value
            encode = { light in
                var low = 0.0
                var high = 1.0
                for _ in 0..<24 {
                    let middle = (low + high) / 2
                    if value(middle) < light { low = middle } else { high = middle }
                }
                return (low + high) / 2
            }
        }
    }

    /// - Parameters:
    ///   - float: The tables of float arithmetic, else those of 8-bit integer light.
    ///   - channels: One curve for all of R, G and B, or three.
    package init(float: Bool, channels: [Curve]) {
        precondition(channels.count == 1 || channels.count == 3, "one curve or three")
        floatChannels = channels.count
        guard float else {
            let decode = channels.map { curve in
                (0..<256).map { Int16((curve.decode(Double($0) / 255) * 16384).rounded()) }
            }
            let encode = channels.map { curve in
                (0...16384).map { UInt8((min(max(curve.encode(Double($0) / 16384), 0), 1) * 255).rounded()) }
            }
            decodeLight = (0..<3).flatMap { channel in
                decode[channel % decode.count].flatMap { light in
                    (0..<4).map { $0 == channel ? light : 0 }
                }
            }
            encodeLight = (0..<3).flatMap { encode[$0 % encode.count] }
            decodeFloat = []
            encodeFloat = []
            return
        }
        decodeLight = []
        encodeLight = []
        decodeFloat = channels.flatMap { curve in (0..<65536).map { Float(curve.decode(Double($0) / 65535)) } }
        encodeFloat = channels.flatMap { curve in
            (0..<65538).map { i in
                let root = min(Double(i) / 65536, 1)
                return Float(curve.encode(root * root) * 65535)
            }
        }
    }
}

package func srgbToLight(_ code: Double) -> Double {
    code <= 0.04045 ? code / 12.92 : pow((code + 0.055) / 1.055, 2.4)
}

package func lightToSRGB(_ light: Double) -> Double {
    light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
}
