import ImageCodecs

/// Sizes of one output, worked out in the stored (not yet upright) frame that pixels are processed in.
package struct OutputGeometry: Hashable, Sendable {
    /// Output pixels before the orientation is applied.
    package var width: Int
    package var height: Int
    /// The part of the stored picture that is shown, in stored pixels.
    package var cropX: Double
    package var cropY: Double
    package var cropWidth: Double
    package var cropHeight: Double
    /// Orientations 5 to 8 swap width and height.
    package let isTransposed: Bool

    package var uprightWidth: Int { isTransposed ? height : width }
    package var uprightHeight: Int { isTransposed ? width : height }

    /// - Parameters:
    ///   - width: Stored width of the input.
    ///   - height: Stored height of the input.
    ///   - orientation: What makes the stored picture upright.
    ///   - size: What is asked for, in upright pixels.
    ///   - enlarge: Whether a small input grows.
    ///   - straighten: Degrees by which the upright picture is turned.
    ///   - crop: What is left of the turned picture.
    ///   - gravity: Which part of that a size that cuts keeps, in the upright picture.
    /// - Throws: ``ExportFailure`` where the crop leaves nothing.
    package init(
        width: Int, height: Int, orientation: Orientation, size: OutputSize, enlarge: Bool, straighten: Double? = nil,
        crop: Crop? = nil, gravity: Placement = .center
    ) throws(ExportFailure) {
        isTransposed = orientation.isTransposed
        let stored = (width: Double(width), height: Double(height))
        let upright = isTransposed ? (width: stored.height, height: stored.width) : stored
        var part = Crop.Part(width: upright.width, height: upright.height)
        if let straighten {
            part = RotationPlan.inner(degrees: straighten, width: upright.width, height: upright.height)
        }
        if let crop {
            guard var left = crop.part(width: part.width, height: part.height) else {
                throw ExportFailure(
                    "crop", "the crop lies outside of the picture, which is \(Int(part.width))x\(Int(part.height))")
            }
            left.x += part.x
            left.y += part.y
            part = left
        }
        let (w, h) = (part.width, part.height)
        func scaled(_ factor: Double) -> (Int, Int) {
            let factor = enlarge ? factor : min(factor, 1)
            return (max(1, Int((w * factor).rounded())), max(1, Int((h * factor).rounded())))
        }
        var target: (Int, Int)
        switch size {
        case .original: target = (Int(w), Int(h))
        case .longEdge(let edge): target = scaled(Double(edge) / max(w, h))
        case .fit(let width, let height): target = scaled(min(Double(width) / w, Double(height) / h))
        case .fill(let width, let height):
            var factor = max(Double(width) / w, Double(height) / h)
            target = (width, height)
            if !enlarge, factor > 1 {
                // Too small to cover the box: its shape is kept, at the scale of the input.
                target = (
                    max(1, Int((Double(width) / factor).rounded())), max(1, Int((Double(height) / factor).rounded()))
                )
                factor = 1
            }
            let span = (width: min(Double(target.0) / factor, w), height: min(Double(target.1) / factor, h))
            // Where nothing is scaled, nothing is moved by less than a pixel either.
            func start(_ free: Double, _ fraction: Double) -> Double {
                factor == 1 ? (free * fraction).rounded(.down) : free * fraction
            }
            part.x += start(w - span.width, gravity.x)
            part.y += start(h - span.height, gravity.y)
            (part.width, part.height) = span
        case .megapixels(let millions):
            let most = (millions * 1e6 / (w * h)).squareRoot()
            let factor = enlarge ? most : min(most, 1)
            // One side of a thin picture cannot become shorter than a pixel.
            let longest = max(1, Int(millions * 1e6))
            target = (min(max(1, Int(w * factor)), longest), min(max(1, Int(h * factor)), longest))
        }
        let place = orientation.stored(part, width: stored.width, height: stored.height)
        (cropX, cropY, cropWidth, cropHeight) = (place.x, place.y, place.width, place.height)
        (self.width, self.height) = isTransposed ? (target.1, target.0) : target
    }

    /// - Throws: As ``init(width:height:orientation:size:enlarge:straighten:crop:gravity:)``.
    init(of header: ImageHeader, _ settings: OutputSettings) throws(ExportFailure) {
        try self.init(
            width: header.width, height: header.height, orientation: Orientation(of: header, settings),
            size: settings.size, enlarge: settings.enlarge, straighten: settings.straighten, crop: settings.crop,
            gravity: settings.gravity ?? .center)
    }

    /// Stored pixels of the input are output pixels: nothing to resample.
    package func isIdentity(storedWidth: Int, storedHeight: Int) -> Bool {
        width == storedWidth && height == storedHeight && cropWidth == Double(storedWidth)
            && cropHeight == Double(storedHeight)
    }

    /// The same part of a picture of another size, in proportion.
    func scaled(from: (width: Int, height: Int), to: (width: Int, height: Int)) -> OutputGeometry {
        var copy = self
        copy.cropX = cropX * Double(to.width) / Double(from.width)
        copy.cropWidth = cropWidth * Double(to.width) / Double(from.width)
        copy.cropY = cropY * Double(to.height) / Double(from.height)
        copy.cropHeight = cropHeight * Double(to.height) / Double(from.height)
        copy.width = max(1, (2 * width * to.width + from.width) / (2 * from.width))
        copy.height = max(1, (2 * height * to.height + from.height) / (2 * from.height))
        return copy
    }

    /// Samples of a reduced picture that show nothing but what is exported: what was cut off has no say in a resize.
    ///
    /// - Parameters:
    ///   - pixels: The stored picture's size.
    ///   - samples: Its size after the reduction.
    ///   - pixelsPerSample: Stored pixels that one sample stands for, across and down.
    /// - Returns: Places of columns and of rows.
    func samples(
        of pixels: (width: Int, height: Int), reducedTo samples: (width: Int, height: Int),
        pixelsPerSample: (Double, Double)
    ) -> (columns: Range<Int>, rows: Range<Int>) {
        let columns = Resampling.Part.samples(
            showing: cropX, cropWidth, pixels: pixels.width, samples: samples.width,
            pixelsPerSample: pixelsPerSample.0)
        let rows = Resampling.Part.samples(
            showing: cropY, cropHeight, pixels: pixels.height, samples: samples.height,
            pixelsPerSample: pixelsPerSample.1)
        return (columns, rows)
    }

    /// How many stored pixels one output pixel covers, the smaller of both directions.
    package var reduction: Double { min(cropWidth / Double(width), cropHeight / Double(height)) }
}

extension Orientation {
    /// What makes the stored picture upright and turns it as an output wants it.
    init(of header: ImageHeader, _ settings: OutputSettings) {
        self = Orientation(header.orientation).turned(settings.turns ?? 0)
    }

    /// Degrees by which the stored picture is turned, so that the upright one is as the settings say; nil for none.
    func rotation(_ settings: OutputSettings) -> Double? { settings.straighten.map { isMirrored ? -$0 : $0 } }
}
