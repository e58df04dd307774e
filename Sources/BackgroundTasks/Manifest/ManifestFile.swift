import DescribedFile

/// Reads a manifest from YAML or JSON.
package enum ManifestFile {
    /// A manifest is a page or two; whatever is larger is something else.
    private static let maxBytes = 256 * 1024

    /// The manifest in a file.
    package static func read(path: String) throws(ManifestError) -> Manifest {
        do throws(FileMistakes) {
            return try manifest(DescribedFile.read(path: path, maxBytes: maxBytes))
        } catch {
            throw ManifestError(error.mistakes, file: path)
        }
    }

    /// The manifest in a text.
    package static func parse(_ text: String, file: String? = nil) throws(ManifestError) -> Manifest {
        do throws(FileMistakes) {
            return try manifest(DescribedFile.parse(text, file: file ?? "manifest"))
        } catch {
            throw ManifestError(error.mistakes, file: file)
        }
    }

    private static func manifest(_ file: DescribedFile) throws(FileMistakes) -> Manifest {
        let described = DescribedManifest.read(file.root)
        try file.log.check()
        guard let described else { preconditionFailure("a manifest that was not read has a mistake") }
        return Manifest(program: described.program, grantsHealthResearch: described.grantsHealthResearch)
    }
}

extension ManifestError {
    init(_ mistakes: [FileMistake], file: String?) {
        let found = mistakes.map {
            Mistake(code: $0.code, field: $0.field, line: $0.line, sentence: $0.sentence, fix: $0.fix)
        }
        precondition(!found.isEmpty, "a manifest without a mistake is no error")
        self.init(file: file, first: found[0], others: Array(found.dropFirst()))
    }
}
