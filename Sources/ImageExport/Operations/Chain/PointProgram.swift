import Glibc
import Kernels

/// A row of operations on single pixels as one pass; see `Kernels/Image/points.cl`.
package struct PointProgram: Sendable {
    package let segments: Int
    /// As the kernels read it; one unused value where there is no segment.
    package let values: [Float]

    package var isEmpty: Bool { segments == 0 }

    private typealias Curve = @Sendable (Double) -> Double

    /// - Parameter operations: Those among them that look around, and grain, have no part here.
    package init(_ operations: [ImageOperation] = []) {
        var values: [Float] = []
        var segments = 0
        // What the next segment does, so far.
        var curves: [[Curve]] = []
        var factor: Double?
        func close() {
            guard !curves.isEmpty || factor != nil else { return }
            segments += 1
            let header: [Float] = [curves.isEmpty ? 0 : 1, Float(factor ?? 1)]
            values += header + [Float](repeating: 0, count: Int(BG_POINT_HEADER) - header.count)
            for channel in 0..<3 {
                values += (0..<Int(BG_POINT_TABLE)).map { i in
                    let code = min(Double(i) / Double(BG_POINT_STEPS), 2)
                    return Float(curves.reduce(code) { $1[channel]($0) })
                }
            }
            (curves, factor) = ([], nil)
        }
        for operation in operations {
            if case .saturation(let added) = operation {
                factor = (factor ?? 1) * (1 + added)
            } else if let next = Self.curves(of: operation) {
                if factor != nil { close() }
                curves.append(next)
            }
        }
        close()
        self.segments = segments
        self.values = values.isEmpty ? [0] : values
    }

    /// For R, G and B; nil for what is no curve of single channels.
    private static func curves(of operation: ImageOperation) -> [Curve]? {
        switch operation {
        case .exposure(let stops):
            return [Curve](repeating: gain(exp2(stops)), count: 3)
        case .whiteBalance(let balance):
            return balance.gains.map(gain)
        case .contrast(let amount):
            return [Curve](repeating: { contrasted($0, by: amount) }, count: 3)
        case .curve(let curve):
            return [Curve](repeating: curve.function, count: 3)
        case .saturation, .denoise, .localContrast, .deconvolve, .grain:
            return nil
        }
    }

    private static func gain(_ factor: Double) -> Curve {
        { code in lightToSRGB(srgbToLight(code) * factor) }
    }

    /// A share of the way from a code to the smooth step `3 c^2 - 2 c^3`, or away from it; codes above 1 stay.
    package static func contrasted(_ code: Double, by amount: Double) -> Double {
        guard code < 1 else { return code }
        return code + amount * (code * code * (3 - 2 * code) - code)
    }
}
