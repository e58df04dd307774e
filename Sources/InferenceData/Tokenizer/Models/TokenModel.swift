/// Breaks a word, as the splitters leave it, into tokens.
protocol TokenModel: Sendable {
    /// Appends the numbers of the word's tokens.
    func append(_ word: ArraySlice<Unicode.Scalar>, to ids: inout [Int])

    func id(_ token: String) -> Int?
}
