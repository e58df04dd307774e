package import ImageCodecs

/// How large an output is. Sizes count upright pixels, after EXIF orientation.
package enum OutputSize: Codable, Hashable, Sendable {
    /// The size of the input.
    case original
    /// The longer edge gets this length.
    case longEdge(Int)
    /// The largest size that fits into the box.
    case fit(width: Int, height: Int)
    /// Exactly the box; what sticks out at the longer side is cut off, evenly without an ``OutputSettings/gravity``.
    case fill(width: Int, height: Int)
    /// The largest size of at most so many million pixels.
    case megapixels(Double)

    /// Parts of the picture may be left out.
    package var cuts: Bool { if case .fill = self { true } else { false } }
}

package enum OutputColorSpace: String, Codable, Hashable, Sendable, CaseIterable {
    case srgb, displayP3 = "display-p3"
    /// The profile of the input is kept.
    case keep
}

/// Unsharp mask on luma: `y + amount * (y - gaussian(y, sigma))`, at output size.
package struct Sharpening: Codable, Hashable, Sendable {
    /// 0 ... 5; 1 doubles the detail above `sigma`.
    package var amount: Double
    /// Standard deviation of the blur in output pixels, 0.3 ... 3.
    package var sigma: Double

    package init(amount: Double, sigma: Double) {
        self.amount = amount
        self.sigma = sigma
    }
}

/// Everything that decides the bytes of one output. Its JSON form with sorted keys is the identity that tells
/// whether an existing file was made with the same settings.
package struct OutputSettings: Codable, Hashable, Sendable {
    package var size: OutputSize = .original
    /// Small pictures are enlarged to `size` only when this is set.
    package var enlarge = false
    /// Which part of the picture `fill` keeps; nil is the middle.
    package var gravity: Placement?
    /// nil: the input's own format where it can be written, else JPEG.
    package var format: ImageFormat?
    /// 1 ... 100; nil is the format's default (``ImageFormat/defaultQuality``).
    package var quality: Int?
    /// The quality is lowered until the file has at most so many bytes; only for formats with a quality.
    package var maxBytes: Int?
    /// One of ``ImageFormat/writtenBits``; nil: the most of these where the input has more than 8, else 8.
    package var bitsPerChannel: Int?
    package var colorSpace: OutputColorSpace = .srgb
    /// Average light, not gamma-coded values, when resizing.
    package var linearLight = false
    /// Decode at full scale and resize from there; without it a JPEG may be decoded at 4, 2 or 1 eighths first.
    package var exact = false
    package var sharpening: Sharpening?
    /// A picture that is put onto each output.
    package var pictureMark: PictureMark?
    /// A line of text that is put onto each output.
    package var textMark: TextMark?
    /// Quarter turns clockwise of the upright picture, 1 ... 3; nil for none.
    package var turns: Int?
    /// Degrees clockwise by which the picture is turned besides, -45 ... 45. Of what is then seen, the largest part of its shape
    /// without empty corners is left; nil for none.
    package var straighten: Double?
    /// What is left of the turned picture; nil for all. Sizes are of this.
    package var crop: Crop?
    package var border: Border?
    /// What changes the picture's look, in this order; nil for nothing.
    package var operations: [ImageOperation]?
    /// Colour (8-bit R, G, B) under clear parts where the output has no alpha.
    package var matte: [UInt8] = [255, 255, 255]
    package var metadata: MetadataSelection = .keep
    /// A gain map of the input does not come along; nil keeps it where it can be kept.
    package var leavesOutGainMap: Bool?
    /// Takes the place of who made the picture by its metadata.
    package var artist: String?
    /// Takes the place of the notice in its metadata.
    package var copyright: String?
    package var lossless = false
    package var optimize = false
    package var progressive = false
    package var fullChroma = false
    /// What becomes of a camera's raw file, the same for all outputs of an input; nil develops it.
    package var raw: RawHandling?

    package init() {}

    /// Those of ``operations`` that change something.
    var effectiveOperations: [ImageOperation] { (operations ?? []).filter { !$0.changesNothing } }
}
