import ChunkedCompute
import TaskStore

/// How one input ended: a line of the report.
struct InputRecord: Codable, Hashable, Sendable {
    enum Status: String, Codable, Sendable {
        case good
        /// The outputs were made of what could be read.
        case damaged
        case failed
        /// Nothing had to be done: the outputs were there, or the file is no picture.
        case skipped
    }

    struct Output: Codable, Hashable, Sendable {
        var path: String
        var width: Int
        var height: Int
        var bytes: Int
        /// XXH3-128, hexadecimal.
        var checksum: String
    }

    var input: String
    var status: Status
    /// Machine code of why it failed or was skipped.
    var code: String?
    /// One sentence.
    var reason: String?
    /// The command that makes it anew, where that is known.
    var remedy: String?
    var notes: [String] = []
    var format: String?
    var inputBytes = 0
    var inputPixels = 0
    var inputChecksum: String?
    var outputs: [Output] = []
    /// `cpu`, or the device that ran the kernels.
    var device: String?
    /// From hand-out to result, wall time.
    var seconds: Double?
    var times: ItemResult.Times?
    var workingBytes: Int?

    /// Counts towards status 65. A picture may be good, and yet not all of its outputs be there.
    var isFailure: Bool {
        switch status {
        case .failed, .damaged: true
        case .good: code != nil
        case .skipped: code == "keptDamaged" || code == Self.outputExists
        }
    }

    static let outputExists = "outputExists"
}

extension InputRecord {
    init(problem: InputProblem) {
        self.init(input: problem.path, status: .failed, code: problem.code, reason: problem.reason)
    }

    init(notAPicture file: InputFile) {
        self.init(
            input: file.path, status: .skipped, code: "notAPicture",
            reason: "the file is not a picture that bgrun reads",
            inputBytes: Int(file.identity.size))
    }

    /// An input whose result is there already.
    init(current input: String) {
        self.init(input: input, status: .skipped, code: "current", reason: "its result is there already")
    }

    /// An output that is there already.
    struct Current: Sendable {
        var output: Output
        var inputChecksum: String
        /// What was wrong with its input; nil where nothing was.
        var damage: String?

        init(path: String, _ output: CurrentOutputs.Output) {
            self.output = Output(
                path: path, width: output.width, height: output.height, bytes: output.bytes, checksum: output.checksum)
            inputChecksum = output.inputChecksum
            damage = output.damage
        }
    }

    init(_ file: InputFile, current: [Current]) {
        let damage = current.lazy.compactMap(\.damage).first
        self.init(
            input: file.path, status: .skipped, code: damage == nil ? "current" : "keptDamaged",
            reason: damage ?? "the outputs are there already",
            inputBytes: Int(file.identity.size), inputChecksum: current.first?.inputChecksum,
            outputs: current.map(\.output))
    }

    init(_ file: InputFile, _ result: ItemResult, current: [Output], device: String, seconds: Double) {
        let isStranger =
            !file.isNamed && result.failure?.code == "unknownFormat" && !PictureNames.promisePicture(file.name)
        let status: Status =
            switch result.status {
            case .good: .good
            case .damaged: .damaged
            case .failed, .stopped: isStranger ? .skipped : .failed
            }
        self.init(
            input: file.path, status: status, code: isStranger ? "notAPicture" : result.failure?.code,
            reason: result.failure?.reason ?? (status == .damaged ? result.damage.joined(separator: "; ") : nil),
            notes: result.notes, format: result.format,
            inputBytes: max(result.inputBytes, Int(file.identity.size)), inputPixels: result.inputPixels,
            inputChecksum: result.inputChecksum.isEmpty ? nil : result.inputChecksum,
            outputs: current + result.outputs.map { Output($0) }, device: device,
            seconds: seconds, times: result.times, workingBytes: result.workingBytes)
    }
}

extension InputRecord {
    /// Adds that some outputs are not made, beside what became of the others.
    mutating func addMissing(_ outputs: [ItemResult.Failure]) {
        guard let first = outputs.first, status != .failed, code != "notAPicture" else { return }
        let told = isFailure ? [reason].compactMap(\.self) : []
        (code, reason) = (first.code, (told + outputs.map(\.reason)).joined(separator: "; "))
        if status == .skipped, self.outputs.isEmpty { status = .failed }
    }
}

extension InputRecord.Output {
    fileprivate init(_ output: ItemResult.Output) {
        self.init(
            path: output.path, width: output.width, height: output.height, bytes: output.bytes,
            checksum: output.checksum)
    }
}
