import DescribedFile
import TaskModel

/// Reads a manifest from YAML or JSON.
package enum ManifestFile {
    /// A manifest is a page or two; whatever is larger is something else.
    private static let maxBytes = 256 * 1024

    /// The manifest in a file.
    package static func read(path: String) throws(ManifestError) -> Manifest {
        do {
            return try manifest(try DescribedFile.read(path: path, maxBytes: maxBytes))
        } catch {
            throw ManifestError(error)
        }
    }

    /// The manifest in a text.
    package static func parse(_ text: String, file: String) throws(ManifestError) -> Manifest {
        do {
            return try manifest(try DescribedFile.parse(text, file: file))
        } catch {
            throw ManifestError(error)
        }
    }

    static func manifest(_ file: DescribedFile) throws(FileMistakes) -> Manifest {
        let program = DescribedManifest.read(file.root)
        try file.log.check()
        guard let program else { preconditionFailure("a manifest without mistakes can be read") }
        return Manifest(
            program: program, grantsHealthResearch: DescribedManifest.names(grant: "healthResearch", in: file.root))
    }
}
