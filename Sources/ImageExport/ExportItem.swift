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
    /// Settings of all outputs of this input, those that are there already included: they choose the scale of decoding,
    /// so that an output is the same whichever others are made with it.
    package var decodedFor: [OutputSettings]
    /// Where the kernels run.
    package var lane: LaneChoice
    package var limits: DecodeLimits
    /// As ``EncodeRequest/cores``.
    package var cores: Int

    /// Without `decodedFor` the outputs are all there are.
    package init(
        input: String, outputs: [Output], decodedFor: [OutputSettings]? = nil, lane: LaneChoice, limits: DecodeLimits,
        cores: Int = 1
    ) {
        self.input = input
        self.outputs = outputs
        self.decodedFor = decodedFor ?? outputs.map(\.settings)
        self.lane = lane
        self.limits = limits
        self.cores = cores
    }
}
