/// What is done to text before it is split into words. Names are those of the file.
indirect enum TextNormalizer: Sendable {
    case bert(BertNormalizer)
    case lowercase
    case stripAccents
    case form(UnicodeForm)
    case strip(left: Bool, right: Bool)
    case replace(TextPattern, with: [Unicode.Scalar])
    case prepend([Unicode.Scalar])
    case sequence([TextNormalizer])

    /// - Throws: `tooLarge` where a file lets a text grow beyond sixteen times its length, and a mebi of code points.
    func normalised(_ text: [Unicode.Scalar]) throws(DataError) -> [Unicode.Scalar] {
        try normalised(text, most: 16 * text.count + (1 << 20))
    }

    private func normalised(_ text: [Unicode.Scalar], most: Int) throws(DataError) -> [Unicode.Scalar] {
        let result = try applied(to: text, most: most)
        try Self.check(result.count, most)
        return result
    }

    private static func check(_ count: Int, _ most: Int) throws(DataError) {
        guard count <= most else {
            throw .tooLarge("The normaliser of the tokenizer makes more than \(most) code points of a text.")
        }
    }

    private func applied(to text: [Unicode.Scalar], most: Int) throws(DataError) -> [Unicode.Scalar] {
        switch self {
        case .bert(let bert): return bert.normalised(text)
        case .lowercase: return text.lowercased
        case .stripAccents: return text.filter { !$0.isMark }
        case .form(let form): return form.applied(to: text)
        case .strip(let left, let right):
            var rest = text[...]
            if left { rest = rest.drop { $0.isBlank } }
            if right { while let last = rest.last, last.isBlank { rest.removeLast() } }
            return Array(rest)
        case .replace(let pattern, let content):
            var result: [Unicode.Scalar] = []
            var place = 0
            for match in pattern.matches(in: text) {
                result += text[place..<match.lowerBound] + content
                place = match.upperBound
                try Self.check(result.count, most)
            }
            return result + text[place...]
        case .prepend(let prefix): return text.isEmpty ? text : prefix + text
        case .sequence(let normalizers):
            var result = text
            for normalizer in normalizers { result = try normalizer.normalised(result, most: most) }
            return result
        }
    }
}

extension [Unicode.Scalar] {
    /// Each code point by itself: a sigma at the end of a word is like any other.
    var lowercased: [Unicode.Scalar] {
        var result: [Unicode.Scalar] = []
        result.reserveCapacity(count)
        for scalar in self {
            if scalar.isASCII {
                let isUpper = (0x41...0x5A).contains(scalar.value)
                result.append(isUpper ? Unicode.Scalar(UInt8(scalar.value | 0x20)) : scalar)
            } else {
                result.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
            }
        }
        return result
    }
}
