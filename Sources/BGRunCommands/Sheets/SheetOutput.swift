import ChunkedCompute
import Foundation
import Glibc
import ImageCodecs
import ImageExport
import SystemText
import TaskStore

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

    /// Whether a path is the sheet's own, or that of a page of it, with any number.
    func hasPageName(_ path: String) -> Bool {
        guard PathKey(path) != PathKey(self.path) else { return true }
        let (stem, ending) = (Array("\(self.path[..<dot])-".utf8), Array(self.path[dot...].utf8))
        let bytes = Array(path.utf8)
        guard bytes.count > stem.count + ending.count, bytes.starts(with: stem),
            bytes.suffix(ending.count).elementsEqual(ending)
        else { return false }
        let number = bytes[stem.count..<bytes.count - ending.count]
        return number.first != UInt8(ascii: "0") && number.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
    }

    /// Files beside the sheet that have the names of pages of it, in order of their bytes.
    var standingPages: [String] {
        let folder = OutputFolderGuard.parent(path)
        let names = SystemFile.names(in: folder) ?? []
        let paths = names.map { folder == "/" ? "/" + $0 : folder + "/" + $0 }
        return paths.filter { path in
            var status = stat()
            // What is no file is not opened.
            return hasPageName(path) && stat(path.systemBytes, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Where the extension begins.
    private var dot: String.Index {
        let bytes = path.utf8
        let name = bytes.lastIndex(of: UInt8(ascii: "/")).map { bytes.index(after: $0) } ?? bytes.startIndex
        return bytes[name...].lastIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
    }

    /// - Parameters:
    ///   - pages: How many there will be.
    ///   - inputs: Files that are never replaced, by whatever name they are reached.
    /// - Throws: What stands in the way.
    func check(pages: Int, inputs: Set<FileKey>) throws(SheetRefusal) {
        if let ending = WorkEnding.missingLibrary(of: [format]) { throw SheetRefusal(ending) }
        for path in (0..<pages).map({ path(page: $0, of: pages) }) {
            var status = stat()
            guard stat(path.systemBytes, &status) == 0 else { continue }
            guard !inputs.contains(FileKey(status)) else {
                throw SheetRefusal(
                    "overwritesInput", .usage, "overwritesInput: \(path) is an input itself.",
                    fix: "Name another file.")
            }
            guard replaces else {
                throw SheetRefusal(
                    "outputExists", .cannotCreate, "\(path) exists already.",
                    fix: "Name another file, or add --force.")
            }
        }
    }

    /// Why no page was made.
    ///
    /// - Parameters:
    ///   - error: What came in between.
    ///   - input: The one picture that was to be shown.
    ///   - smaller: What to do about a page that is too large for its format.
    /// - Returns: What the command has to throw.
    static func refusal(
        _ error: any Error, of input: String? = nil, smaller: String = "Ask for a smaller page."
    ) -> SheetRefusal {
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
        let fix =
            switch failure.code {
            case "outputExists": "Name another file, or add --force."
            case "encode": smaller
            case "diskFull": "Make room there."
            default: "Nothing was changed."
            }
        return SheetRefusal(failure.code, status, "nothing was made: \(place)\(failure.reason).", fix: fix)
    }
}
