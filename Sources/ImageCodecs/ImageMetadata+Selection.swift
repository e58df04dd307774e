import CImageCodecs
import Glibc

extension ImageMetadata {
    /// The parts of the metadata that a person keeps, with the credits that they give.
    ///
    /// - Parameters:
    ///   - selection: What stays of EXIF, XMP, IPTC and the comment; colour profile and resolution always do.
    ///   - credits: Take the place of what the input says, in EXIF and XMP, and in IPTC where the format has it.
    ///   - format: What the output is written as.
    /// - Returns: The metadata, and what the person should be told about parts that could not be read.
    package func selected(
        _ selection: MetadataSelection, _ credits: MetadataCredits, format: ImageFormat
    ) -> (metadata: ImageMetadata, notes: [String]) {
        guard !selection.keepsEverything || !credits.isEmpty else { return (self, []) }
        var result = ImageMetadata(icc: icc, resolution: statedResolution)
        var notes: [String] = []
        result.exif = selectedExif(selection, credits)
        if !selection.keepsNothing, let xmp {
            if let properties = XMPProperties(xmp) {
                result.xmp = properties.edited(
                    keeping: { name in
                        let group = XMPProperties.group(of: name)
                        return selection.keeps(group) && credits.leaves(group, named: name)
                    }, holding: { selection.keeps(.gps) || XMPProperties.group(of: $0) != .gps },
                    adding: credits.node)
            } else {
                notes.append("the XMP was left out, because it is not well formed")
            }
        }
        if result.xmp == nil, !credits.isEmpty { result.xmp = XMPProperties.packet(of: credits.node) }
        let hasIPTC = format == .jpeg
        result.iptc = IPTCRecords.selected(iptc ?? [], selection, hasIPTC ? credits : MetadataCredits())
        if selection.keeps(.description) { result.comment = comment }
        return (result, notes)
    }

    private func selectedExif(_ selection: MetadataSelection, _ credits: MetadataCredits) -> [UInt8]? {
        let input = selection.keepsNothing ? [] : exif ?? []
        guard !input.isEmpty || !credits.isEmpty else { return nil }
        var kept: UInt32 = 0
        for (bit, group) in MetadataGroup.allCases.enumerated() where selection.keeps(group) { kept |= 1 << bit }
        var size = 0
        let edited = input.withUnsafeBufferPointer {
            ic_exif_copy_selected($0.baseAddress, $0.count, kept, credits.artist, credits.copyright, &size)
        }
        guard let edited else { return nil }
        defer { free(edited) }
        return Array(UnsafeBufferPointer(start: edited, count: size))
    }
}
