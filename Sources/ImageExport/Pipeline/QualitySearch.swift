import Glibc

/// Looks for the highest quality whose file is small enough; qualities are whole numbers from 1.
package struct QualitySearch: Sendable {
    /// How much the logarithm of a file's size grows with one step of quality, before two sizes are known: between 50 and
    /// 85, JPEG files of photographs grow by about 2.4 times.
    private static let usualGrowth = 0.025

    private let maxBytes: Int
    /// The lowest quality that is known to be too large.
    private var above: (quality: Int, bytes: Int)
    /// The highest that is known to fit.
    private var below: (quality: Int, bytes: Int)?
    private var tries = 0

    /// Bytes of a file that no quality changes, its metadata above all.
    private let fixedBytes: Int

    /// `bytes` is the size at the highest quality that may be taken, and too large.
    package init(ceiling: Int, bytes: Int, maxBytes: Int, fixedBytes: Int = 0) {
        self.maxBytes = maxBytes
        self.fixedBytes = fixedBytes
        above = (ceiling, bytes)
    }

    package var found: Int? { below?.quality }
    /// Bytes of the smallest file that was made.
    var smallest: Int { below?.bytes ?? above.bytes }

    /// The quality to try next; nil when the answer is known.
    package var next: Int? {
        let lowest = below?.quality ?? 0
        guard above.quality - lowest > 1 else { return nil }
        // Every third step halves, so that no curve of sizes can draw the search out.
        if tries % 3 == 2 { return (above.quality + lowest) / 2 }
        let slope =
            below.map { logRatio(above.bytes, $0.bytes) / Double(above.quality - $0.quality) } ?? Self.usualGrowth
        let steps = logRatio(above.bytes, maxBytes) / max(slope, 0.001)
        let guess = above.quality - Int(min(steps.rounded(.up), 100))
        return min(max(guess, lowest + 1), above.quality - 1)
    }

    private func logRatio(_ a: Int, _ b: Int) -> Double {
        log(Double(max(a - fixedBytes, 1)) / Double(max(b - fixedBytes, 1)))
    }

    package mutating func tried(_ quality: Int, bytes: Int) {
        tries += 1
        if bytes <= maxBytes { below = (quality, bytes) } else { above = (quality, bytes) }
    }
}
