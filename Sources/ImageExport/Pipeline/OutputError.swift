import ChunkedCompute
import ImageCodecs

/// One output of an input cannot be made; the others may.
struct OutputError: Error {
    var path: String
    var cause: any Error

    /// Why, with the output's name.
    var failure: ItemResult.Failure {
        let failure = ImageExporter.failure(cause)
        return .init(code: failure.code, reason: "\(path) cannot be made: \(failure.reason)")
    }

    /// - Throws: What `body` does, and an ``OutputError`` in place of what its output alone is the cause of.
    static func naming<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as ExportFailure where ["crop", "tooLarge", "unsupported", "watermark"].contains(error.code) {
            throw OutputError(path: path, cause: error)
        } catch let error as CodecError where error.code == .encode {
            throw OutputError(path: path, cause: error)
        }
    }
}
