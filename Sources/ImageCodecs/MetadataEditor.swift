extension ImageMetadata {
    /// The metadata for an upright output of this size: EXIF orientation 1 and pixel sizes corrected, in XMP too, and with them what
    /// counts in pixels; thumbnails left out, and nothing said of files behind the input, such as a gain map. Everything else stays as
    /// it is, byte by byte.
    ///
    /// - Parameters:
    ///   - width: The output's, in pixels.
    ///   - height: The output's, in pixels.
    ///   - icc: The output's profile, which takes the place of the input's; nil for none.
    ///   - isTransposed: The input lies on its side, or is turned by a quarter.
    ///   - color: What EXIF is to say of the colours.
    ///   - placement: Where the input's pixels are in the output; nil where they are where they were.
    ///   - format: What the output is written as; what its container cannot hold is left out.
    /// - Returns: The edited metadata, and what the person should be told about parts that were left out.
    package func edited(
        forWidth width: Int, height: Int, icc: [UInt8]?, isTransposed: Bool = false, color: EXIFColor = .kept,
        placement: PixelPlacement? = nil, format: ImageFormat
    ) -> (metadata: ImageMetadata, notes: [String]) {
        var result = ImageMetadata(
            icc: icc, resolution: isTransposed ? statedResolution?.transposed : statedResolution)
        var notes = leftOut
        if let exif {
            if var block = EXIFBlock(exif) {
                notes += block.adapt(
                    width: width, height: height, isTransposed: isTransposed, color: color, placement: placement)
                result.exif = block.bytes
                if format == .tiff { notes += TIFFExif.leftOut(of: block.bytes) }
            } else {
                notes.append("the damaged EXIF block was left out")
            }
        }
        result.extendedXMP = extendedXMP
        if let xmp {
            let files = GainMapXMP.withoutFiles(xmp)
            notes += files.notes
            result.xmp = files.packet.map { packet in
                let edited = XMPEditor.edit(
                    packet, width: width, height: height, placement: placement,
                    keepsExtended: format == .jpeg && extendedXMP != nil)
                notes += edited.notes
                return edited.packet
            }
            if result.xmp == nil { notes.append("the XMP was left out, because it is not well formed") }
        }
        if let iptc {
            let kept = PhotoshopResources.withoutThumbnails(iptc)
            notes += kept.notes
            result.iptc = kept.resources.isEmpty ? nil : kept.resources
        }
        result.comment = comment
        result.leaveOutWhatDoesNotFit(format, notes: &notes)
        return (result, notes)
    }

    /// The camera wrote Adobe RGB and said so in its EXIF block only (DCF 2.0, optional colour space).
    package var isMarkedAdobeRGB: Bool { exif.flatMap { EXIFBlock($0) }?.isAdobeRGB ?? false }

    private mutating func leaveOutWhatDoesNotFit(_ format: ImageFormat, notes: inout [String]) {
        if format == .jpeg {
            drop(\.xmp, above: JPEGSegments.capacity - JPEGSegments.xmpPrefix.count, "XMP", &notes)
            drop(\.comment, above: JPEGSegments.capacity, "the comment", &notes)
        } else if comment != nil {
            comment = nil
            notes.append("the comment was left out, because the format has no place for it")
        }
        if extendedXMP != nil, format != .jpeg || xmp == nil {
            extendedXMP = nil
            notes.append("extended XMP was left out" + (xmp == nil ? "" : ", because the format has no place for it"))
        }
        guard ![.jpeg, .tiff].contains(format), iptc != nil else { return }
        iptc = nil
        notes.append("IPTC was left out, because the format has no place for it")
    }

    private mutating func drop(
        _ part: WritableKeyPath<ImageMetadata, [UInt8]?>, above capacity: Int, _ name: String, _ notes: inout [String]
    ) {
        guard let count = self[keyPath: part]?.count, count > capacity else { return }
        self[keyPath: part] = nil
        notes.append("\(name) of \(count) bytes was left out, because JPEG has room for \(capacity)")
    }
}
