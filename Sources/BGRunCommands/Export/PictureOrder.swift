import ChunkedCompute
import ImageCodecs
import ImageExport

/// What the pictures of a job have in common.
struct PictureTerms: Codable, Sendable {
    /// Of all outputs of each input, made or not.
    var settings: [OutputSettings]
    /// The memory is that of each picture.
    var limits: DecodeLimits
}

/// One picture, as a worker gets it.
struct PictureOrder: Codable, Sendable {
    struct Output: Codable, Sendable {
        /// Place among ``PictureTerms/settings``.
        var settings: Int
        /// Where the settings have none, that of the input or what stands for it.
        var format: ImageFormat
        /// Final path; its folder exists or is made.
        var path: String
        /// An existing file at `path` may be replaced.
        var mayReplace: Bool

        /// Its settings with its format.
        func settings(among all: [OutputSettings]) -> OutputSettings {
            var settings = all[settings]
            settings.format = format
            return settings
        }
    }

    var input: String
    var outputs: [Output]
    /// Where the kernels run.
    var lane: LaneChoice
    /// Bytes that its buffers may take together.
    var claimBytes: Int
    /// Cores that it may keep busy at once.
    var cores = 1

    /// Lets its outputs replace files of their names.
    mutating func replaceOutputs() {
        for place in outputs.indices { outputs[place].mayReplace = true }
    }

    func item(_ terms: PictureTerms) -> ExportItem {
        var limits = terms.limits
        limits.maxWorkingBytes = claimBytes
        return ExportItem(
            input: input,
            outputs: outputs.map {
                .init(settings: $0.settings(among: terms.settings), path: $0.path, mayReplace: $0.mayReplace)
            },
            lane: lane, limits: limits, cores: cores)
    }
}
