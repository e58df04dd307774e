/// A curve of codes through points, monotone between them where they are.
///
/// Cubic pieces whose slopes keep the order of the points (Fritsch and Carlson, "Monotone Piecewise Cubic Interpolation", SIAM J.
/// Numer. Anal. 1980); beyond the first and last point it stays at their height.
package struct ToneCurve: Codable, Hashable, Sendable {
    package struct Point: Codable, Hashable, Sendable {
        package var x: Double
        package var y: Double

        package init(_ x: Double, _ y: Double) {
            self.x = x
            self.y = y
        }
    }

    /// Two or more, by rising x.
    package let points: [Point]

    /// - Parameter points: Both coordinates 0 ... 1; nil is returned for fewer than two or where x does not rise.
    package init?(_ points: [Point]) {
        guard points.count >= 2, zip(points, points.dropFirst()).allSatisfy({ $0.x < $1.x }),
            points.allSatisfy({ (0...1).contains($0.x) && (0...1).contains($0.y) })
        else { return nil }
        self.points = points
    }

    /// Every code from 0 to 1 stays what it is.
    var changesNothing: Bool {
        points[0].x == 0 && points[points.count - 1].x == 1 && points.allSatisfy { $0.x == $0.y }
    }

    /// A function that may be called often.
    package var function: @Sendable (Double) -> Double {
        let points = points
        let slopes = Self.slopes(points)
        return { x in
            guard let last = points.last, x > points[0].x else { return points[0].y }
            guard x < last.x else { return last.y }
            let i = (points.firstIndex { $0.x > x } ?? 1) - 1
            let (from, to) = (points[i], points[i + 1])
            let width = to.x - from.x
            let t = (x - from.x) / width
            let (t2, t3) = (t * t, t * t * t)
            let ends = (2 * t3 - 3 * t2 + 1) * from.y + (3 * t2 - 2 * t3) * to.y
            return ends + width * ((t3 - 2 * t2 + t) * slopes[i] + (t3 - t2) * slopes[i + 1])
        }
    }

    private static func slopes(_ points: [Point]) -> [Double] {
        let rises = zip(points, points.dropFirst()).map { ($1.y - $0.y) / ($1.x - $0.x) }
        var slopes = points.indices.map { i -> Double in
            if i == 0 { return rises[0] }
            if i == points.count - 1 { return rises[i - 1] }
            return rises[i - 1] * rises[i] <= 0 ? 0 : (rises[i - 1] + rises[i]) / 2
        }
        for (i, rise) in rises.enumerated() {
            guard rise != 0 else {
                (slopes[i], slopes[i + 1]) = (0, 0)
                continue
            }
            let (a, b) = (slopes[i] / rise, slopes[i + 1] / rise)
            let length = a * a + b * b
            guard length > 9 else { continue }
            let factor = 3 / length.squareRoot()
            slopes[i] = factor * a * rise
            slopes[i + 1] = factor * b * rise
        }
        return slopes
    }
}
