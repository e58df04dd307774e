import Foundation
import ImageCodecs
import ImageExport

/// Finds the files that marks are made of, and notes what is in them.
enum MarkFiles {
    /// - Returns: Why nothing can be started; nil where all files are there.
    static func look(at specs: inout [OutputSpec], noting files: inout SideFiles) -> WorkEnding? {
        for index in specs.indices {
            if let path = specs[index].settings.pictureMark?.file.path {
                let path = CanonicalPath.input(path)
                guard let checksum = files.note(path) else { return missing(path) }
                guard ContentCheck.looksLikePicture(path) else {
                    return .refused(
                        "watermark", .usage,
                        "bgrun: nothing was started: the watermark \(path.onOneLine) is no picture.\n")
                }
                specs[index].settings.pictureMark?.file = MarkFile(path: path, checksum: checksum)
            }
            if let font = specs[index].settings.textMark?.font.path {
                let path: String
                do throws(ExportFailure) {
                    path = try fontFile(font)
                } catch {
                    return .refused(
                        "font", .unavailable,
                        """
                        bgrun: nothing was started: \(error.reason). Install one (e.g. apt-get install fonts-dejavu-core), or \
                        name a file with --font.

                        """)
                }
                guard let checksum = files.note(path) else { return missing(path) }
                specs[index].settings.textMark?.font = MarkFile(path: path, checksum: checksum)
            }
        }
        return nil
    }

    /// A file by its path, or an installed font by its name.
    private static func fontFile(_ font: String) throws(ExportFailure) -> String {
        if font.contains("/") || FileManager.default.fileExists(atPath: font) { return CanonicalPath.input(font) }
        return try FontCatalogue.file(for: font)
    }

    private static func missing(_ path: String) -> WorkEnding {
        .missing([InputProblem(path: path, code: "missing", reason: "it does not exist or cannot be read")])
    }
}
