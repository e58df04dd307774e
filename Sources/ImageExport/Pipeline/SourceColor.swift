package import ImageCodecs

/// What the input's colours mean, and how they reach an output's colour space.
package struct SourceColor {
    /// nil: sRGB, said or assumed.
    private let icc: [UInt8]?
    /// The input says what its colours are.
    package let isTagged: Bool
    /// Turns CMYK rows into sRGB as they are decoded.
    package let toRGB: ColorTransform?
    package private(set) var notes: [String] = []
    private let made = Made()

    /// What a picture says of its colours.
    package struct Origin: Equatable {
        var icc: [UInt8]?
        var layout: PixelLayout
        var isGray: Bool

        package init(_ header: ImageHeader) {
            icc = header.metadata.icc
            layout = header.layout
            isGray = header.isGray
            if icc == nil, layout != .cmyk8, header.metadata.isMarkedAdobeRGB { icc = BuiltInProfile.adobeRGB.bytes }
        }
    }

    /// Transforms and tables that were asked for.
    private final class Made {
        struct Target: Equatable {
            var space: OutputColorSpace
            var layout: PixelLayout
        }

        var transforms = Recent<Target, ColorTransform?>()
        var paints = Recent<OutputColorSpace, Paint>()
        var curves = Recent<Bool, TransferCurves>()
    }

    package init(_ origin: Origin) throws(CodecError) {
        var profile = origin.icc
        isTagged = profile != nil
        guard origin.layout == .cmyk8 else {
            toRGB = nil
            do {
                _ = try profile.map { profile throws(CodecError) in
                    // Its one channel would be the first of three. The other way round, gray has a place among colours.
                    if !origin.isGray, ColorProfile.channels(of: profile) == "GRAY" {
                        throw CodecError(.unsupported, "It is for gray, and the picture has colours")
                    }
                    return try ColorTransform(from: profile, layout: origin.layout, to: .sRGB)
                }
            } catch {
                notes.append("the colour profile is ignored: \(error.reason)")
                profile = nil
            }
            icc = profile
            return
        }
        icc = nil
        do {
            toRGB = try ColorTransform(from: profile, layout: .cmyk8, to: .sRGB)
        } catch {
            notes.append("the colour profile is ignored: \(error.reason)")
            toRGB = try ColorTransform(from: nil, layout: .cmyk8, to: .sRGB)
        }
    }

    /// nil when the colours are already right.
    package func transform(to space: OutputColorSpace, layout: PixelLayout) throws(CodecError) -> ColorTransform? {
        try made.transforms.value(for: Made.Target(space: space, layout: layout)) { () throws(CodecError) in
            guard let target = space.profile, !ColorProfile.isEquivalent(icc, target.bytes) else { return nil }
            return try ColorTransform(from: icc, layout: layout, to: target)
        }
    }

    /// Its profile has one channel.
    var isForGray: Bool { icc.flatMap { ColorProfile.channels(of: $0) } == "GRAY" }

    /// Colours of sRGB as an output has them.
    package func paint(in space: OutputColorSpace) -> Paint {
        made.paints.value(for: space) { Paint(profile: space.profile?.bytes ?? icc) }
    }

    /// Untagged sRGB stays untagged, as it came.
    func embeddedProfile(for space: OutputColorSpace) -> [UInt8]? {
        switch space {
        case .keep: icc
        case .srgb: isTagged ? BuiltInProfile.sRGB.bytes : nil
        case .displayP3: BuiltInProfile.displayP3.bytes
        }
    }

    func exif(in space: OutputColorSpace) -> EXIFColor {
        switch space {
        case .keep: .kept
        case .srgb: isTagged ? .srgb : .kept
        case .displayP3: .other
        }
    }

    /// The tables a resize works through; nil for plain 8-bit codes.
    func curves(for arithmetic: ResizeArithmetic, linear: Bool) -> TransferCurves? {
        switch arithmetic {
        case .codes: return nil
        case .float where !linear: return .identity
        case .light, .float:
            let float = arithmetic == .float
            return made.curves.value(for: float) {
                let samples = float ? 65536 : 4096
                guard let icc, !ColorProfile.isEquivalent(icc, nil),
                    let curves = ProfileCurves(of: icc, entries: samples, inverseEntries: 2)
                else { return float ? .srgbFloat : .srgbInteger }
                return TransferCurves(float: float, channels: curves.linear.map { TransferCurves.Curve(samples: $0) })
            }
        }
    }
}

extension OutputColorSpace {
    /// nil: whatever the input has.
    fileprivate var profile: BuiltInProfile? {
        switch self {
        case .srgb: .sRGB
        case .displayP3: .displayP3
        case .keep: nil
        }
    }
}
