/// BERT's cleaning of text (Devlin et al., "BERT", 2018, and the program published with it).
struct BertNormalizer: Sendable {
    /// Control characters go, every blank becomes a space.
    var cleansText = true
    /// Ideographs become words of their own.
    var separatesIdeographs = true
    /// Nil: where text is lowercased.
    var stripsAccents: Bool?
    var lowercases = true

    func normalised(_ text: [Unicode.Scalar]) -> [Unicode.Scalar] {
        var text = text
        if cleansText {
            text = text.compactMap { scalar in
                // Some blanks are control characters, and go.
                scalar.value == 0xFFFD || scalar.isControl ? nil : scalar.isBlank ? " " : scalar
            }
        }
        if separatesIdeographs, text.contains(where: { $0.isIdeograph }) {
            text = text.flatMap { $0.isIdeograph ? [" ", $0, " "] : [$0] }
        }
        if stripsAccents ?? lowercases {
            text = UnicodeForm.nfd.applied(to: text).filter { !$0.isNonspacingMark }
        }
        return lowercases ? text.lowercased : text
    }
}
