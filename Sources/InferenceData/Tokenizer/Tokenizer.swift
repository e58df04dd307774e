package import Inference

/// Turns text into the numbers that a model was trained with, as the file `tokenizer.json` of a model describes it.
package struct Tokenizer: Sendable {
    /// The numbers of one text.
    package struct Encoding: Hashable, Sendable {
        /// Places in the vocabulary, special tokens included.
        package var ids: [Int]
        /// 0 for the first text.
        package var typeIDs: [Int]
        package init(ids: [Int], typeIDs: [Int]) {
            self.ids = ids
            self.typeIDs = typeIDs
        }
    }

    /// Rows of int64 with the shape `[texts, length]`.
    package struct Rows: Sendable {
        package var inputIDs: Tensor
        /// 1 for tokens, 0 for what was added to fill the row.
        package var attentionMask: Tensor
        package var tokenTypeIDs: Tensor
    }

    /// The most tokens that a text gets, special ones included; nil where the file sets no limit.
    package var largestLength: Int?

    /// - Throws: `damaged` where it is no such file, `unsupported` with everything in it that is not implemented.
    package init(json: [UInt8]) throws(DataError) { throw .unsupported(["tokenizer"]) }

    /// - Throws: as ``init(json:)``, and `notReadable`, `tooLarge`.
    package init(_ file: OpenFile, largestBytes: Int = 64 << 20) throws(DataError) { throw .unsupported(["tokenizer"]) }

    package func encode(_ text: String) -> Encoding { Encoding(ids: [], typeIDs: []) }

    /// Texts of one batch, each as long as the longest or as `length`.
    ///
    /// - Throws: `mismatch` where `length` leaves no room for the special tokens.
    package func rows(_ texts: [String], length: Int? = nil) throws(DataError) -> Rows {
        throw .unsupported(["tokenizer"])
    }
}
