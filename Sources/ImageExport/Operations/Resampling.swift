import Glibc

/// A filter of resampling, as its weight at a distance in source samples.
package enum ResamplingFilter: Sendable {
    case lanczos3
    /// The tent, linear between two samples.
    case triangle
    /// Cubic convolution with a = -0.5 (Keys, "Cubic Convolution Interpolation for Digital Image Processing", 1981).
    case cubic

    /// Distance from which on the weight is 0.
    var support: Double {
        switch self {
        case .lanczos3: 3
        case .triangle: 1
        case .cubic: 2
        }
    }

    func weight(_ x: Double) -> Double {
        let x = abs(x)
        switch self {
        case .lanczos3: return ImageExport.lanczos3(x)
        case .triangle: return max(0, 1 - x)
        case .cubic:
            if x < 1 { return (1.5 * x - 2.5) * x * x + 1 }
            return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0
        }
    }
}

/// Where one output sample of a one-dimensional resampling comes from: `count` consecutive source samples from `start` on.
///
/// The filter is widened by the scale when shrinking, sample centres aligned, weights normalised at the edges to a sum of 1
/// (Turkowski, "Filters for Common Resampling Tasks", 1990).
package struct Resampling: Sendable {
    /// First source sample of each output sample.
    package let starts: [Int]
    /// Weights of each output sample, `taps` each, zero at the end where fewer are needed.
    package let weights: [Double]
    package let taps: Int
    package let sourceLength: Int
    package var outputLength: Int { starts.count }

    /// The part of a source that is resampled, and how.
    package struct Part: Equatable, Sendable {
        var sourceLength: Int
        var offset: Double
        var span: Double
        var outputLength: Int
        var filter: ResamplingFilter
        var lift: Double
        /// Source samples that may be read.
        var readable: Range<Int>

        /// - Parameters:
        ///   - sourceLength: Samples in the source.
        ///   - offset: Where the part to resample begins, in source samples.
        ///   - span: Its length in source samples; need not be a whole number.
        ///   - outputLength: Samples wanted.
        ///   - filter: What weighs the samples.
        ///   - lift: Strength of a filter (-lift, 1 + 2 lift, -lift) on the source, folded into the weights: it gives back
        ///     what the source lost near its Nyquist frequency.
        ///   - readable: Source samples that have a say; nil for all. What was cut off around a part is not among them.
        package init(
            sourceLength: Int, offset: Double = 0, span: Double? = nil, outputLength: Int,
            filter: ResamplingFilter = .lanczos3, lift: Double = 0, readable: Range<Int>? = nil
        ) {
            self.sourceLength = sourceLength
            self.offset = offset
            self.span = span ?? Double(sourceLength)
            self.outputLength = outputLength
            self.filter = filter
            self.lift = lift
            self.readable = readable ?? 0..<sourceLength
            precondition(
                !self.readable.isEmpty && self.readable.clamped(to: 0..<sourceLength) == self.readable,
                "samples outside of the source")
        }

        /// The samples that show nothing but a part of a picture, at least one: those all of whose pixels are, or are cut by, the
        /// part.
        ///
        /// - Parameters:
        ///   - start: Where the part begins, in pixels of the picture.
        ///   - length: The part's length in pixels.
        ///   - pixels: Pixels of the picture in that direction.
        ///   - samples: Samples that the picture was reduced to.
        ///   - pixelsPerSample: Pixels that one sample stands for; the last sample may have fewer.
        /// - Returns: Places of samples.
        package static func samples(
            showing start: Double, _ length: Double, pixels: Int, samples: Int, pixelsPerSample: Double
        ) -> Range<Int> {
            // A place that is a quotient lies a little beside the whole number that is meant.
            let slack = 1e-6
            let firstPixel = (start + slack).rounded(.down)
            let endPixel = (start + length - slack).rounded(.up)
            let first = max(0, Int((firstPixel / pixelsPerSample - slack).rounded(.up)))
            let end =
                endPixel >= Double(pixels)
                ? samples : min(samples, Int((endPixel / pixelsPerSample + slack).rounded(.down)))
            guard first < end else {
                let middle = min(max(0, Int((start + length / 2) / pixelsPerSample + slack)), samples - 1)
                return middle..<middle + 1
            }
            return first..<end
        }
    }

    package init(_ part: Part) {
        let (sourceLength, outputLength, offset) = (part.sourceLength, part.outputLength, part.offset)
        let (filter, lift, readable) = (part.filter, part.lift, part.readable)
        precondition(sourceLength > 0 && outputLength > 0, "resampling needs samples")
        let scale = part.span / Double(outputLength)
        let stretch = max(scale, 1)
        let support = filter.support * stretch
        var starts: [Int] = []
        var rows: [[Double]] = []
        for i in 0..<outputLength {
            let place = offset + (Double(i) + 0.5) * scale
            // A part may begin or end within a sample that has no say: beyond the others, the nearest of them counts.
            let centre = min(max(place, Double(readable.lowerBound)), Double(readable.upperBound))
            let first = max(readable.lowerBound, Int((centre - support).rounded(.down)))
            let last = min(readable.upperBound - 1, Int((centre + support).rounded(.up)))
            var taps = (first...max(first, last)).map { filter.weight((Double($0) + 0.5 - centre) / stretch) }
            var start = first
            while taps.count > 1, taps.last == 0 { taps.removeLast() }
            while taps.count > 1, taps.first == 0 {
                taps.removeFirst()
                start += 1
            }
            let sum = taps.reduce(0, +)
            taps = taps.map { $0 / sum }
            if lift != 0 { (start, taps) = lifted(taps, start: start, by: lift, within: readable) }
            rows.append(taps)
            starts.append(start)
        }
        let width = rows.map(\.count).max() ?? 1
        // All windows get the same width; at the far edge they grow to the front, so that none leaves the source.
        var weights: [Double] = []
        weights.reserveCapacity(width * outputLength)
        for i in rows.indices {
            let lead = max(0, starts[i] + width - sourceLength)
            starts[i] -= lead
            weights += Array(repeating: 0, count: lead) + rows[i]
            weights += Array(repeating: 0, count: width - rows[i].count - lead)
        }
        self.starts = starts
        self.taps = width
        self.weights = weights
        self.sourceLength = sourceLength
    }

    /// The last source sample that output sample `i` reads with a weight.
    package func lastSource(_ i: Int) -> Int { starts[i] + taps - 1 }

    /// More taps than this have weights of a few units of Q14, whose errors would add up.
    private static let fewTaps = 1024

    /// Weights as Q14 integers whose sum is exactly 16384 for each output sample; the rounding error goes to the largest, or,
    /// of very many, from one to the next.
    package func quantised(_ i: Int) -> [Int16] {
        let row = weights[i * taps..<(i + 1) * taps]
        guard taps <= Self.fewTaps else {
            var (sum, taken) = (0.0, 0)
            return row.map { weight in
                sum += weight * 16384
                let rounded = Int(sum.rounded())
                defer { taken = rounded }
                return Int16(rounded - taken)
            }
        }
        var out = row.map { Int(($0 * 16384).rounded()) }
        if let largest = out.indices.max(by: { abs(out[$0]) < abs(out[$1]) }) {
            out[largest] += 16384 - out.reduce(0, +)
        }
        return out.map { Int16($0) }
    }
}

/// Weights convolved with (-lift, 1 + 2 lift, -lift); the readable samples repeat at their edges.
private func lifted(
    _ taps: [Double], start: Int, by lift: Double, within readable: Range<Int>
) -> (start: Int, taps: [Double]) {
    let first = max(readable.lowerBound, start - 1)
    let last = min(readable.upperBound - 1, start + taps.count)
    var out = [Double](repeating: 0, count: last - first + 1)
    for (k, weight) in taps.enumerated() {
        for (step, factor) in [(-1, -lift), (0, 1 + 2 * lift), (1, -lift)] {
            let place = min(max(start + k + step, readable.lowerBound), readable.upperBound - 1)
            out[place - first] += factor * weight
        }
    }
    return (first, out)
}

/// The Lanczos window of order 3, `sinc(x) sinc(x / 3)` for |x| < 3.
package func lanczos3(_ x: Double) -> Double {
    guard x != 0 else { return 1 }
    guard abs(x) < 3 else { return 0 }
    let a = x * .pi
    return 3 * sin(a) * sin(a / 3) / (a * a)
}
