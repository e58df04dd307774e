import Inference

/// Why a model cannot be opened or run.
public struct InferenceError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// A file is missing or cannot be read.
        case notReadable
        /// The file is no ONNX model, or contradicts itself.
        case damaged
        /// The model needs what is not implemented; see ``InferenceError/unsupported``.
        case unsupported
        /// Inputs are missing, or have other types than the model takes.
        case wrongInput
        /// The values have no result, e.g. an index outside its axis.
        case wrongValue
        /// A tensor would be larger than is allowed.
        case tooLarge
        /// The task was cancelled; the run was left between two operators.
        case cancelled
        /// There is no OpenCL, or no such device.
        case noDevice
        /// What computes is not installed, does not suit the processor, or failed.
        case engine
    }

    public var code: Code
    /// One sentence that names the node or tensor.
    public var description: String
    /// Every operator and attribute that is not implemented, in the order of the file.
    public var unsupported: [String]

    init(_ error: ModelError) {
        code =
            switch error.code {
            case .notReadable: .notReadable
            case .damaged: .damaged
            case .unsupported: .unsupported
            case .wrongInput: .wrongInput
            case .wrongValue: .wrongValue
            case .tooLarge: .tooLarge
            case .stopped: .cancelled
            case .engine: .engine
            }
        description = error.sentence
        unsupported = error.unsupported
    }

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
        unsupported = []
    }
}
