extension TokenizerReader {
    mutating func splitter(_ value: JSONValue) throws(DataError) -> TextSplitter? {
        let kind = value["type"]?.string ?? ""
        switch kind {
        case "BertPreTokenizer": return .bert
        case "Whitespace": return .whitespace
        case "WhitespaceSplit": return .whitespaceSplit
        case "Punctuation": return try behavior(value).map { .punctuation($0) }
        case "Digits": return .digits(individual: value["individual_digits"]?.flag ?? false)
        case "Split":
            guard let behavior = try behavior(value) else { return nil }
            let before = value["pattern"]
            guard let pattern = try pattern(before) else {
                return before == nil ? refuse("a Split pre-tokenizer without pattern") : nil
            }
            return .split(pattern, behavior, inverted: value["invert"]?.flag ?? false)
        case "ByteLevel":
            var byteLevel = ByteLevel()
            byteLevel.addsPrefixSpace = value["add_prefix_space"]?.flag ?? true
            byteLevel.splitsWords = value["use_regex"]?.flag ?? true
            return .byteLevel(byteLevel)
        case "Sequence":
            var splitters: [TextSplitter] = []
            for part in value["pretokenizers"]?.list ?? [] {
                if let splitter = try splitter(part) { splitters.append(splitter) }
            }
            return .sequence(splitters)
        default: return refuse("the pre-tokenizer \"\(kind)\"")
        }
    }

    private mutating func behavior(_ value: JSONValue) throws(DataError) -> SplitBehavior? {
        guard let name = value["behavior"]?.string else { return .isolated }
        return SplitBehavior(rawValue: name) ?? refuse("the behavior \"\(name)\" of a pre-tokenizer")
    }
}
