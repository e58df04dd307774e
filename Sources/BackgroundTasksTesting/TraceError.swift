import DescribedFile
import Foundation

/// A trace or a described day that cannot be used: every mistake in it, with its field and line.
public struct TraceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One mistake.
    public struct Mistake: Hashable, Sendable {
        /// Stable machine code, e.g. `recordedLine`, `unknownKey` or `unreadable`.
        public let code: String
        /// The key it is in, with positions in lists counted from 0, e.g. `requests[2].at`; empty for a whole line or file.
        public let field: String
        /// Counted from 1; nil where no line is to blame.
        public let line: Int?
        /// What is wrong, one sentence.
        public let sentence: String
        /// What would help, one sentence.
        public let fix: String
    }

    /// As it was named.
    public let file: String
    /// At least one, in the order of the file.
    public let mistakes: [Mistake]

    /// One line for each mistake: `FILE:LINE: FIELD: what is wrong, and what helps`.
    public let description: String

    init(_ error: FileMistakes) {
        file = error.file
        mistakes = error.mistakes.map {
            Mistake(code: $0.code, field: $0.field, line: $0.line, sentence: $0.sentence, fix: $0.fix)
        }
        description = error.description
    }

    init(unwritable path: String, because error: any Error) {
        self.init(
            FileMistakes(
                file: path,
                mistakes: [
                    FileMistake(
                        code: "unwritable", field: "", line: nil,
                        sentence: "The file cannot be written: \(error.localizedDescription)",
                        fix: "Check the path and its permissions.")
                ]))
    }
}
