/// How a picture becomes the input of a model. Sizes count upright pixels.
///
/// A value of the tensor is `(code * scale - mean) / std`, where `code` is 0 ... 255; 16-bit pictures keep their fraction.
package struct ImagePreset: Codable, Hashable, Sendable {
    /// What the size means.
    package enum Resize: String, Codable, Hashable, Sendable, CaseIterable {
        /// As it is.
        case none
        /// The shorter side becomes the smaller extent of the size; the other one keeps the proportion, its fraction cut off.
        case shorter
        /// The longer side becomes the larger extent of the size; the other one keeps the proportion, rounded.
        case longer
        /// Exactly the size, whatever the proportion.
        case exact
        /// The largest that fits into the size, in its middle, with `fill` around it.
        case letterbox
    }

    /// Filters as Pillow has them: widened by the reduction when shrinking ("antialiasing"), of gamma-encoded values.
    package enum Filter: String, Codable, Hashable, Sendable, CaseIterable {
        case bilinear
        /// Keys' cubic convolution with a = -0.5.
        case bicubic
        case lanczos
    }

    package enum Channels: String, Codable, Hashable, Sendable, CaseIterable {
        case rgb, bgr
        /// Luma of ITU-R BT.601: 0.299 R + 0.587 G + 0.114 B.
        case gray
    }

    package enum Layout: String, Codable, Hashable, Sendable, CaseIterable {
        case nchw, nhwc
    }

    package struct Size: Codable, Hashable, Sendable {
        package var width: Int
        package var height: Int

        package init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    package var resize: Resize = .none
    /// Nil for `none`.
    package var size: Size?
    /// The middle of what the resize gives; `fill` where that is smaller.
    package var crop: Size?
    package var filter: Filter = .bilinear
    package var channels: Channels = .rgb
    package var layout: Layout = .nchw
    package var scale: Double = 1.0 / 255
    /// One value, or one for each channel in the order of `channels`.
    package var mean: [Double] = [0]
    package var std: [Double] = [1]
    /// Colour (R, G, B of 0 ... 255) under clear parts and around a picture.
    package var fill: [UInt8] = [0, 0, 0]
    /// JPEGs may be decoded at 4, 2 or 1 eighths of their size where twice the wanted size is left; faster, and not the
    /// same values to the last.
    package var reducedDecoding = false

    package init() {}

    package var channelCount: Int { channels == .gray ? 1 : 3 }

    static let largestSide = 1 << 15

    /// - Throws: `mismatch` for a size that no picture has.
    static func check(_ size: Size) throws(DataError) {
        guard (1...largestSide).contains(size.width), (1...largestSide).contains(size.height) else {
            throw .mismatch("A size of \(size.width) × \(size.height) is not possible.")
        }
    }

    /// - Throws: `mismatch` with what contradicts itself.
    package func validate() throws(DataError) {
        for size in [size, crop].compactMap({ $0 }) { try Self.check(size) }
        guard (size == nil) == (resize == .none) else {
            throw .mismatch(
                size == nil ? "The resize \"\(resize.rawValue)\" needs a size." : "A size needs a resize that uses it.")
        }
        guard resize != .letterbox || crop == nil else { throw .mismatch("A letterbox leaves nothing to crop.") }
        for (name, values) in [("mean", mean), ("std", std)] {
            guard values.count == 1 || values.count == channelCount, values.allSatisfy(\.isFinite) else {
                throw .mismatch("\"\(name)\" needs one number, or one for each of \(channelCount) channels.")
            }
        }
        guard scale.isFinite, scale != 0 else {
            throw .mismatch("\"scale\" needs a number other than 0: every picture would be the same.")
        }
        guard std.allSatisfy({ $0 > 0 }) else { throw .mismatch("\"std\" needs numbers above 0.") }
        guard fill.count == 3 else { throw .mismatch("\"fill\" needs three numbers: red, green and blue.") }
    }

    /// What can be computed and is hardly meant, a sentence each: numbers for another range of codes than `scale` makes.
    package var doubts: [String] {
        let reach = 255 * scale
        let range = "0 to \(Self.short(reach)), which scale makes of a picture"
        var doubts: [String] = []
        if let outside = mean.first(where: { !(min(reach, 0)...max(reach, 0)).contains($0) }) {
            doubts.append("the preset's mean of \(Self.short(outside)) lies outside \(range)")
        }
        // Codes as they are span 255; deviations of pictures are about a quarter of the range.
        if let other = std.first(where: { abs(reach) / $0 < 0.1 || $0 != 1 && abs(reach) / $0 > 300 }) {
            doubts.append("the preset's std of \(Self.short(other)) does not go with \(range)")
        }
        return doubts
    }

    private static func short(_ number: Double) -> String {
        let rounded = (number * 1e6).rounded() / 1e6
        return rounded == rounded.rounded() && abs(rounded) < 0x1p53 ? "\(Int(rounded))" : "\(rounded)"
    }
}
