/// Reads what a file of a tokenizer describes, and collects what of it is not implemented.
struct TokenizerReader {
    private var unsupported: [String] = []

    /// Code points of all added tokens together, once they are normalised.
    private static let mostAdded = 1 << 24

    mutating func read(_ file: JSONValue) throws(DataError) -> TokenizerParts {
        guard let described = file["model"], described.members != nil else {
            throw .damaged("It is no tokenizer.json: it has no \"model\".")
        }
        let normalizer = try part(file["normalizer"]) { reader, value throws(DataError) in
            try reader.normalizer(value)
        }
        let splitter = try part(file["pre_tokenizer"]) { reader, value throws(DataError) in
            try reader.splitter(value)
        }
        let model = try model(described)
        let template = try part(file["post_processor"]) { reader, value throws(DataError) in
            try reader.template(value)
        }
        let added = try addedTokens(file["added_tokens"], normalizer: normalizer)
        let truncation = try truncation(file["truncation"])
        let padding = try padding(file["padding"], model: model, added: added.raw + added.normalised)
        guard unsupported.isEmpty, let model else { throw .unsupported(unsupported) }
        return TokenizerParts(
            rawTokens: AddedTokens(added.raw), normalisedTokens: AddedTokens(added.normalised), normalizer: normalizer,
            splitter: splitter, model: model, template: template ?? TokenTemplate(), truncation: truncation,
            padding: padding)
    }

    /// Nil where the file leaves it out.
    private mutating func part<Part>(
        _ value: JSONValue?, _ read: (inout TokenizerReader, JSONValue) throws(DataError) -> Part?
    ) throws(DataError) -> Part? {
        guard let value, !value.isNull else { return nil }
        return try read(&self, value)
    }

    /// Notes what is not implemented.
    mutating func refuse<Part>(_ phrase: String) -> Part? {
        unsupported.append(phrase)
        return nil
    }

    /// Calls a reader whose `unsupported` belongs with the others.
    mutating func noting<Part>(_ read: () throws(DataError) -> Part) throws(DataError) -> Part? {
        do throws(DataError) {
            return try read()
        } catch  where error.code == .unsupported {
            unsupported += error.unsupported
            return nil
        }
    }

    /// A number that a token can have; nil for anything else.
    static func tokenID(_ value: JSONValue?) -> Int? {
        value?.integer.flatMap { (0..<Int(Int32.max)).contains($0) ? $0 : nil }
    }

    private func addedTokens(
        _ value: JSONValue?, normalizer: TextNormalizer?
    ) throws(DataError) -> (raw: [AddedTokens.Token], normalised: [AddedTokens.Token]) {
        var raw: [AddedTokens.Token] = []
        var normalised: [AddedTokens.Token] = []
        var count = 0
        for entry in value?.list ?? [] {
            guard let id = Self.tokenID(entry["id"]), let content = entry["content"]?.string else {
                throw .damaged("An added token of the tokenizer has no number or no content.")
            }
            var token = AddedTokens.Token(id: id, content: Array(content.unicodeScalars))
            token.singleWord = entry["single_word"]?.flag ?? false
            token.takesLeft = entry["lstrip"]?.flag ?? false
            token.takesRight = entry["rstrip"]?.flag ?? false
            if entry["normalized"]?.flag ?? !(entry["special"]?.flag ?? false) {
                if let normalizer { token.content = try normalizer.normalised(token.content) }
                count += token.content.count
                guard count <= Self.mostAdded else {
                    throw .tooLarge("The added tokens of the tokenizer have more than \(Self.mostAdded) code points.")
                }
                normalised.append(token)
            } else {
                raw.append(token)
            }
        }
        return (raw, normalised)
    }

    private func truncation(_ value: JSONValue?) throws(DataError) -> TokenizerParts.Truncation? {
        guard let value, !value.isNull else { return nil }
        guard let length = value["max_length"]?.integer, length > 0 else {
            throw .damaged("The truncation of the tokenizer has no \"max_length\".")
        }
        return TokenizerParts.Truncation(length: length, fromLeft: value["direction"]?.string == "Left")
    }

    /// Where the file does not say what rows are filled with, a token of one of the usual names is taken.
    private func padding(
        _ value: JSONValue?, model: (any TokenModel)?, added: [AddedTokens.Token]
    ) throws(DataError) -> TokenizerParts.Padding {
        var padding = TokenizerParts.Padding()
        guard let value, !value.isNull else {
            for name in ["[PAD]", "<pad>", "<|pad|>"] {
                let found = added.first { $0.content.elementsEqual(name.unicodeScalars) }?.id ?? model?.id(name)
                if let found {
                    padding.id = found
                    break
                }
            }
            return padding
        }
        guard let id = Self.tokenID(value["pad_id"]) else {
            throw .damaged("The padding of the tokenizer has no \"pad_id\".")
        }
        padding.id = id
        padding.typeID = value["pad_type_id"]?.integer ?? 0
        padding.isOnLeft = value["direction"]?.string == "Left"
        return padding
    }
}
