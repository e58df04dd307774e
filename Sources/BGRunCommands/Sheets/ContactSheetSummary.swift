import ChunkedCompute

/// What became of the pictures of a contact sheet.
struct ContactSheetSummary: Encodable {
    struct Page: Encodable {
        let path: String
        let width: Int
        let height: Int
        let bytes: Int

        init(_ output: ItemResult.Output) {
            path = output.path
            width = output.width
            height = output.height
            bytes = output.bytes
        }
    }

    struct Problem: Encodable {
        let input: String
        /// `damaged` is shown as far as it could be read, `failed` is not.
        let status: ItemResult.Status
        let code: String
        let reason: String
    }

    /// Raised when a field changes its meaning or goes away.
    let version = 1
    /// `completed`, `completedWithFailures`, or `failed.` and a code where nothing was begun.
    var outcome = "completed"
    /// Why nothing was begun, for a person.
    var message: String?
    /// All that were found.
    var pictures = 0
    /// Those on the pages.
    var shown = 0
    /// Those whose places are empty.
    var left = 0
    var pages: [Page] = []
    var problems: [Problem] = []
    /// Files of an earlier sheet of the same name that are no pages of this one.
    var olderPages: [String] = []

    /// For a person, a line each.
    var text: String {
        guard !pages.isEmpty else { return "No picture could be read; nothing was made.\n" }
        let lines = pages.map { "\($0.path.onOneLine): \($0.width)x\($0.height), \($0.bytes) bytes" }
        let older = olderPages.map { "\($0.onOneLine) is of an earlier sheet and was left." }
        return (lines + ["\(shown) of \(pictures) pictures shown"] + older).joined(separator: "\n") + "\n"
    }
}
