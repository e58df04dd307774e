import CImageCodecs
import Locking

/// What an ICC profile means, read from its content and not from its name.
package enum ColorProfile {
    /// Colour difference (CIE 1976) up to which two profiles count as one: the common variants of sRGB are within.
    private static let largestDifference = 0.5

    private struct Pair: Hashable {
        let first: String
        let second: String
    }

    /// Answers kept, because thousands of pictures of one job share a few profiles.
    private static let answers = Lock<[Pair: Bool]>([:])

    /// The kind of channels, as the four letters of the profile's header (`RGB `, `GRAY`, `CMYK`); nil when it is too
    /// short to be a profile.
    package static func channels(of icc: [UInt8]) -> String? {
        icc.count < 128 ? nil : String(decoding: icc[16..<20], as: UTF8.self)
    }

    /// Whether converting between two RGB or two gray profiles would change nothing one could see.
    ///
    /// - Parameters: nil is sRGB.
    package static func isEquivalent(_ first: [UInt8]?, _ second: [UInt8]?) -> Bool {
        if first == second { return true }
        let first = first ?? BuiltInProfile.sRGB.bytes
        let second = second ?? BuiltInProfile.sRGB.bytes
        let pair = Pair(
            first: first.withUnsafeBytes(Checksum.xxh3), second: second.withUnsafeBytes(Checksum.xxh3))
        if let known = answers.withLock({ $0[pair] }) { return known }
        let difference = withSpace(first) { a in
            withSpace(second) { b in ic_color_largest_difference(&a, &b) }
        }
        let answer = difference >= 0 && difference <= largestDifference
        answers.withLock { known in
            if known.count >= 1_000 { known.removeAll() }
            known[pair] = answer
        }
        return answer
    }
}
