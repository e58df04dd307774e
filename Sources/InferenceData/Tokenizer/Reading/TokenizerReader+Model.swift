extension TokenizerReader {
    mutating func model(_ value: JSONValue) throws(DataError) -> (any TokenModel)? {
        // Files of old versions have no type; what they hold tells it.
        let kind = value["type"]?.string ?? (value["merges"] == nil ? "WordPiece" : "BPE")
        switch kind {
        case "WordPiece": return try wordPiece(value)
        case "BPE": return try bytePairEncoding(value)
        case "WordLevel":
            let vocabulary = try vocabulary(value)
            return WordLevel(vocabulary: vocabulary, unknown: value["unk_token"]?.string.flatMap { vocabulary.id($0) })
        default: return refuse("the model \"\(kind)\"")
        }
    }

    private func vocabulary(_ value: JSONValue) throws(DataError) -> Vocabulary {
        guard let members = value["vocab"]?.members, !members.isEmpty else {
            throw .damaged("The model of the tokenizer has no vocabulary.")
        }
        var tokens: [(token: String, id: Int)] = []
        tokens.reserveCapacity(members.count)
        for member in members {
            let token = member.key
            guard let id = Self.tokenID(member.value) else {
                throw .damaged("The token \"\(token.prefix(40))\" of the tokenizer has no number.")
            }
            tokens.append((token, id))
        }
        return Vocabulary(tokens)
    }

    private func wordPiece(_ value: JSONValue) throws(DataError) -> WordPiece {
        let vocabulary = try vocabulary(value)
        let name = value["unk_token"]?.string ?? "[UNK]"
        guard let unknown = vocabulary.id(name) else {
            throw .damaged("The vocabulary of the tokenizer lacks its token for unknown words, \"\(name.prefix(40))\".")
        }
        return WordPiece(
            vocabulary: vocabulary, unknown: unknown,
            prefix: Array((value["continuing_subword_prefix"]?.string ?? "##").utf8),
            largestWord: value["max_input_chars_per_word"]?.integer ?? 100)
    }

    private mutating func bytePairEncoding(_ value: JSONValue) throws(DataError) -> BytePairEncoding? {
        if value["byte_fallback"]?.flag == true {
            let _: BytePairEncoding? = refuse("the \"byte_fallback\" of a BPE model")
        }
        if case .number(let share) = value["dropout"] ?? .null, share > 0 {
            let _: BytePairEncoding? = refuse("the \"dropout\" of a BPE model")
        }
        let vocabulary = try vocabulary(value)
        var unknown: Int?
        if let name = value["unk_token"]?.string {
            unknown = vocabulary.id(name)
            guard unknown != nil else {
                throw .damaged(
                    "The vocabulary of the tokenizer lacks its token for what is unknown, \"\(name.prefix(40))\".")
            }
        }
        let prefix = value["continuing_subword_prefix"]?.string ?? ""
        return BytePairEncoding(
            vocabulary: vocabulary, merges: try merges(value, vocabulary, prefix: prefix), unknown: unknown,
            fusesUnknown: value["fuse_unk"]?.flag ?? false,
            wordEnd: Array((value["end_of_word_suffix"]?.string ?? "").utf8), prefix: Array(prefix.utf8),
            ignoresMerges: value["ignore_merges"]?.flag ?? false)
    }

    private func merges(
        _ value: JSONValue, _ vocabulary: Vocabulary, prefix: String
    ) throws(DataError) -> [BytePairEncoding.Pair: BytePairEncoding.Merge] {
        guard let entries = value["merges"]?.list else { throw .damaged("The model of the tokenizer has no merges.") }
        var merges: [BytePairEncoding.Pair: BytePairEncoding.Merge] = [:]
        merges.reserveCapacity(entries.count)
        for (rank, entry) in entries.enumerated() {
            let parts: [[UInt8]] =
                if let text = entry.string {
                    text.utf8.split(separator: 0x20, omittingEmptySubsequences: false).map { Array($0) }
                } else {
                    (entry.list ?? []).compactMap(\.string).map { Array($0.utf8) }
                }
            guard parts.count == 2, let left = vocabulary.id(parts[0][...]), let right = vocabulary.id(parts[1][...]),
                let result = vocabulary.id((parts[0] + parts[1].dropFirst(prefix.utf8.count))[...])
            else { throw .damaged("Merge \(rank) of the tokenizer is not of two tokens that make a third.") }
            merges[BytePairEncoding.Pair(left: Int32(left), right: Int32(right))] =
                BytePairEncoding.Merge(rank: Int32(rank), result: Int32(result))
        }
        return merges
    }
}
