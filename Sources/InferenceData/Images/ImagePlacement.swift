/// Where the pixels of a tensor come from in the upright picture.
package struct ImagePlacement: Codable, Hashable, Sendable {
    /// The upright picture.
    package var originalWidth: Int
    package var originalHeight: Int
    /// The tensor.
    package var width: Int
    package var height: Int
    /// Tensor pixels for one pixel of the picture.
    package var scaleX: Double
    package var scaleY: Double
    /// Where the picture's corner lies in the tensor; negative where it is cut off.
    package var offsetX: Double
    package var offsetY: Double

    package init(
        originalWidth: Int, originalHeight: Int, width: Int, height: Int, scaleX: Double, scaleY: Double,
        offsetX: Double, offsetY: Double
    ) {
        self.originalWidth = originalWidth
        self.originalHeight = originalHeight
        self.width = width
        self.height = height
        self.scaleX = scaleX
        self.scaleY = scaleY
        self.offsetX = offsetX
        self.offsetY = offsetY
    }

    /// A position in the tensor as one in the picture. Both count from the outer corner of the first pixel.
    package func original(x: Double, y: Double) -> (x: Double, y: Double) {
        ((x - offsetX) / scaleX, (y - offsetY) / scaleY)
    }
}
