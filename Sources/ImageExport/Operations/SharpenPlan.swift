import Glibc

/// Weights of one sharpening, shared by every band; see `Kernels/Image/sharpen.cl` for the formula.
package final class SharpenPlan: Sendable {
    package let width: Int
    package let height: Int
    package let radius: Int
    /// Q8.
    package let amount: Int32
    /// Q14, `2 * radius + 1` of them and one 0.
    package let weights: [Int16]
    package var lumaStride: Int { width + 2 * radius + 18 }

    package static let maximumSigma = 3.0

    package init(width: Int, height: Int, _ sharpening: Sharpening) {
        self.width = width
        self.height = height
        let sigma = min(max(sharpening.sigma, 0.3), Self.maximumSigma)
        radius = max(1, Int((3 * sigma).rounded(.up)))
        amount = Int32((sharpening.amount * 256).rounded())
        let bell = (-radius...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = bell.reduce(0, +)
        var quantised = bell.map { Int(($0 / sum * 16384).rounded()) }
        quantised[radius] += 16384 - quantised.reduce(0, +)
        weights = quantised.map { Int16($0) } + [0]
    }
}
