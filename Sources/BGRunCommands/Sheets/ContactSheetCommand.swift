import ArgumentParser
import ImageExport

/// `bgrun contact-sheet`: many pictures, small, on pages.
struct ContactSheetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contact-sheet",
        abstract: "Put many pictures, small, on a page or on several.",
        discussion: """
            Inputs are files and folders, with everything below them, in order of name. Pages appear all at once when \
            the last one is made, or not at all. The place of a picture that cannot be read stays empty, and the picture \
            is named. Pages of an earlier sheet of the same name are no pictures; those that are not made anew are left, \
            and are named too.

            EXAMPLES
              bgrun contact-sheet photos --out sheet.jpg
              bgrun contact-sheet photos --out sheet.jpg --pages --columns 6 --rows 8
              bgrun contact-sheet *.jpg --out sheet.png --tile 320x240 --captions none --background 202020

            EXIT STATUS
              0    every picture is on a page
              64   the command cannot be carried out as given, or a page would be too large for its format
                   (--pages divides the pictures over several)
              65   the pages were made, but some pictures are damaged or could not be read (they are listed)
              66   an input that was named does not exist, or there is none; nothing was made
              69   a font or a library of a format is missing; nothing was made
              73   a page exists already or cannot be made; 74: writing failed
            """)

    @Argument(help: "Pictures and folders of pictures.", completion: .file())
    var inputs: [String]

    @Option(help: .init("The page; its name tells the format.", valueName: "sheet.jpg"), completion: .file())
    var out: String

    @Option(help: .init("Tiles beside each other.", valueName: "n"))
    var columns = 5

    @Flag(help: "Begin a new page after --rows rows: sheet-1.jpg, sheet-2.jpg. Without it all are on one page.")
    var pages = false

    @Option(help: .init("Rows of tiles on a page, by default 6; with --pages.", valueName: "n"))
    var rows: Int?

    @Option(help: .init("Largest size of a picture in pixels.", valueName: "WxH"))
    var tile = "240x240"

    @Option(help: .init("What is below each picture.", valueName: "name|none"))
    var captions = CaptionKind.name

    @Option(help: .init("Colour around the pictures.", valueName: "RRGGBB"))
    var background = "ffffff"

    @Option(help: .init("Font of the captions: a file, or the name of an installed one.", valueName: "font"))
    var font = Captions.font

    @Option(help: .init("jpeg, png, tiff, webp, avif or jxl; by default that of the name.", valueName: "format"))
    var format: String?

    @Option(help: .init("1 to 100; by default that of bgrun export.", valueName: "n"))
    var quality: Int?

    @Flag(help: "Replace pages that are there.")
    var force = false

    @Flag(help: "Print a summary as JSON on standard output, also of why nothing was made.")
    var json = false

    @Option(help: .init("auto, plain, json or none.", valueName: "mode"))
    var progress = ProgressDisplay.Mode.auto

    @OptionGroup(title: "LIMITS") var limits: LimitFlags

    enum CaptionKind: String, CaseIterable, ExpressibleByArgument {
        case name, none
    }

    /// The longest edge of a tile, in pixels.
    private static let maxEdge = 4096

    func validate() throws {
        guard !inputs.isEmpty else { throw ValidationError("name at least one picture or folder") }
        guard !out.isEmpty, !inputs.contains("") else { throw ValidationError("an empty path is no file or folder") }
        guard (1...100).contains(columns) else { throw ValidationError("--columns takes a number from 1 to 100") }
        guard rows.map({ (1...1000).contains($0) }) ?? true else {
            throw ValidationError("--rows takes a number from 1 to 1000")
        }
        guard rows == nil || pages else { throw ValidationError("--rows goes with --pages") }
        do {
            _ = (try settings(), try layout(columns: columns, rows: 1))
        } catch {
            throw ValidationError("\(error)")
        }
    }

    func run() throws {
        try ContactSheet(self).make()
    }

    /// The most rows of a page; nil for any number.
    var rowsOfAPage: Int? { pages ? rows ?? 6 : nil }

    func tileSize() throws(OutputSpec.Mistake) -> (width: Int, height: Int) {
        let edges = tile.split(separator: "x", omittingEmptySubsequences: false).compactMap { Int($0) }
        guard edges.count == 2, edges.allSatisfy({ (16...Self.maxEdge).contains($0) }) else {
            throw OutputSpec.Mistake(description: "a tile is WxH of 16 to \(Self.maxEdge) pixels, not \"\(tile)\"")
        }
        return (edges[0], edges[1])
    }

    /// How pages are encoded.
    func settings() throws(OutputSpec.Mistake) -> OutputSettings {
        var spec = OutputSpec()
        if let format { try spec.set("format", to: format) }
        if let quality { try spec.set("quality", to: "\(quality)") }
        spec.settings.format = try SheetOutput(out, format: spec.settings.format, replaces: force).format
        if let contradiction = spec.contradiction { throw OutputSpec.Mistake(description: contradiction) }
        return spec.settings
    }

    /// A page of so many tiles.
    func layout(columns: Int, rows: Int) throws(OutputSpec.Mistake) -> SheetLayout {
        let size = try tileSize()
        let shorter = min(size.width, size.height)
        return SheetLayout(
            columns: columns, rows: rows, tileWidth: size.width, tileHeight: size.height,
            captionHeight: captions == .none ? 0 : max(14, shorter / 10),
            gap: max(4, shorter / 24), background: try OutputSpec.color("background", background))
    }
}
