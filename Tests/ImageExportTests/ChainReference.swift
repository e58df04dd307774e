import Foundation
import ImageExport

/// Operations of a chain in plain float64, on codes of 0 ... 1 as RGBA. What looks around sees visible pixels only, those whose alpha
/// is above 0.
struct ChainReference {
    let width: Int
    let height: Int
    var pixels: [Double]

    private func at(_ x: Int, _ y: Int) -> Int {
        (min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)) * 4
    }

    private func luma(_ i: Int) -> Double { (0..<3).reduce(0) { $0 + lumaWeights[$1] * pixels[i + $1] } }

    private var lumaPlane: [Double] { (0..<width * height).map { luma(4 * $0) } }

    private func isVisible(_ i: Int) -> Bool { pixels[i + 3] > 0 }

    private mutating func add(_ d: Double, to i: Int) {
        for c in 0..<3 { pixels[i + c] += d }
    }

    mutating func apply(_ operation: ImageOperation, content: UInt32 = 0) {
        switch operation {
        case .exposure(let stops): eachSample { lightToSRGB(srgbToLight($0) * exp2(stops)) }
        case .contrast(let amount): eachSample { PointProgram.contrasted($0, by: amount) }
        case .curve(let curve): eachSample(curve.function)
        case .whiteBalance(let balance):
            for i in pixels.indices where i % 4 < 3 {
                pixels[i] = lightToSRGB(srgbToLight(min(max(pixels[i], 0), 2)) * balance.gains[i % 4])
            }
        case .saturation(let added):
            for i in stride(from: 0, to: pixels.count, by: 4) {
                let y = luma(i)
                for c in 0..<3 { pixels[i + c] = y + (1 + added) * (pixels[i + c] - y) }
            }
        case .denoise(let wanted): denoise(wanted)
        case .localContrast(let wanted): localContrast(wanted)
        case .deconvolve(let wanted): deconvolve(wanted)
        case .grain(let wanted): grain(wanted, content: content)
        }
    }

    /// Curves are of codes from 0 to 2; what lies outside is taken at the ends.
    private mutating func eachSample(_ change: (Double) -> Double) {
        for i in pixels.indices where i % 4 < 3 { pixels[i] = change(min(max(pixels[i], 0), 2)) }
    }

    /// Clear pixels take the mean of the visible ones among 15 x 15.
    private mutating func fillClearPixels() {
        var out = pixels
        for i in 0..<width * height where !isVisible(4 * i) {
            var sums = [0.0, 0.0, 0.0, 0.0]
            for k in 0..<15 * 15 {
                let from = at(i % width + k % 15 - 7, i / width + k / 15 - 7)
                guard isVisible(from) else { continue }
                for c in 0..<3 { sums[c] += pixels[from + c] }
                sums[3] += 1
            }
            for c in 0..<3 { out[4 * i + c] = sums[c] / max(sums[3], 1) }
        }
        pixels = out
    }

    private mutating func denoise(_ wanted: Denoising) {
        fillClearPixels()
        let axes: [[Double]] = [
            [1, 1, 1].map { $0 / 3.0.squareRoot() }, [1, 0, -1].map { $0 / 2.0.squareRoot() },
            [1, -2, 1].map { $0 / 6.0.squareRoot() },
        ]
        let cosines = (0..<8).map { k -> [Double] in
            let scale: Double = k == 0 ? 0.125.squareRoot() : 0.5
            return (0..<8).map { i -> Double in scale * cos((Double(i) + 0.5) * Double(k) * Double.pi / 8) }
        }
        var out = pixels
        for i in out.indices where i % 4 < 3 { out[i] = 0 }
        for (c, axis) in axes.enumerated() {
            let limit = (c == 0 ? wanted.luma : wanted.chroma) * Denoising.strongest * DenoisePlan.threshold
            for top in stride(from: -8, to: height, by: 4) {
                for left in stride(from: -8, to: width, by: 2) {
                    let block = (0..<64).map { k -> Double in
                        let i = at(left + k % 8, top + k / 8)
                        return axis[0] * pixels[i] + axis[1] * pixels[i + 1] + axis[2] * pixels[i + 2]
                    }
                    var kept = [Double](repeating: 0, count: 64)
                    for u in 0..<8 {
                        for v in 0..<8 {
                            var sum = 0.0
                            for k in 0..<64 { sum += block[k] * cosines[u][k / 8] * cosines[v][k % 8] }
                            if u + v == 0 || abs(sum) > limit { kept[8 * u + v] = sum }
                        }
                    }
                    for k in 0..<64 {
                        let (x, y) = (left + k % 8, top + k / 8)
                        guard (0..<width).contains(x), (0..<height).contains(y) else { continue }
                        var value = 0.0
                        for u in 0..<8 {
                            for v in 0..<8 { value += kept[8 * u + v] * cosines[u][k / 8] * cosines[v][k % 8] }
                        }
                        // Eight blocks cover a pixel: four beside each other, two below each other.
                        for n in 0..<3 { out[at(x, y) + n] += axis[n] * value / 8 }
                    }
                }
            }
        }
        pixels = out
    }

    private mutating func localContrast(_ wanted: LocalContrast) {
        let plan = LocalContrastPlan(wanted, width: width, height: height)
        let (cell, down, across, r) = (plan.cell, plan.down, plan.across, plan.radius)
        var cells = [Double](repeating: 0, count: down * across)
        var weights = cells
        for i in cells.indices {
            var count = 0
            for k in 0..<cell * cell {
                let pixel = at(i % across * cell + k % cell, i / across * cell + k / cell)
                guard isVisible(pixel) else { continue }
                cells[i] += luma(pixel)
                count += 1
            }
            cells[i] /= Double(max(count, 1))
            weights[i] = Double(count) / Double(cell * cell)
        }
        func box(_ plane: [Double]) -> [Double] {
            plane.indices.map { i in
                var (sum, weight) = (0.0, 0.0)
                for dy in -r...r {
                    for dx in -r...r {
                        let x = min(max(i % across + dx, 0), across - 1)
                        let from = min(max(i / across + dy, 0), down - 1) * across + x
                        sum += weights[from] * plane[from]
                        weight += weights[from]
                    }
                }
                return weight > 0 ? sum / weight : 0
            }
        }
        let means = box(cells)
        let variances = zip(box(cells.map { $0 * $0 }), means).map { max(0, $0 - $1 * $1) }
        let slopes = variances.map { $0 / ($0 + LocalContrastPlan.epsilon) }
        let offsets = zip(slopes, means).map { (1 - $0) * $1 }
        let (a, b) = (box(slopes), box(offsets))
        func between(_ plane: [Double], _ x: Int, _ y: Int) -> Double {
            let (px, py) = ((Double(x) + 0.5) / Double(cell) - 0.5, (Double(y) + 0.5) / Double(cell) - 0.5)
            let (x0, y0) = (Int(px.rounded(.down)), Int(py.rounded(.down)))
            let (tx, ty) = (px - Double(x0), py - Double(y0))
            func value(_ x: Int, _ y: Int) -> Double {
                plane[min(max(y, 0), down - 1) * across + min(max(x, 0), across - 1)]
            }
            let upper = value(x0, y0) * (1 - tx) + value(x0 + 1, y0) * tx
            return upper * (1 - ty) + (value(x0, y0 + 1) * (1 - tx) + value(x0 + 1, y0 + 1) * tx) * ty
        }
        for i in 0..<width * height {
            let y = luma(4 * i)
            let base = between(a, i % width, i / width) * y + between(b, i % width, i / width)
            add(wanted.amount * (y - base), to: 4 * i)
        }
    }

    private mutating func deconvolve(_ wanted: Deconvolution) {
        let radius = max(1, Int((2.5 * wanted.sigma).rounded(.up)))
        let bell = (-radius...radius).map { exp(-Double($0 * $0) / (2 * wanted.sigma * wanted.sigma)) }
        let sum = bell.reduce(0, +)
        // A margin that the edges' influence does not leave.
        let margin = 2 * radius * wanted.rounds + 2
        let (w, h) = (width + 2 * margin, height + 2 * margin)
        func blur(_ plane: [Double]) -> [Double] {
            func pass(_ plane: [Double], _ dx: Int, _ dy: Int) -> [Double] {
                plane.indices.map { i in
                    (-radius...radius).reduce(0) { total, k in
                        let x = min(max(i % w + k * dx, 0), w - 1)
                        let y = min(max(i / w + k * dy, 0), h - 1)
                        return total + bell[k + radius] / sum * plane[y * w + x]
                    }
                }
            }
            return pass(pass(plane, 0, 1), 1, 0)
        }
        // 0 where pixels are clear.
        let plane = (0..<w * h).map { i -> Double in
            let pixel = at(i % w - margin, i / w - margin)
            return isVisible(pixel) ? max(luma(pixel), 0) + 0.01 : 0
        }
        let share = blur(plane.map { $0 > 0 ? 1 : 0 })
        func visibleBlur(_ values: [Double]) -> [Double] {
            zip(blur(values), share).map { $1 > 0 ? $0 / $1 : 0 }
        }
        var estimate = plane
        for _ in 0..<wanted.rounds {
            let ratio = zip(plane, visibleBlur(estimate)).map { $0 > 0 ? $0 / $1 : 0 }
            estimate = zip(estimate, visibleBlur(ratio)).map { $0 * $1 }
        }
        for i in 0..<width * height where isVisible(4 * i) {
            let middle = (i / width + margin) * w + i % width + margin
            var around: [Double] = []
            for dy in -2...2 {
                for dx in -2...2 { around.append(plane[middle + dy * w + dx]) }
            }
            around.removeAll { $0 == 0 }
            let (low, high) = (around.min() ?? 0, around.max() ?? 0)
            let spread = (high - low) / 4
            let sharp = min(max(estimate[middle], low - spread), high + spread)
            add(wanted.amount * (sharp - plane[middle]), to: 4 * i)
        }
    }

    /// Turns the picture about its middle, clockwise, by Lanczos-3 over 6 x 6 pixels weighted by alpha.
    mutating func rotate(degrees: Double) {
        let angle = degrees * Double.pi / 180
        func taps(_ place: Double) -> (first: Int, weights: [Double]) {
            let whole = place.rounded(.down)
            let weights = (-2...3).map { lanczos3(place - whole - Double($0)) }
            let sum = weights.reduce(0, +)
            return (Int(whole) - 2, weights.map { $0 / sum })
        }
        var out = pixels
        for i in 0..<width * height {
            let dx = Double(i % width) - Double(width - 1) / 2
            let dy = Double(i / width) - Double(height - 1) / 2
            let across = taps(cos(angle) * dx + sin(angle) * dy + Double(width - 1) / 2)
            let down = taps(cos(angle) * dy - sin(angle) * dx + Double(height - 1) / 2)
            var sums = [0.0, 0.0, 0.0, 0.0]
            for (j, v) in down.weights.enumerated() {
                for (k, u) in across.weights.enumerated() {
                    let from = at(across.first + k, down.first + j)
                    let weight = u * v * pixels[from + 3]
                    for c in 0..<3 { sums[c] += weight * pixels[from + c] }
                    sums[3] += weight
                }
            }
            for c in 0..<3 { out[4 * i + c] = sums[c] / sums[3] }
            out[4 * i + 3] = sums[3]
        }
        pixels = out
    }

    private mutating func grain(_ wanted: Grain, content: UInt32) {
        let seed = content ^ wanted.seed &* 0x9E37_79B9
        func noise(_ x: Int, _ y: Int) -> Double {
            var h = UInt32(x) &* 0x9E37_79B1 ^ UInt32(y) &* 0x85EB_CA77 ^ seed
            h = (h ^ h >> 16) &* 0x85EB_CA6B
            h = (h ^ h >> 13) &* 0xC2B2_AE35
            h ^= h >> 16
            let bytes = (0..<4).reduce(0) { $0 + Int(h >> UInt32(8 * $1) & 255) }
            return Double(bytes - 510) / 147.7995
        }
        for i in 0..<width * height {
            let step = Double(wanted.step) / 65536
            let (x, y) = (Double(i % width) * step, Double(i / width) * step)
            let (u, v) = (x - x.rounded(.down), y - y.rounded(.down))
            var n = 0.0
            for (dx, across) in [(0, 1 - u), (1, u)] {
                for (dy, along) in [(0, 1 - v), (1, v)] {
                    n += noise(Int(x) + dx, Int(y) + dy) * (across * along).squareRoot()
                }
            }
            let t = min(max(luma(4 * i), 0), 1)
            add(wanted.amount / 4 * 4 * t * (1 - t) * n, to: 4 * i)
        }
    }
}
