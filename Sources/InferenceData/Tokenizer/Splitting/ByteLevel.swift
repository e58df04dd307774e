/// Text as bytes, each of which is shown as a visible character, so that a vocabulary of bytes is one of characters (Radford
/// et al., "Language Models are Unsupervised Multitask Learners", 2019, and the program published with it).
struct ByteLevel: Sendable {
    var addsPrefixSpace = true
    /// Splits text into words first.
    var splitsWords = true

    typealias Text = ArraySlice<Unicode.Scalar>

    func words(_ text: Text) -> [Text] {
        guard let first = text.first else { return [] }
        let text = addsPrefixSpace && first != " " ? [" "] + text : text
        let words = splitsWords ? Self.split(text) : [text]
        return words.map { word in UTF8Text(word).all.map { Self.characters[Int($0)] }[...] }
    }

    /// The character of each byte: the printable ones of Latin-1 are themselves, the others follow from U+0100 on.
    static let characters: [Unicode.Scalar] = {
        var next: UInt32 = 0x100
        return (0..<256).map { byte -> Unicode.Scalar in
            if (0x21...0x7E).contains(byte) || (0xA1...0xAC).contains(byte) || (0xAE...0xFF).contains(byte) {
                return Unicode.Scalar(UInt8(byte))
            }
            defer { next += 1 }
            return Unicode.Scalar(next) ?? "\u{FFFD}"
        }
    }()

    /// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
    private static func split(_ text: Text) -> [Text] {
        var words: [Text] = []
        var place = text.startIndex
        while place < text.endIndex {
            let end = wordEnd(text, from: place)
            words.append(text[place..<end])
            place = end
        }
        return words
    }

    private static func wordEnd(_ text: Text, from start: Int) -> Int {
        if let end = contractionEnd(text, from: start) { return end }
        var place = start
        if text[place] == " ", place + 1 < text.endIndex { place += 1 }
        let first = text[place]
        if !first.isBlank {
            let isSame: (Unicode.Scalar) -> Bool =
                first.isLetter
                ? { $0.isLetter } : first.isNumber ? { $0.isNumber } : { !$0.isBlank && !$0.isLetter && !$0.isNumber }
            while place < text.endIndex, isSame(text[place]) { place += 1 }
            return place
        }
        place = start
        while place < text.endIndex, text[place].isBlank { place += 1 }
        // The last blank before a word stays for the word.
        return place < text.endIndex && place - start > 1 ? place - 1 : place
    }

    private static func contractionEnd(_ text: Text, from start: Int) -> Int? {
        guard text[start] == "'" else { return nil }
        let rest = text[(start + 1)...].prefix(2)
        for ending in ["s", "t", "re", "ve", "m", "ll", "d"] where rest.starts(with: ending.unicodeScalars) {
            return start + 1 + ending.unicodeScalars.count
        }
        return nil
    }
}
