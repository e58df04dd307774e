import ImageCodecs

/// Colours that a person names, which are those of sRGB, in the numbers that an output has for them.
package final class Paint {
    /// ICC profile of the output; nil for sRGB.
    let profile: [UInt8]?
    /// nil where the numbers are the same, as in a profile for gray, to which there is no way.
    private let transform: ColorTransform?

    init(profile: [UInt8]? = nil) {
        let profile = ColorProfile.isEquivalent(profile, nil) ? nil : profile
        self.profile = profile
        transform = profile.flatMap { try? ColorTransform(from: nil, layout: .rgba16, to: $0) }
    }

    /// 16-bit R, G and B of a colour of 8 bits.
    func codes(_ color: [UInt8]) -> [UInt16] {
        var pixel = color.map { UInt16($0) * 257 } + [65535]
        convert(&pixel)
        return Array(pixel.prefix(3))
    }

    /// R, G and B of 8 bits.
    func bytes(_ color: [UInt8]) -> [UInt8] { codes(color).map(PixelConversion.narrow) }

    /// Converts pixels of 16-bit R, G, B and alpha.
    func convert(_ samples: inout [UInt16]) {
        let count = samples.count / 4
        samples.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress, count > 0 else { return }
            transform?.apply(to: base, strideBytes: bytes.count, width: count, count: 1)
        }
    }
}
