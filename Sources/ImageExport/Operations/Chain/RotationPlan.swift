import Glibc
import Kernels

/// A turn of a picture about its middle by a small angle; see `Kernels/Image/rotate.cl`.
package struct RotationPlan: Sendable {
    /// `[steps + 1][8]`, as the kernel has them.
    package let weights: [Float]
    let params: bg_rotate_params
    /// Rows on each side of one that it reads.
    package let reach: Int

    /// - Parameters:
    ///   - degrees: Clockwise, -45 ... 45.
    ///   - width: Pixels in a row.
    ///   - height: Rows of the whole picture.
    package init(degrees: Double, width: Int, height: Int) {
        let angle = degrees * .pi / 180
        params = bg_rotate_params(
            cosine: Int64((cos(angle) * 0x1p31).rounded()), sine: Int64((sin(angle) * 0x1p31).rounded()))
        let turned = abs(sin(angle)) * Double(width) / 2 + (1 - cos(angle)) * Double(height) / 2
        reach = Int(turned.rounded(.up)) + 4
        weights = (0...Int(BG_ROTATE_STEPS)).flatMap { step -> [Float] in
            let rest = Double(step) / Double(BG_ROTATE_STEPS)
            let taps = (-2...3).map { lanczos3(rest - Double($0)) }
            let sum = taps.reduce(0, +)
            return taps.map { Float($0 / sum) } + [0, 0]
        }
    }

    /// The largest part of a picture's middle that has its shape and shows no corner of the turned picture; its edges are edges
    /// of pixels.
    static func inner(degrees: Double, width: Double, height: Double) -> Crop.Part {
        let angle = abs(degrees) * .pi / 180
        let across = width * cos(angle) + height * sin(angle)
        let down = width * sin(angle) + height * cos(angle)
        let scale = min(width / across, height / down)
        func span(_ length: Double) -> (start: Double, length: Double) {
            let start = min(((1 - scale) * length / 2).rounded(.up), ((length - 1) / 2).rounded(.down))
            return (start, length - 2 * start)
        }
        let (columns, rows) = (span(width), span(height))
        return Crop.Part(x: columns.start, y: rows.start, width: columns.length, height: rows.length)
    }
}
