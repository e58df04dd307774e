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

    func normalised(_ text: [Unicode.Scalar]) -> [Unicode.Scalar] {
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
            }
            return result + text[place...]
        case .prepend(let prefix): return text.isEmpty ? text : prefix + text
        case .sequence(let normalizers): return normalizers.reduce(text) { $1.normalised($0) }
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
