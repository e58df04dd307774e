import CImageCodecs
import Glibc

/// What EXIF says of colours.
package enum EXIFColor: Sendable {
    /// What it said, since they were not converted.
    case kept
    case srgb
    /// Neither sRGB nor Adobe RGB; the profile says which.
    case other

    fileprivate var forC: ic_exif_color {
        switch self {
        case .kept: IC_EXIF_COLOR_KEPT
        case .srgb: IC_EXIF_COLOR_SRGB
        case .other: IC_EXIF_COLOR_OTHER
        }
    }
}

extension ImageMetadata {
    /// The metadata for an upright output of this size: EXIF orientation 1 and pixel sizes corrected, in XMP too,
    /// thumbnails left out, and nothing said of files behind the input, such as a gain map.
    ///
    /// - Parameters:
    ///   - width: The output's, in pixels.
    ///   - height: The output's, in pixels.
    ///   - icc: The output's profile, which takes the place of the input's; nil for none.
    ///   - isTransposed: The input lies on its side, or is turned by a quarter.
    ///   - color: What EXIF is to say of the colours.
    ///   - format: What the output is written as; what its container cannot hold is left out.
    /// - Returns: The edited metadata, and what the person should be told about parts that were left out.
    package func edited(
        forWidth width: Int, height: Int, icc: [UInt8]?, isTransposed: Bool = false, color: EXIFColor = .kept,
        format: ImageFormat
    ) -> (metadata: ImageMetadata, notes: [String]) {
        var result = ImageMetadata(
            icc: icc, resolution: isTransposed ? statedResolution?.transposed : statedResolution)
        var notes: [String] = []
        if let exif {
            var size = 0
            let edited = exif.withUnsafeBufferPointer {
                ic_exif_copy_edited(
                    $0.baseAddress, $0.count, UInt32(clamping: width), UInt32(clamping: height), isTransposed ? 1 : 0,
                    color.forC, &size)
            }
            result.exif = edited.map { Array(UnsafeBufferPointer(start: $0, count: size)) }
            free(edited)
            if result.exif == nil { notes.append("the damaged EXIF block was left out") }
        }
        if let xmp {
            result.xmp = GainMapXMP.withoutFiles(xmp).map { XMPEditor.edit($0, width: width, height: height) }
            if result.xmp == nil { notes.append("the XMP was left out, because it is not well formed") }
        }
        result.iptc = iptc.map(PhotoshopResources.withoutThumbnails)
        if result.iptc?.isEmpty == true { result.iptc = nil }
        result.comment = comment
        result.leaveOutWhatDoesNotFit(format, notes: &notes)
        return (result, notes)
    }

    /// The camera wrote Adobe RGB and said so in its EXIF block only (DCF 2.0, optional colour space).
    package var isMarkedAdobeRGB: Bool {
        exif?.withUnsafeBufferPointer { ic_exif_is_adobe_rgb($0.baseAddress, $0.count) != 0 } ?? false
    }

    private mutating func leaveOutWhatDoesNotFit(_ format: ImageFormat, notes: inout [String]) {
        if format == .jpeg {
            drop(\.exif, above: JPEGSegments.capacity - JPEGSegments.exifPrefix.count, "EXIF", &notes)
            drop(\.xmp, above: JPEGSegments.capacity - JPEGSegments.xmpPrefix.count, "XMP", &notes)
            drop(\.comment, above: JPEGSegments.capacity, "the comment", &notes)
            return
        }
        if iptc != nil { notes.append("IPTC was left out, because the format has no place for it") }
        iptc = nil
        comment = nil
    }

    private mutating func drop(
        _ part: WritableKeyPath<ImageMetadata, [UInt8]?>, above capacity: Int, _ name: String, _ notes: inout [String]
    ) {
        guard let count = self[keyPath: part]?.count, count > capacity else { return }
        self[keyPath: part] = nil
        notes.append("\(name) of \(count) bytes was left out, because JPEG has room for \(capacity)")
    }
}
