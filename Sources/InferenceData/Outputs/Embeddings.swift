package import Inference

/// One vector for each input.
package struct Embeddings: Sendable {
    package enum Pooling: String, Codable, Hashable, Sendable, CaseIterable {
        /// The mean over the tokens that the attention mask has.
        case mean
        /// The first token.
        case cls
        /// The output is a vector already.
        case none
    }

    package struct Result: Hashable, Sendable, JSONLineResult {
        package var vector: [Float]
        package func jsonLine(for input: String) -> String { "" }
    }

    package var pooling: Pooling
    /// Divided by its Euclidean length.
    package var normalise: Bool

    package init(pooling: Pooling = .mean, normalise: Bool = true) {
        self.pooling = pooling
        self.normalise = normalise
    }

    /// The vectors as float32 `[rows, length]`.
    ///
    /// - Parameters:
    ///   - output: `[rows, tokens, length]`; for `none` also `[rows, ...]`.
    ///   - attentionMask: `[rows, tokens]`, for `mean`; nil counts every token.
    /// - Throws: `mismatch` for other shapes.
    package func vectors(_ output: Tensor, attentionMask: Tensor? = nil) throws(DataError) -> Tensor {
        throw .unsupported(["embeddings"])
    }

    /// The same, one result for each row.
    package func results(_ output: Tensor, attentionMask: Tensor? = nil) throws(DataError) -> [Result] {
        throw .unsupported(["embeddings"])
    }
}
