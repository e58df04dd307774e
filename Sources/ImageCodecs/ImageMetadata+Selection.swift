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
        if !selection.keepsNothing { result.leftOut = leftOut }
        let block = EXIFBlock.selected(exif, selection, credits)
        result.exif = block.block
        notes += block.notes
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
        if selection.keepsEverything {
            result.extendedXMP = extendedXMP
        } else if extendedXMP != nil, !selection.keepsNothing {
            notes.append("extended XMP was left out, as it may tell what was taken out")
        }
        let hasIPTC = [.jpeg, .tiff].contains(format)
        result.iptc = IPTCRecords.selected(iptc ?? [], selection, hasIPTC ? credits : MetadataCredits())
        let others = PhotoshopResources.others(iptc ?? [])
        if selection.keepsEverything {
            if !others.isEmpty { result.iptc = (result.iptc ?? []) + others }
        } else if !selection.keepsNothing, !PhotoshopResources.withoutThumbnails(others).resources.isEmpty {
            notes.append("Photoshop's other resources were left out, as they may tell what was taken out")
        }
        if selection.keeps(.description) { result.comment = comment }
        return (result, notes)
    }
}
