/// Tokens that are found in text before it is split into words, e.g. `[MASK]`.
struct AddedTokens: Sendable {
    struct Token: Sendable {
        var id: Int
        var content: [Unicode.Scalar]
        /// Only where no word character stands beside it.
        var singleWord = false
        /// Takes the blanks on its left with it.
        var takesLeft = false
        /// Takes the blanks on its right with it.
        var takesRight = false
    }

    enum Part {
        case text(ArraySlice<Unicode.Scalar>)
        case token(Int)
    }

    /// By their first code point, longest first.
    private let tokens: [Unicode.Scalar: [Token]]

    init(_ tokens: [Token]) {
        self.tokens = Dictionary(grouping: tokens.filter { !$0.content.isEmpty }) { $0.content[0] }
            .mapValues { $0.sorted { $0.content.count > $1.content.count } }
    }

    /// The text with the tokens taken out; parts of text are not empty.
    func parts(_ text: [Unicode.Scalar]) -> [Part] {
        guard !text.isEmpty else { return [] }
        guard !tokens.isEmpty else { return [.text(text[...])] }
        var parts: [Part] = []
        var done = 0
        var place = 0
        while place < text.count {
            guard let token = match(text, at: place) else {
                place += 1
                continue
            }
            var start = place
            var end = place + token.content.count
            place = end
            if token.singleWord, Self.isWord(text, start - 1) || Self.isWord(text, end) { continue }
            if token.takesLeft { while start > done, text[start - 1].isBlank { start -= 1 } }
            if token.takesRight { while end < text.count, text[end].isBlank { end += 1 } }
            if start > done { parts.append(.text(text[done..<start])) }
            parts.append(.token(token.id))
            (done, place) = (end, end)
        }
        if done < text.count { parts.append(.text(text[done...])) }
        return parts
    }

    private func match(_ text: [Unicode.Scalar], at place: Int) -> Token? {
        tokens[text[place]]?.first { token in
            place + token.content.count <= text.count
                && text[place..<(place + token.content.count)].elementsEqual(token.content)
        }
    }

    private static func isWord(_ text: [Unicode.Scalar], _ place: Int) -> Bool {
        text.indices.contains(place) && text[place].isWordCharacter
    }
}
