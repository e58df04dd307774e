import CImageCodecs

/// Converts rows from one colour space to another: relative colorimetric, with black point compensation.
///
/// Used by one thread at a time. Building one takes milliseconds, so keep it for as long as pictures need it.
package final class ColorTransform {
    /// The layout the rows have afterwards.
    package let outputLayout: PixelLayout
    private let inputLayout: PixelLayout
    /// nil for CMYK without a profile.
    private let handle: OpaquePointer?

    /// - Parameters:
    ///   - source: ICC profile of the rows; nil is sRGB, and for `cmyk8` a plain formula.
    ///   - layout: What the rows hold.
    ///   - target: What they become.
    /// - Throws: ``CodecError`` with code `unsupported` when a profile cannot be read or is for other channels than
    ///   the rows have. A caller goes on without the profile and says so.
    package convenience init(
        from source: [UInt8]?, layout: PixelLayout, to target: BuiltInProfile
    ) throws(CodecError) {
        try self.init(from: source, layout: layout, to: target.bytes)
    }

    /// As ``init(from:layout:to:)``, to a profile for RGB.
    package init(from source: [UInt8]?, layout: PixelLayout, to target: [UInt8]) throws(CodecError) {
        inputLayout = layout
        outputLayout = layout == .cmyk8 ? .rgbx8 : layout
        if layout == .cmyk8, source == nil {
            handle = nil
            return
        }
        let rows: ic_color_layout =
            switch layout {
            case .rgbx8, .rgba8: IC_COLOR_RGBX8
            case .rgba16: IC_COLOR_RGBA16
            case .rgbaF32: IC_COLOR_RGBAF32
            case .cmyk8: IC_COLOR_CMYK8
            }
        let source = source ?? BuiltInProfile.sRGB.bytes
        handle = try opened { error in
            withSpace(source) { from in
                withSpace(target) { to in ic_color_transform_open(&from, &to, rows, &error) }
            }
        }
    }

    deinit {
        ic_color_transform_close(handle)
    }

    /// Converts in place. Alpha stays as it is; `cmyk8` becomes `rgbx8`.
    package func apply(to rows: UnsafeMutableRawPointer, strideBytes: Int, width: Int, count: Int) {
        if let handle {
            ic_color_transform_apply(handle, rows, strideBytes, Int32(width), Int32(count))
        } else {
            ic_color_cmyk_without_profile(
                rows.assumingMemoryBound(to: UInt8.self), strideBytes, Int32(width), Int32(count))
        }
    }
}

/// Lends a profile to C for the time of the call.
func withSpace<Result>(_ icc: [UInt8], _ body: (inout ic_color_space) -> Result) -> Result {
    icc.withUnsafeBufferPointer { bytes in
        var space = ic_color_space(icc: bytes.baseAddress, icc_size: bytes.count, built_in: IC_COLOR_SRGB)
        return body(&space)
    }
}
