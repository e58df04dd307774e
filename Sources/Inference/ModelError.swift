/// Why a model cannot be loaded, checked or run.
package struct ModelError: Error, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// A file is missing or cannot be read.
        case notReadable = "model.notReadable"
        /// The file contradicts itself or the standard.
        case damaged = "model.damaged"
        /// The model is sound, but needs something that is not implemented: see ``ModelError/unsupported``.
        case unsupported = "model.unsupported"
        /// What was given to a run does not fit the model's inputs.
        case wrongInput = "model.wrongInput"
        /// The values that a run met have no result, e.g. an index outside its axis.
        case wrongValue = "model.wrongValue"
        /// A tensor would be larger than the limit that was set.
        case tooLarge = "model.tooLarge"
        /// The run was told to stop; it has no result, and may be begun anew.
        case stopped = "model.stopped"
        /// What computes is not installed, does not suit the processor, or failed.
        case engine = "model.engine"
    }

    package var code: Code
    /// One sentence that names the node or tensor.
    package var sentence: String
    /// Everything that is not implemented, each a phrase, in the order of the file; empty for other codes.
    package var unsupported: [String] = []

    package var description: String { sentence }

    static func notReadable(_ sentence: String) -> ModelError { ModelError(code: .notReadable, sentence: sentence) }
    static func damaged(_ sentence: String) -> ModelError { ModelError(code: .damaged, sentence: sentence) }
    package static func wrongInput(_ sentence: String) -> ModelError {
        ModelError(code: .wrongInput, sentence: sentence)
    }
    static func wrongValue(_ sentence: String) -> ModelError { ModelError(code: .wrongValue, sentence: sentence) }
    static func tooLarge(_ sentence: String) -> ModelError { ModelError(code: .tooLarge, sentence: sentence) }

    package static func engine(_ sentence: String) -> ModelError { ModelError(code: .engine, sentence: sentence) }

    package static func unsupported(_ phrases: [String]) -> ModelError {
        ModelError(
            code: .unsupported, sentence: "Not supported: \(phrases.joined(separator: "; ")).", unsupported: phrases)
    }

    /// The same fault with the place in front, e.g. `node "conv1" (Conv)`.
    func at(_ place: String) -> ModelError {
        var error = self
        error.sentence = "\(place): \(sentence)"
        return error
    }
}
