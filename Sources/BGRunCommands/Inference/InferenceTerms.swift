import ChunkedCompute
import Foundation
import ImageCodecs
import Inference
import InferenceData
import SystemText

/// What the batches of a job have in common: all that decides their results, but for the inputs.
struct InferenceTerms: Codable, Hashable, Sendable {
    var model: ModelTerms
    /// Sizes of extents that the model leaves open.
    var extents: [String: Int] = [:]
    /// The most inputs in a batch, but for those that fill up what goes through the model at once, and the most of these.
    var batch: Int
    /// Batches of an array, where nobody said how many inputs they have: what each takes beside its computation counts with
    /// models that are quickly done. Of pictures, how many go through the model at once.
    var rowBatches: RowBatches?
    var precision: PrecisionChoice
    /// How pictures become tensors.
    var preset: ImagePreset
    var text: TextTerms?
    var form: ResultForm
    /// XXH3-128 of ``filesBesideModel``, hexadecimal; empty before they were looked at.
    var checksums: [String] = []

    /// Inputs in a batch, where nobody says how many.
    static let usualBatch = 8
    static let batches = 1...64
    /// The most rows of an array in a batch.
    static let mostRows = 128

    /// Files that workers read beside the inputs.
    var files: [String] { model.files + filesBesideModel }
    var filesBesideModel: [String] { [text?.tokenizer, form.labels].compactMap(\.self) }
}

/// In what numbers the CPU takes the operands of convolutions and products, and devices keep values.
enum PrecisionChoice: String, Codable, Hashable, Sendable, CaseIterable {
    case fp32, bf16
    /// Of devices; the CPU computes with fp32 where it takes over.
    case fp16
    /// bf16 where that differs little from fp32, on inputs that are the same in every worker.
    case auto

    /// How far `auto` may be from fp32, as a share of the largest element of an output.
    static let tolerance = 0.02

    /// How devices keep values.
    var storage: ElementStorage { self == .fp16 ? .float16 : .float32 }

    /// What the CPU does with inputs of some types, all of whose extents are known.
    func precision(_ types: [String: TensorType]) throws(ModelError) -> Precision {
        switch self {
        case .fp32, .fp16: return .float32
        case .bf16: return .bfloat16
        case .auto:
            var sample: [String: Tensor] = [:]
            for (name, type) in types { sample[name] = try .madeUp(type, for: name) }
            return .automatic(tolerance: Self.measuredTolerance, samples: [sample])
        }
    }

    /// Of made up inputs, from which others differ up to 1.7 times as much: noise, on three networks.
    private static var measuredTolerance: Double { tolerance / 2 }

    /// What `auto` chose, and why; `error` is of bf16 on made up inputs, as a share of the largest element of an output.
    static func note(isBFloat16: Bool, error: Double) -> String {
        let (found, most) = (error * 100, measuredTolerance * 100)
        let measured =
            error.isFinite ? String(format: "differs by %.3f %% on made up inputs", found) : "cannot be compared"
        return "precision auto took \(isBFloat16 ? "bf16" : "fp32"): bf16 \(measured), and \(most) % are allowed"
    }
}

extension Tensor {
    /// What an input of that name may be given: floats between -1 and 1, zeros else, but ones for the tokens of a text and for
    /// masks, which would be padding and nothing else. The same for the same type.
    ///
    /// - Throws: `wrongInput` where an extent is open, `tooLarge` where elements cannot be counted, `unsupported` for strings.
    static func madeUp(_ type: TensorType, for name: String) throws(ModelError) -> Tensor {
        guard let shape = type.extents else { throw .wrongInput("\(type) leaves open how large it is") }
        let count = try Inference.Extents.count(shape)
        guard type.elementType.isFloat else {
            let value: Int64 = name == "input_ids" || name.hasSuffix("mask") ? 1 : 0
            return try Tensor(type.elementType, shape: shape, integers: [Int64](repeating: value, count: count))
        }
        let numbers = (0..<count).map { Double(Float($0 &* 7919 % 2001) / 1000 - 1) }
        return try Tensor(type.elementType, shape: shape, doubles: numbers)
    }
}

