import ImageCodecs

/// Brings a logo to the size that an output needs, by way of the pipeline that pictures take.
enum MarkPicture {
    /// The largest size that fits into a box.
    ///
    /// - Throws: ``ExportFailure`` and ``CodecError`` where the file cannot be read or decoded, or not all of it.
    static func read(
        _ path: String, width: Int, height: Int, space: OutputColorSpace, _ paint: Paint, _ lanes: Lanes,
        _ limits: DecodeLimits, _ pulse: CodecPulse
    ) throws -> MarkMaker.Raster {
        var settings = OutputSettings()
        settings.size = .fit(width: width, height: height)
        settings.enlarge = true
        settings.format = .png
        settings.colorSpace = space == .keep ? .srgb : space
        settings.exact = true
        let picture = try PictureRenderer(lanes: lanes).render(path, settings, limits: limits, pulse: pulse)
        // An input that is damaged is told of; a logo would be on all pictures before somebody looks.
        if let damage = picture.damage.first { throw ExportFailure("watermark", "it is damaged: \(damage)") }
        var samples = picture.bytes.enumerated().map { place, byte in
            place % 4 == 3 && !picture.hasAlpha ? UInt16.max : UInt16(byte) * 257
        }
        if space == .keep { paint.convert(&samples) }
        return MarkMaker.Raster(width: picture.width, height: picture.height, samples: samples)
    }
}
