/// The longest token that a word begins with, and so on with its rest (Devlin et al., "BERT", 2018; Schuster and Nakajima,
/// "Japanese and Korean Voice Search", 2012).
struct WordPiece: TokenModel {
    let vocabulary: Vocabulary
    let unknown: Int
    /// What tokens inside of a word begin with, e.g. `##`.
    let prefix: [UInt8]
    /// Code points of a word; longer ones are unknown as a whole.
    let largestWord: Int

    func id(_ token: String) -> Int? { vocabulary.id(token) }

    func append(_ word: ArraySlice<Unicode.Scalar>, to ids: inout [Int]) {
        guard word.count <= largestWord else {
            ids.append(unknown)
            return
        }
        let before = ids.count
        let bytes = UTF8Text(word)
        var start = 0
        while start < bytes.count {
            guard let (id, end) = longest(bytes, from: start) else {
                // A part that is in no token makes the whole word unknown.
                ids.removeSubrange(before...)
                ids.append(unknown)
                return
            }
            ids.append(id)
            start = end
        }
    }

    /// The longest token from a code point on, and the code point behind it.
    private func longest(_ text: UTF8Text, from start: Int) -> (id: Int, end: Int)? {
        let prefix = start > 0 ? prefix[...] : []
        var hash = Vocabulary.Hash()
        hash.add(prefix)
        var found: (id: Int, end: Int)?
        for end in (start + 1)...text.count {
            let part = text[start..<end]
            if part.count > vocabulary.longestToken { break }
            hash.add(text[(end - 1)..<end])
            if let id = vocabulary.id(prefix, part, hash: hash) { found = (id, end) }
        }
        return found
    }
}

/// UTF-8 with the places of its code points.
struct UTF8Text {
    private var bytes: [UInt8] = []
    private var starts: [Int] = [0]

    init(_ scalars: some Sequence<Unicode.Scalar>) {
        for scalar in scalars {
            bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            starts.append(bytes.count)
        }
    }

    /// Number of code points.
    var count: Int { starts.count - 1 }
    var all: ArraySlice<UInt8> { bytes[...] }

    /// The bytes of some code points.
    subscript(_ range: Range<Int>) -> ArraySlice<UInt8> { bytes[starts[range.lowerBound]..<starts[range.upperBound]] }
}
