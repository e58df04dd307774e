import Foundation
import ImageCodecs
import SamplePhotos
import Testing

/// Colour difference CIEDE2000 (Sharma, Wu, Dalal 2005) of two sRGB colours with channels 0 ... 1, under D65.
func deltaE2000(_ first: [Double], _ second: [Double]) -> Double {
    let (a, b) = (lab(first), lab(second))
    let chroma = [hypot(a[1], a[2]), hypot(b[1], b[2])]
    let mean7 = pow((chroma[0] + chroma[1]) / 2, 7)
    let g = 0.5 * (1 - (mean7 / (mean7 + pow(25, 7))).squareRoot())
    let (a1, a2) = ((1 + g) * a[1], (1 + g) * b[1])
    let (c1, c2) = (hypot(a1, a[2]), hypot(a2, b[2]))
    func hue(_ x: Double, _ y: Double) -> Double {
        x == 0 && y == 0 ? 0 : (atan2(y, x) * 180 / .pi + 360).truncatingRemainder(dividingBy: 360)
    }
    let (h1, h2) = (hue(a1, a[2]), hue(a2, b[2]))
    let lightness = b[0] - a[0]
    var turn = h2 - h1
    if c1 * c2 == 0 { turn = 0 } else if turn > 180 { turn -= 360 } else if turn < -180 { turn += 360 }
    let hueDifference = 2 * (c1 * c2).squareRoot() * sin(turn / 2 * .pi / 180)
    let meanL = (a[0] + b[0]) / 2
    let meanC = (c1 + c2) / 2
    var meanH = h1 + h2
    if c1 * c2 != 0 {
        meanH = abs(h1 - h2) <= 180 ? meanH / 2 : meanH < 360 ? (meanH + 360) / 2 : (meanH - 360) / 2
    }
    func cosine(_ degrees: Double) -> Double { cos(degrees * .pi / 180) }
    let t =
        1 - 0.17 * cosine(meanH - 30) + 0.24 * cosine(2 * meanH) + 0.32 * cosine(3 * meanH + 6)
        - 0.20 * cosine(4 * meanH - 63)
    let bow = pow(meanL - 50, 2)
    let sl = 1 + 0.015 * bow / (20 + bow).squareRoot()
    let sc = 1 + 0.045 * meanC
    let sh = 1 + 0.015 * meanC * t
    let c7 = pow(meanC, 7)
    let rotation =
        -2 * (c7 / (c7 + pow(25, 7))).squareRoot() * sin(60 * exp(-pow((meanH - 275) / 25, 2)) * .pi / 180)
    let (l, c, h) = (lightness / sl, (c2 - c1) / sc, hueDifference / sh)
    return (l * l + c * c + h * h + rotation * c * h).squareRoot()
}

private func lab(_ rgb: [Double]) -> [Double] {
    let light = rgb.map { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
    let rows = [
        [0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041],
    ]
    let white = [0.95047, 1, 1.08883]
    let f = zip(rows, white).map { row, w in
        let t = (row[0] * light[0] + row[1] * light[1] + row[2] * light[2]) / w
        return t > 216 / 24389 ? cbrt(t) : (24389 / 27 * t + 16) / 116
    }
    return [116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])]
}

@Suite struct ColorAccuracyTests {
    @Test func theColourDifferenceAgreesWithItsPublishedScale() {
        #expect(deltaE2000([0.5, 0.5, 0.5], [0.5, 0.5, 0.5]) == 0)
        // Black and white are 100 apart.
        #expect(abs(deltaE2000([0, 0, 0], [1, 1, 1]) - 100) < 0.01)
        // Pure red and green, a value that other implementations agree on.
        #expect(abs(deltaE2000([1, 0, 0], [0, 1, 0]) - 86.6) < 0.1)
    }

    @Test(arguments: [CameraProfile.displayP3, .adobeRGB])
    func conversionToSRGBStaysWithinOneDeltaEOfFloat(_ profile: CameraProfile) throws {
        let steps = 33
        var codes: [UInt8] = []
        for i in 0..<steps * steps * steps {
            for step in [i / steps / steps, i / steps % steps, i % steps] {
                codes.append(UInt8((step * 255 + 16) / 32))
            }
            codes.append(255)
        }
        let count = codes.count / 4
        var small = codes
        try small.withUnsafeMutableBytes { bytes in
            let base = try #require(bytes.baseAddress)
            try ColorTransform(from: profile.data(), layout: .rgbx8, to: .sRGB)
                .apply(to: base, strideBytes: count * 4, width: count, count: 1)
        }
        var wide = codes.map { Float($0) / 255 }
        try wide.withUnsafeMutableBytes { bytes in
            let base = try #require(bytes.baseAddress)
            try ColorTransform(from: profile.data(), layout: .rgbaF32, to: .sRGB)
                .apply(to: base, strideBytes: count * 16, width: count, count: 1)
        }
        var worst = 0.0
        var changed = 0
        for i in 0..<count {
            let made = (0..<3).map { Double(small[4 * i + $0]) / 255 }
            let exact = (0..<3).map { Double(min(max(wide[4 * i + $0], 0), 1)) }
            worst = max(worst, deltaE2000(made, exact))
            if small[4 * i..<4 * i + 3] != codes[4 * i..<4 * i + 3] { changed += 1 }
        }
        #expect(worst <= 1, "\(worst)")
        #expect(changed > count / 2, "the profile makes a difference")
    }
}
