/// How text becomes words. Names are those of the file.
indirect enum TextSplitter: Sendable {
    case bert
    case whitespace
    case whitespaceSplit
    case punctuation(SplitBehavior)
    case digits(individual: Bool)
    case split(TextPattern, SplitBehavior, inverted: Bool)
    case byteLevel(ByteLevel)
    case sequence([TextSplitter])

    typealias Text = ArraySlice<Unicode.Scalar>

    func words(_ text: Text) -> [Text] {
        switch self {
        case .bert:
            return Self.blanks(text).flatMap { Self.classes(.isolated, $0) { $0.isPunctuationOrASCIISymbol } }
        case .whitespace: return Self.runs(text)
        case .whitespaceSplit: return Self.blanks(text)
        case .punctuation(let behavior): return Self.classes(behavior, text) { $0.isPunctuationOrASCIISymbol }
        case .digits(let individual):
            return Self.classes(individual ? .isolated : .contiguous, text) { $0.isNumber }
        case .split(let pattern, let behavior, let inverted):
            let whole = Array(text)
            return behavior.split(whole[...], at: pattern.matches(in: whole), inverted: inverted)
        case .byteLevel(let byteLevel): return byteLevel.words(text)
        case .sequence(let splitters):
            return splitters.reduce([text]) { words, splitter in words.flatMap { splitter.words($0) } }
        }
    }

    /// Words between blanks.
    private static func blanks(_ text: Text) -> [Text] { text.split { $0.isBlank } }

    private static func classes(
        _ behavior: SplitBehavior, _ text: Text, _ isMatch: (Unicode.Scalar) -> Bool
    ) -> [Text] {
        behavior.split(text, at: text.indices.filter { isMatch(text[$0]) }.map { $0..<($0 + 1) })
    }

    /// `\w+|[^\w\s]+`.
    private static func runs(_ text: Text) -> [Text] {
        var words: [Text] = []
        var place = text.startIndex
        while place < text.endIndex {
            let start = place
            if text[place].isWordCharacter {
                while place < text.endIndex, text[place].isWordCharacter { place += 1 }
            } else if text[place].isBlank {
                place += 1
                continue
            } else {
                while place < text.endIndex, !text[place].isWordCharacter, !text[place].isBlank { place += 1 }
            }
            words.append(text[start..<place])
        }
        return words
    }
}
