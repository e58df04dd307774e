import ImageExport

/// A part of an upright picture in the frame of the stored one, which pixels are read and resampled in.
struct StoredFrame {
    /// In stored pixels.
    var x: Double
    var y: Double
    var width: Double
    var height: Double
    /// Pixels of the result before it is turned.
    var resultWidth: Int
    var resultHeight: Int

    /// - Parameters:
    ///   - geometry: In upright pixels.
    ///   - orientation: How the stored picture is turned.
    init(_ geometry: ImageGeometry, orientation: Orientation) {
        let part = geometry.shown
        let value = orientation.value
        (resultWidth, resultHeight) = (geometry.columns.count, geometry.rows.count)
        (x, y, width, height) = (part.x, part.y, part.width, part.height)
        let fromRight = Double(geometry.originalWidth) - part.x - part.width
        let fromBottom = Double(geometry.originalHeight) - part.y - part.height
        if orientation.isTransposed {
            // Stored columns are upright rows (from the bottom in 7 and 8), stored rows upright columns (from the right in 6, 7).
            (resultWidth, resultHeight) = (resultHeight, resultWidth)
            (width, height) = (part.height, part.width)
            x = value >= 7 ? fromBottom : part.y
            y = value == 6 || value == 7 ? fromRight : part.x
        } else {
            if value == 2 || value == 3 { x = fromRight }
            if value == 3 || value == 4 { y = fromBottom }
        }
    }
}
