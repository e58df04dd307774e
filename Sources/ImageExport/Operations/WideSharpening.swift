package import ChunkedCompute

/// Sharpening of pictures with alpha or 16 bits a channel, in plain float on the calling thread.
///
/// The definition of `Kernels/Image/sharpen.cl`, with the blur weighted by alpha so that colours hidden under clear parts have no
/// say; alpha itself stays. Such pictures are rare, so there is no device form.
package enum WideSharpening {
    /// Sharpens the rows that `output` has room for.
    ///
    /// - Parameters:
    ///   - type: The sample type of RGBA rows.
    ///   - plan: The sharpening.
    ///   - source: The rows and ``SharpenPlan/radius`` more on each side, as far as the picture has them.
    ///   - output: Where the rows go.
    ///   - scratch: Working memory, kept by the caller.
    package static func apply<Sample: FixedWidthInteger & UnsignedInteger>(
        _ type: Sample.Type, _ plan: SharpenPlan, source: RowBand, output: RowBand, scratch: Scratch
    ) {
        let (width, radius) = (plan.width, plan.radius)
        let padded = width + 2 * radius
        let weights = plan.weights.dropLast().map { Float($0) / 16384 }
        let amount = Float(plan.amount) / 256
        let highest = Float(Sample.max)
        func row(_ band: RowBand, _ y: Int) -> UnsafeMutablePointer<Sample> {
            band.pointer(row: y).assumingMemoryBound(to: type)
        }
        func luma(_ pixel: UnsafeMutablePointer<Sample>) -> Float {
            (77 * Float(pixel[0]) + 150 * Float(pixel[1]) + 29 * Float(pixel[2])) / 256
        }
        // Vertical sums of alpha-weighted luma and of alpha, widened at both ends for the horizontal pass.
        let lines = scratch.elements(Float.self, 2 * padded)
        let (weighted, alphas) = (lines, lines + padded)
        for y in output.firstRow..<output.firstRow + output.rowCount {
            lines.update(repeating: 0, count: 2 * padded)
            for k in -radius...radius {
                let from = row(source, min(max(y + k, 0), plan.height - 1))
                let weight = weights[k + radius] / highest
                for x in 0..<width {
                    let alpha = weight * Float(from[4 * x + 3])
                    weighted[radius + x] += alpha * luma(from + 4 * x)
                    alphas[radius + x] += alpha
                }
            }
            for x in 0..<radius {
                for line in [weighted, alphas] {
                    line[x] = line[radius]
                    line[radius + width + x] = line[radius + width - 1]
                }
            }
            let from = row(source, y)
            let to = row(output, y)
            for x in 0..<width {
                var (sum, alpha): (Float, Float) = (0, 0)
                for k in 0...2 * radius {
                    sum += weights[k] * weighted[x + k]
                    alpha += weights[k] * alphas[x + k]
                }
                let d = alpha > 0 ? amount * (luma(from + 4 * x) - sum / alpha) : 0
                for c in 0..<3 {
                    to[4 * x + c] = Sample(min(max(Float(from[4 * x + c]) + d, 0), highest) + 0.5)
                }
                to[4 * x + 3] = from[4 * x + 3]
            }
        }
    }
}
