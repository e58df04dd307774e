/// Where the pixels of an input lie in its output: a part of the stored picture, resized, made upright and framed.
package struct PixelPlacement: Sendable {
    /// The part that is shown, in stored pixels.
    package var left: Double
    package var top: Double
    /// Output pixels of one stored pixel, along stored rows and columns.
    package var scaleX: Double
    package var scaleY: Double
    /// The resized part's size before it is made upright.
    package var width: Double
    package var height: Double
    /// EXIF's orientation that makes it upright, 1 ... 8.
    package var orientation: Int
    /// The width of a frame around it, in pixels.
    package var border: Double
    /// It was turned by an angle that is no quarter.
    package var isTilted: Bool
    /// Some of the stored picture is not shown.
    package var isCut: Bool

    package init(
        left: Double, top: Double, scaleX: Double, scaleY: Double, width: Double, height: Double, orientation: Int,
        border: Double = 0, isTilted: Bool = false, isCut: Bool = false
    ) {
        (self.left, self.top, self.scaleX, self.scaleY) = (left, top, scaleX, scaleY)
        (self.width, self.height, self.orientation) = (width, height, orientation)
        (self.border, self.isTilted, self.isCut) = (border, isTilted, isCut)
    }

    /// Pixels lie as they did, if perhaps more or less of them.
    var keepsShape: Bool { orientation == 1 && border == 0 && !isTilted && !isCut }

    /// Every pixel is where it was.
    var isIdentity: Bool { keepsShape && scaleX == 1 && scaleY == 1 }

    var isTransposed: Bool { orientation >= 5 }

    /// Where a place of the stored picture is in the output; nil outside of what is shown.
    func output(x: Double, y: Double) -> (x: Double, y: Double)? {
        let (x, y) = ((x - left) * scaleX, (y - top) * scaleY)
        guard !isTilted, (0...width).contains(x), (0...height).contains(y) else { return nil }
        let upright =
            switch orientation {
            case 2: (width - x, y)
            case 3: (width - x, height - y)
            case 4: (x, height - y)
            case 5: (y, x)
            case 6: (height - y, x)
            case 7: (height - y, width - x)
            case 8: (y, width - x)
            default: (x, y)
            }
        return (upright.0 + border, upright.1 + border)
    }
}
