import ImageCodecs

/// What the input's colours mean, and how they reach an output's colour space.
struct SourceColor {
    private let icc: [UInt8]?
    private let isTagged: Bool

    init(header: ImageHeader) {
        // CMYK rows are turned into sRGB as they are decoded.
        icc = header.layout == .cmyk8 ? nil : header.metadata.icc
        isTagged = header.metadata.icc != nil
    }

    /// nil when the colours are already right.
    func transform(to space: OutputColorSpace, layout: PixelLayout) throws(CodecError) -> ColorTransform? {
        switch space {
        case .keep: nil
        case .srgb: try ColorTransform.make(from: icc, to: .srgb, layout: layout)
        case .displayP3: try ColorTransform.make(from: icc, to: .displayP3, layout: layout)
        }
    }

    /// Untagged sRGB stays untagged, as it came.
    func embeddedProfile(for space: OutputColorSpace) -> [UInt8]? {
        switch space {
        case .keep: icc
        case .srgb: isTagged ? BuiltInProfile.srgb.bytes : nil
        case .displayP3: BuiltInProfile.displayP3.bytes
        }
    }

    /// The tables a resize works through; nil for plain 8-bit codes.
    func curves(for arithmetic: ResizeArithmetic, linear: Bool) -> TransferCurves? {
        switch arithmetic {
        case .codes: return nil
        case .float where !linear: return .identity
        case .light, .float:
            let float = arithmetic == .float
            guard let icc, let samples = ColorTransform.transferCurves(of: icc) else {
                return float ? .srgbFloat : .srgbInteger
            }
            return TransferCurves(float: float, channels: samples.map { TransferCurves.Curve(samples: $0) })
        }
    }
}
