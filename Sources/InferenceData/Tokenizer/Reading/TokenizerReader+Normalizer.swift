extension TokenizerReader {
    mutating func normalizer(_ value: JSONValue) throws(DataError) -> TextNormalizer? {
        let kind = value["type"]?.string ?? ""
        switch kind {
        case "BertNormalizer":
            var bert = BertNormalizer()
            bert.cleansText = value["clean_text"]?.flag ?? true
            bert.separatesIdeographs = value["handle_chinese_chars"]?.flag ?? true
            bert.stripsAccents = value["strip_accents"]?.flag
            bert.lowercases = value["lowercase"]?.flag ?? true
            return .bert(bert)
        case "Lowercase": return .lowercase
        case "StripAccents": return .stripAccents
        case "NFC", "NFD", "NFKC", "NFKD": return UnicodeForm(rawValue: kind).map { .form($0) }
        case "Strip":
            return .strip(left: value["strip_left"]?.flag ?? true, right: value["strip_right"]?.flag ?? true)
        case "Prepend": return .prepend(Array((value["prepend"]?.string ?? "").unicodeScalars))
        case "Replace":
            guard let content = value["content"]?.string, let pattern = try pattern(value["pattern"]) else {
                return refuse("a Replace normalizer without pattern or content")
            }
            return .replace(pattern, with: Array(content.unicodeScalars))
        case "Sequence":
            var normalizers: [TextNormalizer] = []
            for part in value["normalizers"]?.list ?? [] {
                if let normalizer = try normalizer(part) { normalizers.append(normalizer) }
            }
            return .sequence(normalizers)
        default: return refuse("the normalizer \"\(kind)\"")
        }
    }

    /// `{"String": "..."}` or `{"Regex": "..."}`.
    mutating func pattern(_ value: JSONValue?) throws(DataError) -> TextPattern? {
        if let literal = value?["String"]?.string { return .literal(Array(literal.unicodeScalars)) }
        guard let expression = value?["Regex"]?.string else { return nil }
        return try noting { () throws(DataError) in try TextPattern(expression: expression) }
    }
}
