/// Sizes of one picture on its way into a tensor, in upright pixels.
struct ImageGeometry: Hashable {
    /// Of the tensor.
    var width: Int
    var height: Int
    /// Of the whole picture after the resize.
    var resizedWidth: Int
    var resizedHeight: Int
    /// Where the resized picture's corner lies in the tensor; negative where it is cut off.
    var left: Int
    var top: Int
    let originalWidth: Int
    let originalHeight: Int

    /// - Parameters:
    ///   - preset: Valid.
    ///   - width: Of the upright picture.
    ///   - height: Of the upright picture.
    init(_ preset: ImagePreset, width: Int, height: Int) {
        originalWidth = width
        originalHeight = height
        var resized = (width: width, height: height)
        if let size = preset.size {
            // The quotients are formed as torchvision and Ultralytics form them, so that fractions fall to the same side.
            switch preset.resize {
            case .none: break
            case .exact: resized = (size.width, size.height)
            case .shorter:
                let edge = min(size.width, size.height)
                resized =
                    width <= height ? (edge, Self.share(edge, height, width)) : (Self.share(edge, width, height), edge)
            case .longer:
                let factor = Double(max(size.width, size.height)) / Double(max(width, height))
                resized = (Self.rounded(width, factor), Self.rounded(height, factor))
            case .letterbox:
                let factor = min(Double(size.width) / Double(width), Double(size.height) / Double(height))
                resized = (
                    min(Self.rounded(width, factor), size.width), min(Self.rounded(height, factor), size.height)
                )
            }
        }
        (resizedWidth, resizedHeight) = resized
        if preset.resize == .letterbox, let size = preset.size {
            (self.width, self.height) = (size.width, size.height)
            left = (size.width - resized.width) / 2
            top = (size.height - resized.height) / 2
        } else if let crop = preset.crop {
            (self.width, self.height) = (crop.width, crop.height)
            left = Self.lead(resized.width, crop.width)
            top = Self.lead(resized.height, crop.height)
        } else {
            (self.width, self.height) = resized
            (left, top) = (0, 0)
        }
    }

    /// `edge * long / short` without its fraction.
    private static func share(_ edge: Int, _ long: Int, _ short: Int) -> Int {
        max(1, Int((Double(edge) * Double(long) / Double(short)).rounded(.down)))
    }

    private static func rounded(_ length: Int, _ factor: Double) -> Int {
        max(1, Int((Double(length) * factor).rounded(.toNearestOrEven)))
    }

    /// Where a picture lies in a crop around its middle: halves go to the even pixel where it is cut off, and to the far side
    /// where there is room, as torchvision's centre crop has it.
    private static func lead(_ length: Int, _ crop: Int) -> Int {
        length >= crop
            ? -Int((Double(length - crop) / 2).rounded(.toNearestOrEven)) : (crop - length) / 2
    }

    /// Columns of the tensor that show the picture.
    var columns: Range<Int> { max(0, left)..<min(width, left + resizedWidth) }
    /// Rows of the tensor that show the picture.
    var rows: Range<Int> { max(0, top)..<min(height, top + resizedHeight) }

    /// Pixels of the picture for one of the tensor, the smaller of both directions.
    var reduction: Double {
        min(Double(originalWidth) / Double(resizedWidth), Double(originalHeight) / Double(resizedHeight))
    }

    var placement: ImagePlacement {
        ImagePlacement(
            originalWidth: originalWidth, originalHeight: originalHeight, width: width, height: height,
            scaleX: Double(resizedWidth) / Double(originalWidth),
            scaleY: Double(resizedHeight) / Double(originalHeight),
            offsetX: Double(left), offsetY: Double(top))
    }

    /// The part of the upright picture that the tensor shows, in its pixels.
    var shown: (x: Double, y: Double, width: Double, height: Double) {
        let x = Double(originalWidth) / Double(resizedWidth)
        let y = Double(originalHeight) / Double(resizedHeight)
        return (
            Double(columns.lowerBound - left) * x, Double(rows.lowerBound - top) * y, Double(columns.count) * x,
            Double(rows.count) * y
        )
    }
}
