package import ImageCodecs

extension ImageHeader {
    /// The metadata of an output of this picture: what the settings keep of the input's, for an upright picture of the
    /// output's size, the profile of its colours, and how many pixels an inch has on paper.
    ///
    /// - Parameters:
    ///   - settings: Of the output.
    ///   - color: Of this header.
    ///   - width: The output's, in pixels.
    ///   - height: The output's, in pixels.
    ///   - format: What the output is written as.
    /// - Returns: The metadata, and what the person should be told about parts that were left out.
    package func outputMetadata(
        _ settings: OutputSettings, color: SourceColor, width: Int, height: Int, format: ImageFormat
    ) -> (metadata: ImageMetadata, notes: [String]) {
        let icc = color.embeddedProfile(for: settings.colorSpace)
        let credits = MetadataCredits(artist: settings.artist, copyright: settings.copyright)
        let selected = metadata.selected(settings.metadata, credits, format: format)
        let edited = selected.metadata.edited(
            forWidth: width, height: height, icc: icc, isTransposed: Orientation(of: self, settings).isTransposed,
            color: color.exif(in: settings.colorSpace),
            format: format)
        return (edited.metadata, selected.notes + edited.notes)
    }
}
