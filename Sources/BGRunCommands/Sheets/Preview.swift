import ChunkedCompute
import Glibc
import ImageCodecs
import ImageExport
import SystemText

/// Carries out `bgrun preview`.
struct Preview {
    /// Pixels of the longer edge of what is shown, where no size is asked for.
    static let longEdge = 1600
    /// Of a page with two pictures, in pixels.
    private static let (gap, captionHeight) = (8, 24)

    private let input: String
    private let output: SheetOutput
    private let spec: OutputSpec
    private let isSized: Bool
    private let showsBefore: Bool
    private let hasCaptions: Bool
    private let printsJSON: Bool
    private let limits: DecodeLimits
    private let pulse = CodecPulse { true }

    /// - Throws: A mistake in the flags.
    init(_ command: PreviewCommand) throws {
        input = CanonicalPath.input(command.input)
        spec = try command.spec()
        output = try SheetOutput(command.out, format: spec.settings.format, replaces: command.force)
        isSized = command.output.size != nil
        showsBefore = command.beforeAfter
        hasCaptions = !command.noCaptions
        printsJSON = command.json
        limits = command.limits.limits
    }

    /// - Throws: An exit status, after telling what is wrong.
    func make() throws {
        do {
            try makePicture()
        } catch let refusal as SheetRefusal {
            StandardError.write(refusal.text)
            if printsJSON {
                let summary = Summary(outcome: refusal.outcome, message: refusal.text, input: input)
                try StandardOutput.print(JSONText.encode(summary) + "\n")
            }
            throw refusal.status.code
        }
    }

    private func makePicture() throws {
        var status = stat()
        guard stat(input.systemBytes, &status) == 0 else {
            throw SheetRefusal("missingInput", .missingInput, "\(input) does not exist.", fix: "Name a picture.")
        }
        try output.check(pages: 1, inputs: [FileKey(status)])
        var specs = [spec]
        var files = SideFiles()
        if let ending = MarkFiles.look(at: &specs, noting: &files) { throw SheetRefusal(ending) }
        var settings = specs[0].settings
        if !isSized, !showsBefore { settings.size = .longEdge(Self.longEdge) }
        let captions = captions()
        try SheetConfinement.begin(reading: [input] + settings.markFiles.map(\.path), writing: output)
        if showsBefore { try makeBoth(settings, captions) } else { try makeResult(settings) }
    }

    private func makeResult(_ settings: OutputSettings) throws {
        let item = ExportItem(
            input: input,
            outputs: [.init(settings: settings, path: output.path, mayReplace: output.replaces)], lane: .cpu,
            limits: limits)
        let result = ImageExporter().export(item) { _ in true }
        if let failure = result.failure {
            throw SheetOutput.refusal(ExportFailure(failure.code, failure.reason), of: input)
        }
        guard let file = result.outputs.first else { preconditionFailure("what did not fail has an output") }
        try tell(file, damage: result.damage)
    }

    private func makeBoth(_ settings: OutputSettings, _ captions: Captions?) throws {
        let made: (ItemResult.Output, [String])
        do {
            made = try drawBoth(settings, captions)
        } catch {
            throw SheetOutput.refusal(error, of: input)
        }
        try tell(made.0, damage: made.1)
    }

    private func drawBoth(
        _ settings: OutputSettings, _ captions: Captions?
    ) throws -> (ItemResult.Output, [String]) {
        let renderer = PictureRenderer()
        var wanted = settings
        // Flattened, whatever the file's own format.
        wanted.format = .jpeg
        let shape = try renderer.shape(input, wanted, limits: limits, pulse: pulse)
        let isWide = shape.width >= shape.height
        if !isSized {
            let half = Self.longEdge / 2
            wanted.size = .fit(width: isWide ? 2 * half : half, height: isWide ? half : 2 * half)
        }
        let pictures = try [Self.plain(wanted), wanted].map {
            try renderer.render(input, $0, limits: limits, pulse: pulse)
        }
        let layout = SheetLayout(
            columns: isWide ? 1 : 2, rows: isWide ? 2 : 1, tileWidth: pictures.map(\.width).max() ?? 1,
            tileHeight: pictures.map(\.height).max() ?? 1, captionHeight: captions == nil ? 0 : Self.captionHeight,
            gap: Self.gap, background: [255, 255, 255])
        let tiles = zip(pictures, ["before", "after"]).map { SheetTile(picture: $0, caption: $1) }
        let page = try SheetPage(layout: layout, settings: settings, captions: captions, path: output.path)
        for row in isWide ? tiles.map({ [$0] }) : [tiles] { try page.draw(row) }
        let file = try page.finish()
        try page.commit(mayReplace: output.replaces)
        return (file, pictures.first?.damage ?? [])
    }

    /// The same size and colours, and no change of the picture.
    private static func plain(_ settings: OutputSettings) -> OutputSettings {
        var plain = OutputSettings()
        plain.size = settings.size
        plain.enlarge = settings.enlarge
        plain.gravity = settings.gravity
        plain.format = settings.format
        plain.colorSpace = settings.colorSpace
        plain.linearLight = settings.linearLight
        plain.exact = settings.exact
        plain.matte = settings.matte
        plain.raw = settings.raw
        return plain
    }

    /// nil where they are not wanted, and where there is no font for them, which is said.
    private func captions() -> Captions? {
        guard showsBefore, hasCaptions else { return nil }
        do {
            return try Captions(font: FontCatalogue.file(for: Captions.font), limits: limits, pulse: pulse)
        } catch {
            StandardError.write("The words under the pictures are left out: \(ImageExporter.failure(error).reason).\n")
            return nil
        }
    }

    private struct Summary: Encodable {
        /// Raised when a field changes its meaning or goes away.
        let version = 1
        /// `completed`, `completedWithFailures` for a damaged input, or `failed.` and a code where nothing was made.
        var outcome: String
        /// Why nothing was made, for a person.
        var message: String?
        var input: String
        // Of what was made.
        var path: String?
        var width: Int?
        var height: Int?
        var bytes: Int?
        var damage: [String] = []
    }

    private func tell(_ file: ItemResult.Output, damage: [String]) throws {
        if printsJSON {
            let summary = Summary(
                outcome: damage.isEmpty ? "completed" : "completedWithFailures", input: input, path: file.path,
                width: file.width, height: file.height, bytes: file.bytes, damage: damage)
            try StandardOutput.print(JSONText.encode(summary) + "\n")
        } else {
            StandardError.write("\(file.path.onOneLine): \(file.width)x\(file.height), \(file.bytes) bytes\n")
        }
        guard damage.isEmpty else {
            throw Trouble.told(
                "\(input) is damaged: \(damage.joined(separator: "; ")).", fix: "What could be read is shown.",
                .doneWithFailures)
        }
    }
}
