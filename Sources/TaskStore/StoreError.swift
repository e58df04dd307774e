/// Why the journal cannot be used. Its file is left as it is.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// The folder or the file cannot be made or opened.
        case cannotOpen
        /// The file is not a journal, or it is damaged.
        case damaged
        /// A newer version of the program has changed its form.
        case newerVersion
        /// Another process held it for longer than the waiting time.
        case busy
        /// The volume is full or failed while writing.
        case writeFailed
    }

    package let code: Code
    /// One sentence that names the file.
    package let sentence: String
    /// What the person can do.
    package let fix: String

    package init(_ code: Code, _ sentence: String, fix: String) {
        self.code = code
        self.sentence = sentence
        self.fix = fix
    }

    package var description: String { "\(sentence) \(fix)" }
}
