package import Inference

/// Runs an image-to-image model over a picture tile by tile: the same values as in one go, but for rounding, where the
/// margin is as large as the model looks.
package enum TiledRun {
    /// - Parameters:
    ///   - picture: float32 `[1, channels, height, width]`.
    ///   - plan: For a picture of that size.
    ///   - model: Gives for a tile `[1, c, h, w]` the result `[1, d, h * factor, w * factor]`, with one whole factor.
    /// - Returns: float32 `[1, d, height * factor, width * factor]`.
    /// - Throws: `mismatch` for other shapes, and what `model` throws.
    package static func run(
        _ picture: Tensor, plan: TilePlan, model: (Tensor) throws(DataError) -> Tensor
    ) throws(DataError) -> Tensor { throw .unsupported(["tiles"]) }
}
