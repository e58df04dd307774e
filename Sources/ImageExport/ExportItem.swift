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

    package init(input: String, outputs: [Output], lane: LaneChoice, limits: DecodeLimits) {
        self.input = input
        self.outputs = outputs
        self.lane = lane
        self.limits = limits
    }
}

/// The back end that runs an item's kernels.
package enum LaneChoice: Codable, Hashable, Sendable {
    case cpu
    /// An OpenCL device by its identity as `bgrun devices` prints it.
    case openCL(device: String)
}

/// What came of one item.
package struct ExportResult: Codable, Hashable, Sendable {
    package enum Status: String, Codable, Sendable {
        /// Every output was written from a sound input.
        case good
        /// Every output was written, but the input has damage; see `notes`.
        case damaged
        /// See `failure`. Nothing was written, but for the outputs listed: those that stood in place when a later one failed.
        case failed
        /// Asked to stop before the outputs were committed; nothing was written.
        case stopped
    }

    package struct Failure: Codable, Hashable, Sendable {
        /// Stable machine code, e.g. `damaged`, `unknownFormat`, `limit`, `unreadable`, `outputExists`, `outputFailed`,
        /// `memoryShare`, `device`, `decoderCrashed`, `decoderHung`.
        package var code: String
        /// One sentence without the file's name.
        package var reason: String

        package init(code: String, reason: String) {
            self.code = code
            self.reason = reason
        }
    }

    package struct Output: Codable, Hashable, Sendable {
        package var path: String
        package var width: Int
        package var height: Int
        package var bytes: Int
        /// XXH3-128 of the file, hexadecimal.
        package var checksum: String

        package init(path: String, width: Int, height: Int, bytes: Int, checksum: String) {
            self.path = path
            self.width = width
            self.height = height
            self.bytes = bytes
            self.checksum = checksum
        }
    }

    /// Seconds of wall time by stage.
    package struct Times: Codable, Hashable, Sendable {
        package var read = 0.0
        package var decode = 0.0
        package var kernels = 0.0
        package var encode = 0.0
        package var commit = 0.0

        package init() {}
    }

    package var status: Status
    package var failure: Failure?
    package var notes: [String] = []
    package var format: ImageFormat?
    /// Stored pixels of the input, width times height.
    package var inputPixels = 0
    package var inputBytes = 0
    /// XXH3-128 of the input, hexadecimal.
    package var inputChecksum = ""
    package var outputs: [Output] = []
    package var times = Times()
    /// Peak bytes the item's buffers held.
    package var workingBytes = 0

    package init(status: Status) {
        self.status = status
    }
}
