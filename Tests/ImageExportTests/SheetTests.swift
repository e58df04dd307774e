import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport
import SamplePhotos
import TemporaryFolders
import Testing

/// Pictures in memory, and pages of them.
@Suite struct SheetTests {
    let framing = FramingTests()
    let pulse = CodecPulse { true }

    func rendered(_ input: String, _ settings: OutputSettings) throws -> RenderedPicture {
        try PictureRenderer().render(input, settings, limits: DecodeLimits(), pulse: pulse)
    }

    /// A layout of 2 x 2 tiles.
    func layout(captionHeight: Int = 0) -> SheetLayout {
        SheetLayout(
            columns: 2, rows: 2, tileWidth: 30, tileHeight: 20, captionHeight: captionHeight, gap: 3,
            background: [9, 99, 199])
    }

    func page(_ folder: TemporaryFolder, _ layout: SheetLayout, _ rows: [[SheetTile?]], captions: Captions? = nil)
        throws
        -> Decoded
    {
        let path = folder.file("page.png")
        let page = try SheetPage(
            layout: layout, settings: settings { $0.format = .png }, captions: captions, path: path)
        for row in rows { try page.draw(row) }
        let file = try page.finish()
        #expect(!FileManager.default.fileExists(atPath: path))
        try page.commit(mayReplace: true)
        #expect((file.width, file.height) == (layout.width, layout.height))
        return try Decoded(path)
    }

    func color(_ code: UInt8, _ folder: TemporaryFolder, width: Int = 60, height: Int = 40) throws -> RenderedPicture {
        let pixels = [UInt8](repeating: code, count: 4 * width * height)
        let input = try folder.write(
            "\(code).png", pixels, EncodeRequest(format: .png, width: width, height: height, layout: .rgbx8))
        let wanted = settings {
            $0.format = .jpeg
            $0.size = .fit(width: 30, height: 20)
        }
        return try rendered(input, wanted)
    }

    @Test(arguments: [1, 5]) func aPictureInMemoryIsThatOfTheFile(_ orientation: Int) throws {
        let folder = try TemporaryFolder()
        let input = try framing.photo(folder, orientation: orientation)
        let wanted = settings {
            $0.format = .png
            $0.size = .longEdge(33)
            $0.straighten = 3
            $0.border = Border(pixels: 2, color: [7, 8, 9])
            $0.operations = [.denoise(Denoising(luma: 0.2, chroma: 0.2)), .grain(Grain(amount: 0.1, size: 1, seed: 3))]
        }
        #expect(export(input, to: [(folder.file("out.png"), wanted)]).status == .good)
        let file = try Decoded(folder.file("out.png"))
        let picture = try rendered(input, wanted)
        #expect((picture.width, picture.height) == (file.width, file.height))
        #expect(picture.bytes == file.bytes)
        let shape = try PictureRenderer().shape(input, wanted, limits: DecodeLimits(), pulse: pulse)
        #expect((shape.width + 4, shape.height + 4) == (file.width, file.height))
    }

    @Test func clearPartsAreKeptForPNGAndFlattenedElsewhere() throws {
        let folder = try TemporaryFolder()
        let input = try folder.write(
            "clear.png", [UInt8](repeating: 0, count: 4 * 8 * 8),
            EncodeRequest(format: .png, width: 8, height: 8, layout: .rgba8))
        let kept = try rendered(input, settings { $0.format = .png })
        #expect(kept.hasAlpha && kept.bytes[3] == 0)
        let flat = try rendered(
            input,
            settings {
                $0.format = .jpeg
                $0.matte = [1, 2, 3]
            })
        #expect(!flat.hasAlpha && Array(flat.bytes[0..<3]) == [1, 2, 3])
    }

    @Test func tilesLieInTheMiddleOfTheirPlaces() throws {
        let folder = try TemporaryFolder()
        let wide = SheetTile(picture: try color(50, folder), caption: nil)
        let high = SheetTile(picture: try color(200, folder, width: 40, height: 80), caption: nil)
        #expect((high.picture.width, high.picture.height) == (10, 20))
        let layout = layout()
        let made = try page(folder, layout, [[wide, nil], [high, wide]])
        #expect((made.width, made.height) == (69, 49))
        for y in 0..<made.height {
            for x in 0..<made.width {
                let isWide =
                    (3..<33).contains(x) && (3..<23).contains(y) || (36..<66).contains(x) && (26..<46).contains(y)
                let isHigh = (13..<23).contains(x) && (26..<46).contains(y)
                let expected = isWide ? [50, 50, 50] : isHigh ? [200, 200, 200] : layout.background
                if framing.pixel(made, x, y) != expected { Issue.record("a wrong pixel at \(x), \(y)") }
            }
        }
    }

