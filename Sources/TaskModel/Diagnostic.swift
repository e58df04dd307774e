/// Something a person or program should know: a stable code, one sentence, and what would help (rule 19).
package struct Diagnostic: Error, Hashable, Codable, Sendable {
    /// Stable machine code, e.g. `handlerMissing`.
    package var code: String
    package var sentence: String
    package var fix: String

    package init(code: String, sentence: String, fix: String) {
        self.code = code
        self.sentence = sentence
        self.fix = fix
    }
}
