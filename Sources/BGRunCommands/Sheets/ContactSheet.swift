import ArgumentParser
import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport
import SystemText
import TaskModel
import TaskStore

/// Carries out `bgrun contact-sheet`: one picture after the other, a row of tiles in memory.
final class ContactSheet {
    private static let creator = "bgrun contact-sheet"

    private let command: ContactSheetCommand
    private let output: SheetOutput
    private let settings: OutputSettings
    private let tile: OutputSettings
    private let limits: DecodeLimits
    private let renderer = PictureRenderer()
    private let pulse = CodecPulse { true }
    private var display: ProgressDisplay
    private var summary = ContactSheetSummary()

    /// - Throws: A mistake in the flags.
    init(_ command: ContactSheetCommand) throws {
        self.command = command
        settings = try command.settings()
        output = try SheetOutput(command.out, format: settings.format, replaces: command.force)
        let size = try command.tileSize()
        var tile = OutputSettings()
        tile.size = .fit(width: size.width, height: size.height)
        // Flattened onto the page.
        tile.format = .jpeg
        tile.matte = try OutputSpec.color("background", command.background)
        self.tile = tile
        var limits = command.limits.limits
        limits.maxWorkingBytes = Machine.defaultClaimBytes(workers: 4)
        self.limits = limits
        display = ProgressDisplay(command.progress)
    }

    /// - Throws: An exit status, after telling what is wrong.
    func make() throws {
        do {
            try makePages()
        } catch let refusal as SheetRefusal {
            summary.outcome = refusal.outcome
            summary.message = refusal.text
            (summary.pages, summary.shown) = ([], 0)
            try tell(refusal.text)
            throw refusal.status.code
        }
        let isSound = summary.problems.isEmpty
        summary.outcome = isSound ? "completed" : "completedWithFailures"
        try tell(summary.text)
        guard isSound else { throw ExitStatus.doneWithFailures.code }
    }

    private func makePages() throws {
        let photos = try photos()
        summary.pictures = photos.count
        let columns = min(command.columns, photos.count)
        let perPage = picturesOfAPage(photos.count)
        let parts = stride(from: 0, to: photos.count, by: perPage).map { photos[$0..<min($0 + perPage, photos.count)] }
        try output.check(pages: parts.count, inputs: Set(photos.map(\.key)))
        let captions = try captions()
        let paths = Set(parts.indices.map { PathKey(output.path(page: $0, of: parts.count)) })
        // They are looked at before this process gives up its rights.
        let older = output.standingPages.filter { !paths.contains(PathKey($0)) && Self.isPage($0) }
        try SheetConfinement.begin(reading: photos.map(\.path), writing: output)
        do {
            var pages: [SheetPage] = []
            for (number, part) in parts.enumerated() {
                let page = try SheetPage(
                    layout: command.layout(columns: columns, rows: (part.count + columns - 1) / columns),
                    settings: settings, captions: captions, path: output.path(page: number, of: parts.count),
                    creator: Self.creator)
                try draw(part, on: page)
                summary.pages.append(.init(try page.finish()))
                pages.append(page)
            }
            // Empty pages are no use to anybody.
            if summary.shown == 0 { summary.pages = [] }
            for page in pages where summary.shown > 0 { try page.commit(mayReplace: output.replaces) }
        } catch {
            let smaller =
                command.pages
                ? "Ask for smaller tiles, or fewer of them with --columns and --rows."
                : "Divide the pictures over several pages with --pages, or ask for smaller tiles."
            throw SheetOutput.refusal(error, smaller: smaller)
        }
        if summary.shown > 0 { summary.olderPages = older }
    }

