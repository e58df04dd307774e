import ArgumentParser
import ChunkedCompute
import Glibc
import ImageCodecs
import ImageExport

/// The file, or the files, that a command makes pages of pictures into.
struct SheetOutput {
    /// As given, but absolute.
    let path: String
    let format: ImageFormat
    let replaces: Bool

    /// - Parameters:
    ///   - path: As on the command line.
    ///   - format: What was asked for; nil goes by the name.
    ///   - replaces: Whether files that are there give way.
    /// - Throws: Where the name tells no format that is written.
    init(_ path: String, format: ImageFormat?, replaces: Bool) throws(OutputSpec.Mistake) {
        self.path = CanonicalPath.input(path)
        self.replaces = replaces
        guard let format else {
            guard let name = PictureNames.fileExtension(path), let known = try? OutputSpec.format(name) else {
                throw OutputSpec.Mistake(
                    description: "the name \(path) tells no format; end it with .jpg, or add --format")
            }
            self.format = known
            return
        }
        self.format = format
    }

    /// The path of a page: its own where there is one, else with its number before the extension.
    func path(page: Int, of pages: Int) -> String {
        pages > 1 ? "\(path[..<dot])-\(page + 1)\(path[dot...])" : path
    }

    /// Whether a page of this output may stand there.
    func isPage(_ other: String) -> Bool {
        guard other != path else { return true }
        guard other.hasPrefix(path[..<dot] + "-"), other.hasSuffix(path[dot...]) else { return false }
        let number = other.dropFirst(path[..<dot].count + 1).dropLast(path[dot...].count)
        return !number.isEmpty && number.allSatisfy(\.isNumber)
    }

    /// Where the extension begins.
    private var dot: String.Index {
        let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        return path[name...].lastIndex(of: ".") ?? path.endIndex
    }

    /// - Throws: An exit status, after telling what stands in the way.
    func check(pages: Int) throws {
        if let ending = WorkEnding.missingLibrary(of: [format]) { throw ending.told() }
        for page in 0..<pages where !replaces && access(path(page: page, of: pages), F_OK) == 0 {
            throw WholeFile.exists(path(page: page, of: pages))
        }
    }

    /// Tells why no page was made.
    ///
    /// - Parameters:
    ///   - error: What came in between.
    ///   - input: The one picture that was to be shown.
    /// - Returns: What the command has to throw.
    static func told(_ error: any Error, of input: String? = nil) -> ExitCode {
        let failure = ImageExporter.failure(error)
        let status: ExitStatus =
            switch failure.code {
            case "outputExists", "outputRefused": .cannotCreate
            case "diskFull", "outputFailed": .writeFailed
            case "encode": .usage
            case "libraryMissing": .unavailable
            case "internal", "device": .bug
            default: .doneWithFailures
            }
        // What befalls the output names that itself.
        let place = status == .doneWithFailures ? input.map { "\($0): " } ?? "" : ""
        return Trouble.told("nothing was made: \(place)\(failure.reason).", fix: fix(failure), status)
    }

    private static func fix(_ failure: ItemResult.Failure) -> String {
        switch failure.code {
        case "outputExists": "Name another file, or add --force."
        case "encode": "Ask for a smaller page."
        case "diskFull": "Make room there."
        default: "Nothing was changed."
        }
    }
}

extension WorkEnding {
    /// Tells why a command that is no job does not begin.
    ///
    /// - Returns: What the command has to throw.
    func told() -> ExitCode {
        StandardError.write(text)
        return status.code
    }
}
