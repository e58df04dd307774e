/// The texts of a file: its lines, or one field of each of its JSON lines. Only where they begin is kept in memory, so that
/// any of them can be read again.
package struct TextSource: Sendable {
    package enum Format: Hashable, Sendable {
        /// UTF-8; a byte-order mark and the carriage return of a line end are left out. Every line is a text, empty ones too.
        case lines
        /// A JSON object in each line; lines of blanks are passed over.
        case jsonLines(field: String = "text")
    }

    package var count: Int { 0 }

    /// Finds the texts.
    ///
    /// - Parameters:
    ///   - file: Stays open for as long as texts are read.
    ///   - format: How they lie in it.
    ///   - largestLineBytes: Of one line.
    ///   - shouldStop: Asked now and then.
    /// - Throws: `tooLarge` for a line above the limit, with its number; `notReadable`, `stopped`.
    package init(
        _ file: OpenFile, format: Format, largestLineBytes: Int = 1 << 20, shouldStop: () -> Bool = { false }
    ) throws(DataError) {}

    /// One text.
    ///
    /// - Throws: `damaged` with the line's number where it is not UTF-8, no JSON object, or without that field.
    package func text(at index: Int) throws(DataError) -> String { throw .unsupported(["text"]) }

    /// The number of its line, counted from 1.
    package func line(at index: Int) -> Int { index + 1 }
}
