/// The second picture in a JPEG that says how much brighter each part is on a display of high dynamic range, known from its
/// header.
///
/// The ratio of light is stored as codes of 8 bits, in one or three channels, usually at a fraction of the picture's size, and
/// stored as the picture is, whatever orientation its own EXIF claims. Ultra HDR 1.0 (hdrgm properties in XMP, a directory of
/// containers) and ISO 21496-1 (an application segment) say what the codes mean; both may be there.
package struct GainMap: Sendable {
    /// Where its own JPEG lies in the file.
    package var range: Range<Int>
    package var width: Int
    package var height: Int
    package var isGray: Bool
    /// What its codes mean, and its profile; nothing else.
    package var metadata: ImageMetadata

    /// Opens it.
    ///
    /// - Parameters:
    ///   - file: The bytes of the whole file, which outlive the decoder.
    ///   - limits: As for the picture.
    /// - Returns: A decoder that is not started.
    /// - Throws: ``CodecError`` as when the picture was opened, and where the file is not the one that was looked at.
    package func decoder(
        in file: UnsafeRawBufferPointer, limits: DecodeLimits
    ) throws(CodecError) -> any ImageDecoder {
        guard range.upperBound <= file.count else { throw CodecError(.damaged, "the file changed while it was read") }
        return try JPEGDecoder(UnsafeRawBufferPointer(rebasing: file[range]), limits: limits, looksForGainMap: false)
    }
}

extension ImageMetadata {
    /// The picture says that a gain map comes with it.
    var announcesGainMap: Bool { gainMapISO != nil || xmp?.contains("hdrgm:Version".utf8) == true }

    /// This with what a JPEG says of the gain map behind it.
    ///
    /// - Parameters:
    ///   - map: The input's.
    ///   - bytes: Of the output's.
    /// - Returns: The metadata, and what the person should be told about parts that had to give way.
    package func announcing(_ map: GainMap, bytes: Int) -> (metadata: ImageMetadata, notes: [String]) {
        var result = self
        var notes: [String] = []
        // The versions alone; the rest stands with the map.
        result.gainMapISO = map.metadata.gainMapISO.map { Array($0.prefix(4)) }
        guard map.metadata.xmp != nil else { return (result, notes) }
        let node = GainMapXMP.node(mapBytes: bytes)
        result.xmp = xmp.flatMap { XMPProperties($0)?.edited(keeping: { _ in true }, adding: node) }
        if result.xmp == nil || JPEGSegments.xmpPrefix.count + (result.xmp?.count ?? 0) > JPEGSegments.capacity {
            if xmp != nil { notes.append("the XMP was left out, because the gain map's does not fit beside it") }
            result.extendedXMP = nil
            result.xmp = XMPProperties.packet(of: node)
        }
        return (result, notes)
    }
}
