import ImageCodecs
package import Inference

/// Why data cannot become tensors, or tensors data.
package struct DataError: Error, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// A file is missing, is no regular file, or cannot be read.
        case notReadable = "data.notReadable"
        /// The data contradicts itself or its format.
        case damaged = "data.damaged"
        /// The data is sound, but needs something that is not implemented: see ``DataError/unsupported``.
        case unsupported = "data.unsupported"
        /// The file is of no format that is known, such as no picture.
        case unknownFormat = "data.unknownFormat"
        /// It takes more memory than this input may have now; with a larger share it may go well.
        case memoryShare = "data.memoryShare"
        /// A limit that was set is exceeded.
        case tooLarge = "data.tooLarge"
        /// What is asked for does not fit the model, or a setting contradicts itself.
        case mismatch = "data.mismatch"
        /// An output cannot be written or encoded.
        case notWritable = "data.notWritable"
        /// What computes failed.
        case engine = "data.engine"
        /// Asked to stop; there is no result.
        case stopped = "data.stopped"
    }

    package var code: Code
    /// One sentence without the file's name.
    package var sentence: String
    /// Everything that is not implemented, each a phrase; empty for other codes.
    package var unsupported: [String] = []

    package var description: String { sentence }
}

extension DataError {
    static func notReadable(_ sentence: String) -> DataError { DataError(code: .notReadable, sentence: sentence) }
    static func damaged(_ sentence: String) -> DataError { DataError(code: .damaged, sentence: sentence) }
    static func tooLarge(_ sentence: String) -> DataError { DataError(code: .tooLarge, sentence: sentence) }
    package static func mismatch(_ sentence: String) -> DataError { DataError(code: .mismatch, sentence: sentence) }
    /// In the words that an export has for it.
    package static func memoryShare(_ bytes: Int, of allowed: Int) -> DataError {
        DataError(
            code: .memoryShare, sentence: "It needs \(bytes >> 20) MiB of memory; \(allowed >> 20) MiB are allowed.")
    }
    package static func memoryShare(_ sentence: String) -> DataError {
        DataError(code: .memoryShare, sentence: sentence)
    }
    static func notWritable(_ sentence: String) -> DataError { DataError(code: .notWritable, sentence: sentence) }
    package static let stopped = DataError(code: .stopped, sentence: "Asked to stop.")

    static func unsupported(_ phrases: [String]) -> DataError {
        DataError(
            code: .unsupported, sentence: "Not supported: \(phrases.joined(separator: "; ")).", unsupported: phrases)
    }

    init(_ error: CodecError) {
        let code: Code =
            switch error.code {
            case .unknownFormat: .unknownFormat
            case .damaged: .damaged
            case .unsupported, .libraryMissing: .unsupported
            case .limit: .tooLarge
            case .outOfMemory: .memoryShare
            case .encode: .notWritable
            case .stopped: .stopped
            }
        self.init(
            code: code, sentence: "\(error.reason).", unsupported: error.code == .unsupported ? [error.reason] : [])
    }

    /// Of a tensor that could not be made.
    package init(_ error: ModelError) {
        let code: Code =
            switch error.code {
            case .tooLarge: .tooLarge
            case .notReadable: .notReadable
            case .stopped: .stopped
            case .unsupported: .unsupported
            case .engine: .engine
            case .damaged, .wrongInput, .wrongValue: .mismatch
            }
        self.init(code: code, sentence: error.sentence, unsupported: error.unsupported)
    }
}

/// What a call of the room of models throws, as an error of data.
func asDataError<Result>(_ body: () throws(ModelError) -> Result) throws(DataError) -> Result {
    do throws(ModelError) {
        return try body()
    } catch {
        throw DataError(error)
    }
}
