/// Each word is one token.
struct WordLevel: TokenModel {
    let vocabulary: Vocabulary
    let unknown: Int?

    func id(_ token: String) -> Int? { vocabulary.id(token) }

    func append(_ word: ArraySlice<Unicode.Scalar>, to ids: inout [Int]) {
        if let id = vocabulary.id(UTF8Text(word).all) ?? unknown { ids.append(id) }
    }
}
