import CImageCodecs
import Glibc

/// A colour space this package can write, with the profile that says so.
package enum BuiltInProfile: String, Codable, Hashable, Sendable {
    case sRGB, displayP3, adobeRGB

    private static let sRGBBytes = copy(IC_COLOR_SRGB)
    private static let displayP3Bytes = copy(IC_COLOR_DISPLAY_P3)
    private static let adobeRGBBytes = copy(IC_COLOR_ADOBE_RGB)

    /// A small matrix profile to embed, the same bytes each time.
    package var bytes: [UInt8] {
        switch self {
        case .sRGB: BuiltInProfile.sRGBBytes
        case .displayP3: BuiltInProfile.displayP3Bytes
        case .adobeRGB: BuiltInProfile.adobeRGBBytes
        }
    }

    private static func copy(_ profile: ic_color_profile) -> [UInt8] {
        var size = 0
        guard let bytes = ic_color_copy_profile(profile, &size) else {
            preconditionFailure("no memory for a colour profile of 600 bytes")
        }
        defer { free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: size))
    }
}
