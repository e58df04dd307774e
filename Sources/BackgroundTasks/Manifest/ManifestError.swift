import DescribedFile

/// A manifest that cannot be used: every mistake in it, with its field and line (rule 1).
public struct ManifestError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One mistake.
    public struct Mistake: Hashable, Sendable, CustomStringConvertible {
        /// Stable machine code, e.g. `unknownKey`.
        public let code: String
        /// The key it is in, with the position in a list counted from 0, e.g. `identifiers[2]`; empty for the whole file.
        public let field: String
        /// Counted from 1; nil for what was given in code.
        public let line: Int?
        /// What is wrong, one sentence.
        public let sentence: String
        /// What would help, one sentence.
        public let fix: String

        public var description: String {
            let place = [line.map { "line \($0)" }, field.isEmpty ? nil : field].compactMap(\.self)
            return (place.isEmpty ? "" : place.joined(separator: ", ") + ": ") + sentence + " " + fix
        }
    }

    /// The file as it was named; nil for what was given in code.
    public let file: String?
    /// At least one, in the order of the file.
    public let mistakes: [Mistake]

    init(_ error: FileMistakes) {
        file = error.file.isEmpty ? nil : error.file
        mistakes = error.mistakes.map {
            Mistake(code: $0.code, field: $0.field, line: $0.line, sentence: $0.sentence, fix: $0.fix)
        }
    }

    /// Machine code of the first mistake.
    public var code: String { mistakes[0].code }
    /// Field of the first mistake.
    public var field: String { mistakes[0].field }
    /// Line of the first mistake, counted from 1.
    public var line: Int? { mistakes[0].line }
    /// What is wrong first, one sentence.
    public var sentence: String { mistakes[0].sentence }
    /// What would help against the first mistake, one sentence.
    public var fix: String { mistakes[0].fix }

    /// One line for each mistake.
    public var description: String {
        mistakes.map { "\(file ?? "manifest"): \($0)" }.joined(separator: "\n")
    }
}
