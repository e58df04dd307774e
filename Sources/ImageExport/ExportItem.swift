package import ChunkedCompute
package import ImageCodecs

/// One input and the files to make from it: the unit that is scheduled, journaled and reported.
package struct ExportItem: Codable, Hashable, Sendable {
    package struct Output: Codable, Hashable, Sendable {
        package var settings: OutputSettings
        /// Final path; its folder exists or is made.
        package var path: String
        /// An existing file at `path` may be replaced.
        package var mayReplace: Bool

        package init(settings: OutputSettings, path: String, mayReplace: Bool) {
            self.settings = settings
            self.path = path
            self.mayReplace = mayReplace
        }
    }

    package var input: String
    package var outputs: [Output]
    /// Where the kernels run.
    package var lane: LaneChoice
    package var limits: DecodeLimits
    /// As ``EncodeRequest/cores``.
    package var cores: Int

    package init(
        input: String, outputs: [Output], lane: LaneChoice, limits: DecodeLimits, cores: Int = 1
    ) {
        self.input = input
        self.outputs = outputs
        self.lane = lane
        self.limits = limits
        self.cores = cores
    }
}
