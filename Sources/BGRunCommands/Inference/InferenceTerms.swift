import ChunkedCompute
import ImageCodecs
import InferenceData

/// What the batches of a job have in common: all that decides their results, but for the inputs.
struct InferenceTerms: Codable, Hashable, Sendable {
    /// Absolute path.
    var model: String
    /// XXH3-128 of the model and the data beside it, hexadecimal.
    var modelChecksum: String
    /// Paths of the data beside the model.
    var dataFiles: [String] = []
    /// Sizes of extents that the model leaves open.
    var extents: [String: Int] = [:]
    /// The most inputs in a batch.
    var batch: Int
    /// How pictures become tensors.
    var preset: ImagePreset
    var text: TextTerms?
    var form: ResultForm

    /// Files that workers read beside the inputs.
    var files: [String] { [model] + dataFiles + [text?.tokenizer, form.labels].compactMap(\.self) }
}

/// How texts become tensors.
struct TextTerms: Codable, Hashable, Sendable {
    /// Path of a `tokenizer.json`.
    var tokenizer: String
    /// Tokens in a row; nil takes as many as the longest text of a batch has, rounded up.
    var length: Int?
    /// The field of JSON lines that holds the text.
    var field: String
}

/// What is made of a model's outputs.
enum ResultForm: Codable, Hashable, Sendable {
    /// Each output as it is, in a NumPy file of its own.
    case arrays
    /// The likeliest classes.
    case classes(top: Int, softmax: Bool, labels: String?)
    case boxes(confidence: Double, overlap: Double, labels: String?)
    case embeddings(Embeddings.Pooling, normalise: Bool)

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
    /// Where its results go; arrays go to `PART.N.npy`, N counting the model's outputs.
    var part: String
    /// Files at those paths may be replaced.
    var mayReplace: Bool
    var lane: LaneChoice
    var limits: DecodeLimits

    /// What reports call its inputs.
    var names: [String] { sources.flatMap { source in source.rows.map { source.name($0) } } }

    /// The part that holds a line for each input.
    var lines: String { part + ".jsonl" }

    /// The part that holds rows of an output.
    func array(_ output: Int) -> String { "\(part).\(output).npy" }
}
