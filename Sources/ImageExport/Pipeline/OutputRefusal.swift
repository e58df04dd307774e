import ChunkedCompute
import ImageCodecs

/// One output of an input cannot be made; the others may.
struct OutputRefusal {
    var path: String
    var cause: any Error

    /// Why, with the output's name.
    var failure: ItemResult.Failure {
        let failure = ImageExporter.failure(cause)
        return .init(code: failure.code, reason: "\(path) cannot be made: \(failure.reason)")
    }

    /// - Returns: What `body` does; nil where it threw something of which its output alone is the cause, which `refused` has
    ///   then.
    /// - Throws: What else `body` does.
    static func attempt<Result>(
        _ path: String, refused: inout [OutputRefusal], _ body: () throws -> Result
    ) throws -> Result? {
        do {
            return try body()
        } catch let error as ExportFailure where ["crop", "tooLarge", "unsupported", "watermark"].contains(error.code) {
            refused.append(OutputRefusal(path: path, cause: error))
        } catch let error as CodecError where error.code == .encode {
            refused.append(OutputRefusal(path: path, cause: error))
        }
        return nil
    }
}

/// No output of an input can be made.
struct NoOutputs: Error {
    let refused: [OutputRefusal]

    var failure: ItemResult.Failure {
        guard let first = refused.first else { return .init(code: "internal", reason: "it has no outputs") }
        guard refused.count > 1 else { return ImageExporter.failure(first.cause) }
        return .init(code: first.failure.code, reason: refused.map(\.failure.reason).joined(separator: "; "))
    }
}
