package import ImageCodecs
package import Inference

/// Pictures that a model gives, as files.
package struct PictureEncoder: Sendable {
    package var format: ImageFormat
    /// 8, or 16 for PNG.
    package var bitsPerChannel: Int
    /// 1 ... 100 for JPEG and WebP.
    package var quality: Int
    package var lossless: Bool

    package init(format: ImageFormat = .png, bitsPerChannel: Int = 8, quality: Int = 85, lossless: Bool = false) {
        self.format = format
        self.bitsPerChannel = bitsPerChannel
        self.quality = quality
        self.lossless = lossless
    }

    /// The file of one picture.
    ///
    /// - Parameters:
    ///   - picture: `[3, height, width]` or `[1, height, width]` (gray), with or without a leading 1; 0 ... 1, clipped, and 0
    ///     for what is not a number.
    ///   - body: Gets the bytes, which are gone afterwards.
    /// - Throws: `mismatch` for other shapes, `notWritable`.
    package func encode(_ picture: Tensor, _ body: (UnsafeRawBufferPointer) throws(DataError) -> Void) throws(DataError) {
        throw .unsupported(["pictures"])
    }
}
