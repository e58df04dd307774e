package import Inference

/// Turns text into the numbers that a model was trained with, as the file `tokenizer.json` of a model describes it (the format
/// of Hugging Face's library "tokenizers").
///
/// Models: WordPiece, BPE, WordLevel. Texts are single ones, not pairs.
package struct Tokenizer: Sendable {
    /// The numbers of one text.
    package struct Encoding: Hashable, Sendable {
        /// Places in the vocabulary, special tokens included.
        package var ids: [Int]
        /// What the file gives to each token, 0 mostly.
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

    /// The most tokens that a text gets, special ones included; nil where there is no limit.
    package var largestLength: Int?

    /// Tokens that a row may be asked to have.
    package static let lengths = 1...(1 << 20)

    let parts: TokenizerParts

    /// - Throws: `damaged` where it is no such file, `unsupported` with everything in it that is not implemented.
    package init(json: [UInt8]) throws(DataError) {
        var reader = TokenizerReader()
        parts = try reader.read(try JSONReader.value(of: json))
        largestLength = parts.truncation?.length
    }

    /// - Throws: as ``init(json:)``, and `notReadable`, `tooLarge`.
    package init(_ file: OpenFile, largestBytes: Int = 64 << 20) throws(DataError) {
        try self.init(json: try file.bytes(limit: largestBytes))
    }

    /// The numbers of a text, cut to the limit of the tokenizer and to the length of the row that it is for.
    ///
    /// - Throws: `tooLarge` where the file lets it grow without measure.
    package func encode(_ text: String, length: Int? = nil) throws(DataError) -> Encoding {
        var ids = try tokens(Array(text.unicodeScalars))
        if let limit = limit(length) {
            let room = max(0, limit - parts.template.addedCount)
            if ids.count > room {
                ids = parts.truncation?.fromLeft == true ? Array(ids.suffix(room)) : Array(ids.prefix(room))
            }
        }
        return parts.template.applied(to: ids)
    }

    private func limit(_ length: Int?) -> Int? { [length, largestLength].compactMap { $0 }.min() }

    private func tokens(_ text: [Unicode.Scalar]) throws(DataError) -> [Int] {
        var ids: [Int] = []
        for part in parts.rawTokens.parts(text) {
            guard case .text(let raw) = part else {
                if case .token(let id) = part { ids.append(id) }
                continue
            }
            var normalised = Array(raw)
            if let normalizer = parts.normalizer { normalised = try normalizer.normalised(normalised) }
            for part in parts.normalisedTokens.parts(normalised) {
                switch part {
                case .token(let id): ids.append(id)
                case .text(let text):
                    for word in parts.splitter?.words(text) ?? [text] { parts.model.append(word, to: &ids) }
                }
            }
        }
        return ids
    }

    /// Texts of one batch, as ``rows(of:length:multipleOf:)`` has them.
    package func rows(_ texts: [String], length: Int? = nil, multipleOf multiple: Int = 1) throws(DataError) -> Rows {
        let encodings = try texts.map { text throws(DataError) in try encode(text, length: length) }
        return try rows(of: encodings, length: length, multipleOf: multiple)
    }

    /// The numbers of the texts of one batch.
    ///
    /// - Parameters:
    ///   - encodings: At least one, each encoded for that length.
    ///   - length: Of each row; nil takes that of the longest text.
    ///   - multiple: Without a given length, rows become longer up to a multiple of this, so that few lengths occur; but not
    ///     beyond the limit of the tokenizer.
    /// - Returns: One row for each text.
    /// - Throws: `mismatch` where the length, or the limit of the tokenizer, leaves no room beside the special tokens, a text
    ///   is longer, or there are no texts; `tooLarge` for a length beyond ``lengths``.
    package func rows(
        of encodings: [Encoding], length: Int? = nil, multipleOf multiple: Int = 1
    ) throws(DataError) -> Rows {
        precondition(multiple > 0, "rows cannot have a length that is a multiple of \(multiple)")
        guard !encodings.isEmpty else { throw .mismatch("A batch of no texts was asked for.") }
        let limit = limit(length)
        if let limit, limit <= parts.template.addedCount {
            throw .mismatch(
                "A length of \(limit) tokens leaves no room beside \(parts.template.addedCount) special ones.")
        }
        if let length, length > Self.lengths.upperBound {
            throw .tooLarge("Texts of \(length) tokens were asked for; \(Self.lengths.upperBound) are possible.")
        }
        let longest = encodings.map(\.ids.count).max() ?? 0
        let rounded = (longest + multiple - 1) / multiple * multiple
        let columns = length ?? max(longest, min(rounded, limit ?? .max))
        guard longest <= columns else {
            throw .mismatch("A text of \(longest) tokens does not fit into a row of \(columns).")
        }
        var ids: [Int64] = []
        var mask: [Int64] = []
        var types: [Int64] = []
        for encoding in encodings {
            let gap = columns - encoding.ids.count
            let padding = parts.padding
            func filled(_ values: [Int64], with filler: Int) -> [Int64] {
                let rest = [Int64](repeating: Int64(filler), count: gap)
                return padding.isOnLeft ? rest + values : values + rest
            }
            ids += filled(encoding.ids.map { Int64($0) }, with: padding.id)
            mask += filled([Int64](repeating: 1, count: encoding.ids.count), with: 0)
            types += filled(encoding.typeIDs.map { Int64($0) }, with: padding.typeID)
        }
        let shape = [encodings.count, columns]
        return try asDataError { () throws(ModelError) in
            Rows(
                inputIDs: try Tensor(.int64, shape: shape, integers: ids),
                attentionMask: try Tensor(.int64, shape: shape, integers: mask),
                tokenTypeIDs: try Tensor(.int64, shape: shape, integers: types))
        }
    }
}

/// What a file describes.
struct TokenizerParts: Sendable {
    struct Truncation: Sendable {
        var length: Int
        var fromLeft: Bool
    }

    struct Padding: Sendable {
        var id = 0
        var typeID = 0
        var isOnLeft = false
    }

    /// Found in text as it is.
    var rawTokens: AddedTokens
    /// Found in text that was normalised.
    var normalisedTokens: AddedTokens
    var normalizer: TextNormalizer?
    /// Nil: a text is one word.
    var splitter: TextSplitter?
    var model: any TokenModel
    var template: TokenTemplate
    var truncation: Truncation?
    var padding: Padding
}
