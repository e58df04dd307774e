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
    ///   - geometry: Which part of this picture it is, and how large.
    ///   - format: What the output is written as.
    /// - Returns: The metadata, and what the person should be told about parts that were left out.
    package func outputMetadata(
        _ settings: OutputSettings, color: SourceColor, width: Int, height: Int, geometry: OutputGeometry,
        format: ImageFormat
    ) -> (metadata: ImageMetadata, notes: [String]) {
        let icc = color.embeddedProfile(for: settings.colorSpace)
        let credits = MetadataCredits(artist: settings.artist, copyright: settings.copyright)
        let selected = metadata.selected(settings.metadata, credits, format: format)
        let orientation = Orientation(of: self, settings)
        let edited = selected.metadata.edited(
            forWidth: width, height: height, icc: icc, isTransposed: orientation.isTransposed,
            color: color.exif(in: settings.colorSpace), placement: placement(geometry, orientation, settings),
            format: format)
        return (edited.metadata, selected.notes + edited.notes)
    }

    private func placement(
        _ geometry: OutputGeometry, _ orientation: Orientation, _ settings: OutputSettings
    ) -> PixelPlacement {
        PixelPlacement(
            left: geometry.cropX, top: geometry.cropY, scaleX: Double(geometry.width) / geometry.cropWidth,
            scaleY: Double(geometry.height) / geometry.cropHeight, width: Double(geometry.width),
            height: Double(geometry.height), orientation: orientation.value,
            border: Double(settings.border?.pixels ?? 0), isTilted: settings.straighten != nil,
            isCut: geometry.cropWidth != Double(width) || geometry.cropHeight != Double(height))
    }
}
