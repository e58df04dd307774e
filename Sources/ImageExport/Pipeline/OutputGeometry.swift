import ImageCodecs

/// Sizes of one output, worked out in the stored (not yet upright) frame that pixels are processed in.
package struct OutputGeometry: Hashable, Sendable {
    /// Output pixels before the orientation is applied.
    package var width: Int
    package var height: Int
    /// The part of the stored picture that is shown, in stored pixels.
    package var cropX = 0.0
    package var cropY = 0.0
    package var cropWidth: Double
    package var cropHeight: Double
    /// Orientations 5 to 8 swap width and height.
    package let isTransposed: Bool

    package var uprightWidth: Int { isTransposed ? height : width }
    package var uprightHeight: Int { isTransposed ? width : height }

    /// - Parameters:
    ///   - width: Stored width of the input.
    ///   - height: Stored height of the input.
    ///   - orientation: EXIF orientation 1 ... 8.
    ///   - size: What is asked for, in upright pixels.
    ///   - enlarge: Whether a small input grows.
    ///   - gravity: Which part a size that cuts keeps, in the upright picture.
    package init(
        width: Int, height: Int, orientation: Int, size: OutputSize, enlarge: Bool, gravity: Placement = .center
    ) {
        isTransposed = orientation >= 5
        cropWidth = Double(width)
        cropHeight = Double(height)
        let stored = (width: Double(width), height: Double(height))
        let (w, h) = isTransposed ? (stored.height, stored.width) : stored
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
            let span = (min(Double(target.0) / factor, w), min(Double(target.1) / factor, h))
            (cropWidth, cropHeight) = isTransposed ? (span.1, span.0) : span
            let place = gravity.stored(orientation: orientation)
            cropX = (stored.width - cropWidth) * place.x
            cropY = (stored.height - cropHeight) * place.y
        case .megapixels(let millions):
            let most = (millions * 1e6 / (w * h)).squareRoot()
            let factor = enlarge ? most : min(most, 1)
            target = (max(1, Int(w * factor)), max(1, Int(h * factor)))
        }
        (self.width, self.height) = isTransposed ? (target.1, target.0) : target
    }

    init(of header: ImageHeader, _ settings: OutputSettings) {
        self.init(
            width: header.width, height: header.height, orientation: header.orientation, size: settings.size,
            enlarge: settings.enlarge, gravity: settings.gravity ?? .center)
    }

    /// Stored pixels of the input are output pixels: nothing to resample.
    package func isIdentity(storedWidth: Int, storedHeight: Int) -> Bool {
        width == storedWidth && height == storedHeight && cropWidth == Double(storedWidth)
            && cropHeight == Double(storedHeight)
    }

    /// How many stored pixels one output pixel covers, the smaller of both directions.
    package var reduction: Double { min(cropWidth / Double(width), cropHeight / Double(height)) }
}
