/// One mistake in a file that a person wrote.
package struct FileMistake: Hashable, Codable, Sendable {
    /// Stable machine code, e.g. `unknownKey`.
    package var code: String
    /// The key it is in, with positions in lists counted from 0, e.g. `requests[2].at`; empty for the whole file.
    package var field: String
    /// Counted from 1; nil where no line is to blame.
    package var line: Int?
    /// What is wrong, one sentence.
    package var sentence: String
    /// What would help, one sentence.
    package var fix: String

    package init(code: String, field: String, line: Int?, sentence: String, fix: String) {
        self.code = code
        self.field = field
        self.line = line
        self.sentence = sentence
        self.fix = fix
    }
}

/// A file that cannot be used, with every mistake in it.
package struct FileMistakes: Error, Hashable, Sendable, CustomStringConvertible {
    /// As it was named.
    package let file: String
    /// At least one, in the order of the file.
    package let mistakes: [FileMistake]

    /// The file cannot be opened at all.
    package var isUnreadable: Bool { mistakes.contains { $0.code == "unreadable" } }

    package init(file: String, mistakes: [FileMistake]) {
        precondition(!mistakes.isEmpty, "a file without a mistake is no error")
        self.file = file
        self.mistakes = mistakes.enumerated().sorted {
            ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset)
        }.map(\.element)
    }

    /// One line for each mistake: `FILE:LINE: FIELD: what is wrong, and what helps`.
    package var description: String {
        mistakes.map { mistake in
            let place = file + (mistake.line.map { ":\($0)" } ?? "")
            let field = mistake.field.isEmpty ? "" : "\(mistake.field): "
            return "\(place): \(field)\(mistake.sentence) \(mistake.fix)"
        }.joined(separator: "\n")
    }
}

/// Collects the mistakes of one file while it is read, so that a person sees all of them at once.
package final class MistakeLog {
    package let file: String
    private(set) var mistakes: [FileMistake] = []

    package init(file: String) {
        self.file = file
    }

    package func note(_ code: String, field: String, line: Int?, _ sentence: String, fix: String) {
        mistakes.append(FileMistake(code: code, field: field, line: line, sentence: sentence, fix: fix))
    }

    /// Ends the reading of the file.
    ///
    /// - Throws: ``FileMistakes`` when anything was noted.
    package func check() throws(FileMistakes) {
        if !mistakes.isEmpty { throw FileMistakes(file: file, mistakes: mistakes) }
    }
}
