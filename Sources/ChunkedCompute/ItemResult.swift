/// The back end that runs an item's kernels.
package enum LaneChoice: Codable, Hashable, Sendable {
    case cpu
    /// An OpenCL device by its identity as `bgrun devices` prints it.
    case openCL(device: String)
}

/// What a running item tells its host between two chunks.
package struct ItemProgress: Sendable {
    /// Parts done and to do, e.g. rows of the source or steps of a model; for a live display and for telling a hang from
    /// work.
    package var done: Int
    package var total: Int
    /// A codec that may not report on its way runs next; on a common machine it takes about so long.
    package var silentSeconds: Double?
    /// That codec is an encoder, which ends the item or a part of it.
    package var encode: Encode?
    /// The outputs are put in their places next.
    package var commits = false
    /// It shows that the item gets on; without that it only asks whether to.
    package var isSign = true
    /// A model is prepared or run with what the input gave: a crash from here on is the model's.
    package var runsModel = false

    package init(
        done: Int, total: Int, silentSeconds: Double? = nil, encode: Encode? = nil, commits: Bool = false
    ) {
        self.done = done
        self.total = total
        self.silentSeconds = silentSeconds
        self.encode = encode
        self.commits = commits
    }

    /// One encode of one output.
    package struct Encode: Codable, Hashable, Sendable {
        /// What it takes on a common machine.
        package var seconds: Double
        /// It can be stopped on its way.
        package var hearsStop: Bool

        package init(seconds: Double, hearsStop: Bool) {
            self.seconds = seconds
            self.hearsStop = hearsStop
        }
    }
}

/// What came of one item.
package struct ItemResult: Codable, Hashable, Sendable {
    package enum Status: String, Codable, Sendable {
        /// Every output that can be was written from a sound input.
        case good
        /// Every output that can be was written, but the input has damage; see `damage`.
        case damaged
        /// See `failure`. Nothing was written, but for the outputs listed: those that stood in place when a later one failed.
        case failed
        /// Asked to stop before the outputs were committed; nothing was written.
        case stopped
    }

    package struct Failure: Codable, Hashable, Sendable {
        /// Stable machine code, e.g. `damaged`, `unknownFormat`, `limit`, `unreadable`, `outputExists`, `outputFailed`,
        /// `memoryShare`, `device`, `decoderCrashed`, `decoderHung`, `modelCrashed`, `modelHung`, and of outputs `crop`, `encode`, `tooLarge`,
        /// `unsupported`, `watermark`.
        package var code: String
        /// One sentence without the input's name.
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

    /// One of several inputs of an item that could not be used; the others were.
    package struct Problem: Codable, Hashable, Sendable {
        /// Place among the item's inputs, from 0.
        package var input: Int
        package var failure: Failure

        package init(input: Int, failure: Failure) {
            self.input = input
            self.failure = failure
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
    /// Those of the notes that say what is wrong with the input.
    package var damage: [String] = []
    /// Of the input, where that is known.
    package var format: String?
    /// Stored pixels of the input, width times height.
    package var inputPixels = 0
    package var inputBytes = 0
    /// XXH3-128 of the input, hexadecimal.
    package var inputChecksum = ""
    package var outputs: [Output] = []
    package var problems: [Problem] = []
    /// Of several inputs those that were used although something was wrong with them.
    package var damages: [Problem] = []
    /// Outputs that cannot be made, each with its name in the reason; the others were.
    package var refused: [Failure] = []
    package var times = Times()
    /// Peak bytes the item's buffers held.
    package var workingBytes = 0

    package init(status: Status) {
        self.status = status
    }
}
