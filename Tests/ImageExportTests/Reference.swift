import Foundation
import ImageExport
import SeededNumbers

/// Plain float64 arithmetic that the kernels are compared with.
enum Reference {
    /// Separable Lanczos-3 of RGB(A) samples, `channels` interleaved.
    static func resize(
        _ source: [Double], width: Int, height: Int, channels: Int, columns: Resampling, rows: Resampling
    ) -> [Double] {
        var middle = [Double](repeating: 0, count: rows.outputLength * width * channels)
        for y in 0..<rows.outputLength {
            for k in 0..<rows.taps {
                let weight = rows.weights[y * rows.taps + k]
                guard weight != 0 else { continue }
                let from = (rows.starts[y] + k) * width * channels
                for i in 0..<width * channels { middle[y * width * channels + i] += weight * source[from + i] }
            }
        }
        var out = [Double](repeating: 0, count: rows.outputLength * columns.outputLength * channels)
        for y in 0..<rows.outputLength {
            for x in 0..<columns.outputLength {
                for k in 0..<columns.taps {
                    let weight = columns.weights[x * columns.taps + k]
                    guard weight != 0 else { continue }
                    let from = (y * width + columns.starts[x] + k) * channels
                    for c in 0..<channels {
                        out[(y * columns.outputLength + x) * channels + c] += weight * middle[from + c]
                    }
                }
            }
        }
        return out
    }

    /// Unsharp mask on luma as `Kernels/Image/sharpen.cl` defines it, without any rounding before the end.
    static func sharpen(_ source: [Double], width: Int, height: Int, amount: Double, sigma: Double) -> [Double] {
        let radius = max(1, Int((3 * sigma).rounded(.up)))
        let bell = (-radius...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = bell.reduce(0, +)
        let luma = (0..<width * height).map { i -> Double in
            let red = 77 * source[4 * i]
            let green = 150 * source[4 * i + 1]
            return (red + green + 29 * source[4 * i + 2]) / 256
        }
        func blur(_ plane: [Double], dx: Int, dy: Int) -> [Double] {
            (0..<width * height).map { i -> Double in
                let (x, y) = (i % width, i / width)
                var total = 0.0
                for k in -radius...radius {
                    let row = min(max(y + k * dy, 0), height - 1)
                    let column = min(max(x + k * dx, 0), width - 1)
                    total += bell[k + radius] / sum * plane[row * width + column]
                }
                return total
            }
        }
        let blurred = blur(blur(luma, dx: 0, dy: 1), dx: 1, dy: 0)
        var out = source
        for i in 0..<width * height {
            let d = amount * (luma[i] - blurred[i])
            for c in 0..<3 { out[4 * i + c] = min(max(source[4 * i + c] + d, 0), 255) }
        }
        return out
    }
}

/// Peak signal-to-noise ratio in decibels and the largest difference, over R, G and B of 4-sample pixels.
func compare(_ a: [Double], _ b: [Double], peak: Double, channels: Int = 3) -> (psnr: Double, worst: Double) {
    var sum = 0.0
    var worst = 0.0
    var count = 0
    for i in a.indices where i % 4 < channels {
        let d = a[i] - b[i]
        sum += d * d
        worst = max(worst, abs(d))
        count += 1
    }
    return (sum == 0 ? .infinity : 10 * log10(peak * peak * Double(count) / sum), worst)
}

/// A detailed test picture: gradients, edges and noise.
func testPicture(width: Int, height: Int, seed: UInt64 = 1) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    var out = [UInt8](repeating: 255, count: width * height * 4)
    for y in 0..<height {
        for x in 0..<width {
            let noise = Int.random(in: -12...12, using: &random)
            let wave = Int(60 * sin(Double(x * x + y * y) / 900))
            let edge = (x / 23 + y / 17) % 2 == 0 ? 50 : -30
            for c in 0..<3 {
                let ramp = c == 0 ? x * 150 / width : y * 150 / height
                let base = 40 + ramp
                out[(y * width + x) * 4 + c] = UInt8(min(max(base + wave + edge + noise, 0), 255))
            }
        }
    }
    return out
}
