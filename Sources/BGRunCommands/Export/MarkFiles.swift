import ChunkedCompute
import Foundation
import Glibc
import ImageCodecs
import ImageExport
import SystemText

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
            if let text = specs[index].settings.textMark {
                let path: String
                do throws(ExportFailure) {
                    path = try fontFile(text.font.path)
                } catch {
                    return noFont(error.reason)
                }
                guard let checksum = files.note(path) else { return missing(path) }
                if let ending = check(text, font: path) { return ending }
                specs[index].settings.textMark?.font = MarkFile(path: path, checksum: checksum)
            }
        }
        return nil
    }

    /// A file by its path, or an installed font by its name.
    private static func fontFile(_ font: String) throws(ExportFailure) -> String {
        if font.contains("/") || SystemFile.exists(font) { return CanonicalPath.input(font) }
        return try FontCatalogue.file(for: font)
    }

    private static func noFont(_ reason: String) -> WorkEnding {
        .refused(
            "font", .unavailable,
            """
            bgrun: nothing was started: \(reason). Install one (e.g. apt-get install fonts-dejavu-core), or \
            name a file with --font.

            """)
    }

    /// Whether the font has what is the same in every picture's text.
    private static func check(_ text: TextMark, font path: String) -> WorkEnding? {
        let face: Typeface
        do {
            face = try Typeface(path: path, limits: DecodeLimits(), pulse: CodecPulse { true })
        } catch {
            return .refused(
                "font", .unavailable,
                "bgrun: nothing was started: \(ImageExporter.failure(error).reason). Install what is missing, or name another "
                    + "font with --font.\n")
        }
        do {
            try MarkMaker.check(text, face: face)
            return nil
        } catch {
            let reason = ImageExporter.failure(error).reason
            return .refused(
                "watermark", .usage,
                "bgrun: nothing was started: \(reason), in the font \(path.onOneLine). --font names another one.\n")
        }
    }

    private static func missing(_ path: String) -> WorkEnding {
        var status = stat()
        let isThere = stat(path.systemBytes, &status) == 0
        let isFile = isThere && status.st_mode & S_IFMT == S_IFREG
        let reason = isFile ? "it cannot be read" : isThere ? "it is no file" : "it does not exist"
        // A name may have a colon; a place that is not known looks like one.
        let hint = path.last { $0 == ":" || $0 == "/" } == ":" ? "; or what follows its last colon is no place" : ""
        return .missing([InputProblem(path: path, code: "missing", reason: reason + hint)])
    }
}
