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
    /// - Throws: Where the name tells no format that is written, or another one than was asked for.
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
        if let ending = PictureNames.fileExtension(path), PictureNames.promisePicture(path),
            !format.endings.contains(ending)
        {
            throw OutputSpec.Mistake(description: "the name \(path) promises another format than \(format.name)")
        }
        self.format = format
    }

    /// The path of a page: its own where there is one, else with its number before the extension.
    func path(page: Int, of pages: Int) -> String {
        pages > 1 ? "\(path[..<dot])-\(page + 1)\(path[dot...])" : path
    }

    /// Where the extension begins.
    private var dot: String.Index {
        let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        return path[name...].lastIndex(of: ".") ?? path.endIndex
    }

    /// - Parameters:
    ///   - pages: How many there will be.
    ///   - inputs: Files that are never replaced, by whatever name they are reached.
    /// - Throws: An exit status, after telling what stands in the way.
    func check(pages: Int, inputs: Set<FileKey>) throws {
        if let ending = WorkEnding.missingLibrary(of: [format]) { throw ending.told() }
        for path in (0..<pages).map({ path(page: $0, of: pages) }) {
            var status = stat()
            guard stat(path, &status) == 0 else { continue }
            guard !inputs.contains(FileKey(status)) else {
                throw Trouble.told("overwritesInput: \(path) is an input itself.", fix: "Name another file.", .usage)
            }
            guard replaces else { throw WholeFile.exists(path) }
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