    @Test func captionsStandBelowTheirTilesAndWithinThem() throws {
        let folder = try TemporaryFolder()
        let captions = try Captions(
            font: FontCatalogue.file(for: Captions.font), limits: DecodeLimits(), pulse: pulse)
        let tile = try color(50, folder)
        let texts = ["Ab", String(repeating: "a long name ", count: 20), "\u{4e2d}\u{10FFFD}", nil]
        let tiles = texts.map { SheetTile(picture: tile, caption: $0) }
        let layout = layout(captionHeight: 12)
        let made = try page(folder, layout, [Array(tiles[..<2]), Array(tiles[2...])], captions: captions)
        func inked(_ columns: Range<Int>, _ rows: Range<Int>) -> Int {
            rows.reduce(0) { sum, y in
                sum + columns.count { framing.pixel(made, $0, y) != layout.background }
            }
        }
        #expect(inked(3..<33, 23..<35) > 10)
        #expect(inked(36..<66, 23..<35) > 10)
        #expect(inked(3..<33, 58..<70) > 4)
        // Nothing beside a caption, and nothing where there is none.
        #expect(inked(33..<36, 23..<35) == 0)
        #expect(inked(0..<69, 35..<38) == 0)
        #expect(inked(36..<66, 58..<70) == 0)
    }

    @Test(arguments: [
        ("\u{fc}\u{f1}\u{ed} \u{65e5}\u{672c}\u{8a9e}.jpg", "\u{fc}\u{f1}\u{ed} ???.jpg"),
        ("a\nb\tc\u{1b}d\u{7f}\u{85}.jpg", "a?b?c?d??.jpg"), ("\r\n", "??"), ("\u{10FFFD} \u{e9}", "? \u{e9}"),
    ])
    func onlyLettersThatTheFontLacksAndControlCharactersBecomeQuestionMarks(name: String, shown: String) throws {
        let folder = try TemporaryFolder()
        let captions = try Captions(
            font: FontCatalogue.file(for: Captions.font), limits: DecodeLimits(), pulse: pulse)
        let tile = try color(50, folder, width: 300, height: 200)
        var layout = SheetLayout(
            columns: 1, rows: 1, tileWidth: 200, tileHeight: 20, captionHeight: 20, gap: 2, background: [255, 255, 255])
        func set(_ caption: String) throws -> [UInt8] {
            let folder = try TemporaryFolder()
            defer { withExtendedLifetime(folder) {} }
            return try page(folder, layout, [[SheetTile(picture: tile, caption: caption)]], captions: captions).bytes
        }
        let made = try set(name)
        #expect(try made == set(shown))
        #expect(try made != set(String(repeating: "?", count: shown.count + 1)))
        // Where it is too long for its room as well.
        layout.tileWidth = 60
        #expect(try set(name + name + name) == set(shown + shown + shown))
    }

    @Test func aPageThatIsNotCommittedLeavesNothing() throws {
        let folder = try TemporaryFolder()
        let tile = SheetTile(picture: try color(50, folder), caption: nil)
        let path = folder.file("page.jpg")
        do {
            let page = try SheetPage(layout: layout(), settings: OutputSettings(), captions: nil, path: path)
            try page.draw([tile])
            try page.draw([])
            #expect(try page.finish().bytes > 0)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["50.png"])
    }

    @Test func aPageThatIsThereGivesWayOnlyWhereItMay() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("page.jpg")
        try Data("mine".utf8).write(to: URL(filePath: path))
        let page = try SheetPage(layout: layout(), settings: OutputSettings(), captions: nil, path: path)
        for _ in 0..<2 { try page.draw([]) }
        _ = try page.finish()
        #expect(throws: ExportFailure.self) { try page.commit(mayReplace: false) }
        #expect(try Data(contentsOf: URL(filePath: path)) == Data("mine".utf8))
    }

    @Test func aPageThatTheFormatCannotHoldIsRefused() throws {
        let folder = try TemporaryFolder()
        var layout = layout()
        layout.rows = 4000
        #expect(throws: CodecError.self) {
            try SheetPage(layout: layout, settings: OutputSettings(), captions: nil, path: folder.file("page.jpg"))
        }
    }
}
