/// Finds the gain map that a JPEG announces, without trusting what it says.
enum GainMapReader {
    /// - Parameters:
    ///   - file: The whole file.
    ///   - picture: The header of its first picture.
    ///   - limits: For the map as for the picture.
    /// - Returns: nil where none is announced; else the map, or why it cannot be used.
    static func read(
        _ file: UnsafeRawBufferPointer, picture: ImageHeader, limits: DecodeLimits
    ) -> Result<GainMap, CodecError>? {
        guard picture.metadata.announcesGainMap else { return nil }
        var reason = CodecError(.damaged, "it is not in the file")
        for range in places(in: file, picture.metadata) {
            guard range.lowerBound > 0, range.upperBound <= file.count,
                file[range].starts(with: [0xFF, 0xD8])
            else { continue }
            do throws(CodecError) {
                if let map = try map(at: range, in: file, picture: picture, limits: limits) { return .success(map) }
            } catch {
                reason = error
            }
        }
        return .failure(reason)
    }

    /// Where it may lie: by the index of pictures, and by the directory of containers, which counts from the end of the file.
    private static func places(in file: UnsafeRawBufferPointer, _ metadata: ImageMetadata) -> [Range<Int>] {
        var places = MultiPictureIndex.others(in: file)
        var end = file.count
        for item in GainMapXMP.items(metadata.xmp ?? []).reversed() where item.length > 0 && item.length < end {
            if item.semantic == "GainMap" { places.append(end - item.length..<end) }
            end -= item.length
        }
        return places
    }

    /// nil for a picture that is none, such as a preview.
    private static func map(
        at range: Range<Int>, in file: UnsafeRawBufferPointer, picture: ImageHeader, limits: DecodeLimits
    ) throws(CodecError) -> GainMap? {
        let bytes = UnsafeRawBufferPointer(rebasing: file[range])
        let header = try JPEGDecoder(bytes, limits: limits, looksForGainMap: false).header
        guard header.metadata.announcesGainMap else { return nil }
        guard header.layout == .rgbx8 else { throw CodecError(.unsupported, "it has four colours") }
        guard header.width <= picture.width, header.height <= picture.height else {
            throw CodecError(
                .limit, "with \(header.width) × \(header.height) pixels it is larger than its picture")
        }
        let metadata = ImageMetadata(
            xmp: header.metadata.xmp.flatMap(GainMapXMP.meaning), icc: header.metadata.icc,
            gainMapISO: header.metadata.gainMapISO)
        guard metadata.xmp != nil || metadata.gainMapISO != nil else {
            throw CodecError(.damaged, "it does not say what it means")
        }
        return GainMap(
            range: range, width: header.width, height: header.height, isGray: header.isGray, metadata: metadata)
    }
}
