import ChunkedCompute
import ImageCodecs

/// How much longer than expected the last encode took that a stop cannot end: noise takes ten times as long as sky.
struct EncodeFactor {
    /// Below that the start of an encoder counts for more than the pixels.
    private static let leastSeconds = 0.1

    private var value = 1.0

    /// What is told before an output's encode.
    func encode(of output: ExportPreparation.Output) -> ItemProgress.Encode {
        let hearsStop = CodecCost.hearsStop(output.encode.format)
        return .init(seconds: output.encode.expectedSeconds * (hearsStop ? 1 : value), hearsStop: hearsStop)
    }

    /// - Parameters:
    ///   - output: Has just been encoded.
    ///   - seconds: What that took, wall time.
    mutating func learn(from output: ExportPreparation.Output, seconds: Double) {
        let expected = output.encode.expectedSeconds
        // Several encodes find a quality.
        guard !CodecCost.hearsStop(output.encode.format), output.item.settings.maxBytes == nil,
            expected >= Self.leastSeconds
        else { return }
        value = min(max(seconds / expected, 0.25), 30)
    }
}
