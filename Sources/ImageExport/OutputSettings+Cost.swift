import ImageCodecs

extension OutputSettings {
    /// Pixels for a byte of a camera's JPEG, of about 3 bits a pixel.
    private static let pixelsPerByte = 8.0 / 3
    /// Of the longer side, for most cameras.
    private static let shorterSide = 2.0 / 3

    /// What encoding an output takes on one core, guessed before its input is opened.
    package func encodingSeconds(inputBytes: Int64) -> Double {
        let whole = Double(inputBytes) * Self.pixelsPerByte
        let asked: Double =
            switch size {
            case .original: whole
            case .longEdge(let edge): Double(edge) * Double(edge) * Self.shorterSide
            case .fit(let width, let height), .fill(let width, let height): Double(width) * Double(height)
            case .megapixels(let millions): millions * 1e6
            }
        let pixels = enlarge ? asked : min(asked, whole)
        return CodecCost.encoding(format ?? .jpeg, optimize: optimize, lossless: lossless) * pixels / 1e6
    }
}