/// A model, as workers find it.
struct ModelTerms: Codable, Hashable, Sendable {
    /// Absolute path.
    var path: String
    /// XXH3-128 of the model and of the data beside it, hexadecimal; empty before ``look(noting:)``.
    var checksum = ""
    /// Paths of the data beside the model.
    var dataFiles: [String] = []

    var files: [String] { [path] + dataFiles }
    var name: String { SystemFile.name(path) }

    /// Reads the model without its weights, notes what belongs to it, and looks whether this machine can run it.
    ///
    /// - Returns: The model with zeros for large weights.
    /// - Throws: As the importer does, and `engine`.
    mutating func look(noting sideFiles: inout SideFiles) throws(ModelError) -> Model {
        let ownChecksum = sideFiles.note(path)
        let model = try ModelImporter(weights: .leftOut).load(path: path)
        try model.checkSupport()
        try CompiledModel.checkEngine()
        let folder = (path as NSString).deletingLastPathComponent
        dataFiles = model.dataFiles.map { "\(folder)/\($0)" }
        let checksums = [ownChecksum] + dataFiles.map { sideFiles.note($0) }
        checksum = checksums.map { $0 ?? "" }.joined(separator: " ")
        return model
    }
}

/// How texts become tensors.
struct TextTerms: Codable, Hashable, Sendable {
    /// Path of a `tokenizer.json`.
    var tokenizer: String
    /// Tokens in a row; nil takes as many as the longest text of a batch has, rounded up.
    var length: Int?
    /// The field of JSON lines that holds the text.
    var field: String

    static let usualField = "text"
}

/// What is made of a model's outputs.
enum ResultForm: Codable, Hashable, Sendable {
    /// Each output as it is, in a NumPy file of its own.
    case arrays
    /// The likeliest classes.
    case classes(top: Int, softmax: Bool, labels: String?)
    case boxes(confidence: Double, overlap: Double, labels: String?)
    case embeddings(Embeddings.Pooling, normalise: Bool)

    // Where nobody says otherwise.
    static let usualTop = 5
    static let usualConfidence = 0.25
    static let usualOverlap = 0.45
    static let usualPooling = Embeddings.Pooling.mean

    var labels: String? {
        switch self {
        case .classes(_, _, let labels), .boxes(_, _, let labels): labels
        case .arrays, .embeddings: nil
        }
    }
}

/// One batch: the unit that is scheduled, journaled and reported.
struct InferenceItem: Codable, Hashable, Sendable {
    /// A file, or rows of it, that one or more inputs come from.
    struct Source: Codable, Hashable, Sendable {
        var path: String
        var kind: Kind
        /// Inputs of the file, counted from 0: rows of arrays, texts of a text file. Pictures are one input.
        var rows: Range<Int>

        enum Kind: String, Codable, Sendable {
            case picture, array, archive, lines, jsonLines
        }

        /// What reports call an input of it.
        func name(_ row: Int) -> String {
            switch kind {
            case .picture: path
            case .array, .archive: "\(path)[\(row)]"
            case .lines, .jsonLines: "\(path):\(row + 1)"
            }
        }
    }

    /// Open ones come with it in the same order.
    var sources: [Source]
    /// Place of its first input among all inputs of the job.
    var first: Int
    /// Where its lines go; of a job that makes arrays, what there is to know of its rows (``BatchNote``).
    var part: String
    /// A file at that path may be replaced.
    var mayReplace: Bool
    var lane: LaneChoice
    var limits: DecodeLimits
    /// The memory of ``limits`` is all that the job has: an input that needs more fails, and the others go on.
    var hasAllMemory = false

    /// Number of its inputs.
    var count: Int { sources.reduce(0) { $0 + $1.rows.count } }

    /// What reports call its inputs.
    var names: [String] { sources.flatMap { source in source.rows.map { source.name($0) } } }

    /// The file that the rows of an output go to, from this batch and all others.
    func rows(of output: Int) -> String { "\(OutputFolderGuard.parent(part))/rows.\(output).npy" }
}
