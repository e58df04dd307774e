/// The texts of a file: its lines, or one field of each of its JSON lines. Only where they begin is kept in memory, so that
/// any of them can be read again.
package struct TextSource: Sendable {
    package enum Format: Hashable, Sendable {
        /// UTF-8; a byte-order mark and the carriage return of a line end are left out. Every line is a text, empty ones too.
        case lines
        /// A JSON object in each line; lines of blanks are passed over.
        case jsonLines(field: String = "text")
    }

    package let format: Format
    private let file: OpenFile
    private let index: LineIndex

    package var count: Int { index.lines.count }

    /// Finds the texts.
    ///
    /// - Parameters:
    ///   - file: Stays open for as long as texts are read.
    ///   - format: How they lie in it.
    ///   - largestLineBytes: Of one line.
    ///   - largestCount: The most texts.
    ///   - shouldStop: Asked now and then.
    /// - Throws: `tooLarge` for a line above the limit, with its number, or too many; `notReadable`, `stopped`.
    package init(
        _ file: OpenFile, format: Format, largestLineBytes: Int = 1 << 20, largestCount: Int = 100_000_000,
        shouldStop: () -> Bool = { false }
    ) throws(DataError) {
        self.file = file
        self.format = format
        index = try LineIndex(
            file, largestLineBytes: largestLineBytes, largestCount: largestCount, passesOverBlanks: format != .lines,
            shouldStop: shouldStop)
    }

    /// One text.
    ///
    /// - Throws: `damaged` with the line's number where it is not UTF-8, no JSON object, or without that field;
    ///   `notReadable`.
    package func text(at position: Int) throws(DataError) -> String {
        let line = index.lines[position]
        var bytes = [UInt8](repeating: 0, count: line.byteCount)
        try bytes.withMutableDataBytes { bytes throws(DataError) in try file.read(into: bytes, offset: line.offset) }
        do throws(DataError) {
            guard case .jsonLines(let field) = format else {
                guard let text = String(validating: bytes, as: UTF8.self) else { throw .damaged("it is not UTF-8") }
                return text
            }
            let object = try JSONReader.value(of: bytes)
            guard object.members != nil else { throw .damaged("it is no JSON object") }
            guard let text = object[field]?.string else { throw .damaged("it has no text \"\(field)\"") }
            return text
        } catch {
            throw DataError(code: error.code, sentence: "Line \(line.number) cannot be used: \(error.sentence)")
        }
    }

    /// The number of its line, counted from 1.
    package func line(at position: Int) -> Int { index.lines[position].number }
}
