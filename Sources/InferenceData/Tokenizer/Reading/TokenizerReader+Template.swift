extension TokenizerReader {
    mutating func template(_ value: JSONValue) throws(DataError) -> TokenTemplate? {
        let kind = value["type"]?.string ?? ""
        switch kind {
        case "BertProcessing", "RobertaProcessing":
            guard let begin = Self.tokenID(value["cls"]?.list?.last), let end = Self.tokenID(value["sep"]?.list?.last)
            else {
                throw .damaged("The post-processor of the tokenizer lacks its special tokens.")
            }
            return TokenTemplate(pieces: [
                .special(ids: [begin], typeID: 0), .text(typeID: 0), .special(ids: [end], typeID: 0),
            ])
        case "TemplateProcessing": return try described(value)
        case "ByteLevel": return TokenTemplate()
        case "Sequence":
            // Those that add nothing may stand beside one that does.
            var templates: [TokenTemplate] = []
            for part in value["processors"]?.list ?? [] {
                if let template = try template(part), template != TokenTemplate() { templates.append(template) }
            }
            return templates.count > 1 ? refuse("several post-processors that add tokens") : templates.first
        default: return refuse("the post-processor \"\(kind)\"")
        }
    }

    private mutating func described(_ value: JSONValue) throws(DataError) -> TokenTemplate? {
        var template = TokenTemplate(pieces: [])
        for piece in value["single"]?.list ?? [] {
            if let special = piece["SpecialToken"], let name = special["id"]?.string {
                let ids = (value["special_tokens"]?[name]?["ids"]?.list ?? []).compactMap { Self.tokenID($0) }
                guard !ids.isEmpty else {
                    throw .damaged(
                        "The template of the tokenizer uses \"\(name.prefix(40))\" and gives no number for it.")
                }
                template.pieces.append(.special(ids: ids, typeID: special["type_id"]?.integer ?? 0))
            } else if let sequence = piece["Sequence"], sequence["id"]?.string == "A" {
                template.pieces.append(.text(typeID: sequence["type_id"]?.integer ?? 0))
            } else {
                throw .damaged("The template of the tokenizer for one text has a piece that is none.")
            }
        }
        let places = template.pieces.count(where: { if case .text = $0 { true } else { false } })
        guard places > 0 else { throw .damaged("The template of the tokenizer for one text has no place for it.") }
        guard places == 1 else { return refuse("a template that takes one text several times") }
        return template
    }
}