    /// What is to be shown; what is no picture and was not named is passed over.
    private func photos() throws -> [InputFile] {
        let scan = InputScan(command.inputs.map(CanonicalPath.input), excluding: "")
        for problem in scan.missing {
            summary.problems.append(
                .init(input: problem.path, status: .failed, code: problem.code, reason: problem.reason))
        }
        if !scan.missing.isEmpty { throw SheetRefusal(WorkEnding.missing(scan.missing)) }
        for problem in scan.problems { note(problem.path, .failed, problem.code, problem.reason) }
        var photos = scan.files.filter {
            $0.isNamed || PictureNames.promisePicture($0.name) || ContentCheck.looksLikePicture($0.path)
        }
        // Pages of an earlier run among the pictures are none of them; a picture at the path of a page is one.
        photos.removeAll { file in
            guard output.hasPageName(file.path), Self.isPage(file.path) else { return false }
            display.note("\(file.path): passed over, it is a page of this sheet or of an earlier one")
            return true
        }
        guard !photos.isEmpty else {
            throw SheetRefusal(
                "nothingFound", .missingInput, "there is no picture in what was named.", fix: "Nothing was made.")
        }
        return photos
    }

    /// Whether a file says of itself that this command made it. Its bytes are searched, since no picture is decoded before
    /// this process has given up its rights.
    private static func isPage(_ path: String) -> Bool {
        let mark = Data(SheetPage.mark(of: creator).utf8)
        return SystemFile.withMappedBytes(path) { bytes in
            guard let base = bytes.baseAddress else { return false }
            let file = Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: bytes.count, deallocator: .none)
            return file.range(of: mark) != nil
        } ?? false
    }

    /// How many pictures a page has at most, of so many in all.
    private func picturesOfAPage(_ count: Int) -> Int {
        max(1, command.rowsOfAPage.map { $0 * min(command.columns, count) } ?? count)
    }

    private func captions() throws -> Captions? {
        guard command.captions == .name else { return nil }
        do {
            let font = command.font
            let path = font.contains("/") ? CanonicalPath.input(font) : try FontCatalogue.file(for: font)
            return try Captions(font: path, limits: limits, pulse: pulse)
        } catch {
            let fix =
                "Install a font (e.g. apt-get install fonts-dejavu-core), name a file with --font, "
                + "or add --captions none."
            throw SheetRefusal(
                "fontMissing", .unavailable, "there are no captions: \(ImageExporter.failure(error).reason).", fix: fix)
        }
    }

    private func draw(_ photos: ArraySlice<InputFile>, on page: SheetPage) throws {
        for start in stride(from: photos.startIndex, to: photos.endIndex, by: page.layout.columns) {
            let row = photos[start..<min(start + page.layout.columns, photos.endIndex)]
            try page.draw(row.map(tiled))
        }
    }

    /// nil for a picture that cannot be read, which is noted.
    private func tiled(_ photo: InputFile) -> SheetTile? {
        defer { show() }
        do {
            let picture = try renderer.render(photo.path, tile, limits: limits, pulse: pulse)
            if !picture.damage.isEmpty {
                note(photo.path, .damaged, "damaged", picture.damage.joined(separator: "; "))
            }
            summary.shown += 1
            return SheetTile(picture: picture, caption: command.captions == .name ? photo.name.shown : nil)
        } catch {
            let failure = ImageExporter.failure(error)
            note(photo.path, .failed, failure.code, failure.reason)
            summary.left += 1
            return nil
        }
    }

    private func note(_ path: String, _ status: ItemResult.Status, _ code: String, _ reason: String) {
        summary.problems.append(.init(input: path, status: status, code: code, reason: reason))
        display.note("\(path): \(status.rawValue), \(reason)")
    }

    private func show() {
        let done = summary.shown + summary.left
        display.show(
            ProgressSnapshot(
                itemsDone: done, itemsTotal: summary.pictures, failures: summary.problems.count,
                fraction: Double(done) / Double(max(1, summary.pictures)), megapixelsPerSecond: 0, secondsLeft: nil),
            device: "CPU", force: false)
    }

    private func tell(_ text: String) throws {
        let json = JSONText.encode(summary)
        display.ended(outcome: summary.outcome, summary: json, text: text)
        if command.json { try StandardOutput.print(json + "\n") }
    }
}
