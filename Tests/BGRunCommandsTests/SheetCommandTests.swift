import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport
import Testing

/// `bgrun preview` and `bgrun contact-sheet`, on photographs.
@Suite struct SheetCommandTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
        try place.putPhotos(7)
    }

    /// The picture that an export makes of the first photograph.
    private func exported(_ change: (inout OutputSettings) -> Void) throws -> PictureFile {
        var settings = OutputSettings()
        settings.format = .png
        change(&settings)
        let out = place.path + "/expected.png"
        let item = ExportItem(
            input: place.path + "/photos/photo-0001.jpg",
            outputs: [.init(settings: settings, path: out, mayReplace: true)], lane: .cpu, limits: DecodeLimits())
        #expect(ImageExporter().export(item) { _ in true }.status == .good)
        return try PictureFile(out)
    }

    /// Whether a picture lies in a page with its upper left corner at a place.
    private func lies(_ picture: PictureFile, in page: PictureFile, x: Int, y: Int) -> Bool {
        (0..<picture.header.height).allSatisfy { row in
            (0..<picture.header.width).allSatisfy { page.pixel(x + $0, y + row) == picture.pixel($0, row) }
        }
    }

    private func page(_ name: String) throws -> PictureFile { try PictureFile(place.path + "/" + name) }

    @Test func aPreviewOfTheResultIsTheExport() throws {
        let ended = try place.bgrun(
            "preview", "photos/photo-0001.jpg", "--size", "200", "--exposure", "0.5", "--out", "look.png", "--json")
        #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended.errors)")
        let made = try ended.json()
        #expect(made["width"] as? Int == 200 && (made["path"] as? String)?.hasSuffix("look.png") == true)
        let expected = try exported {
            $0.size = .longEdge(200)
            $0.operations = [.exposure(0.5)]
        }
        #expect(try page("look.png").pixels == expected.pixels)
    }

    @Test func beforeIsThePlainPictureAndAfterTheResult() throws {
        let ended = try place.bgrun(
            "preview", "photos/photo-0001.jpg", "--before-after", "--size", "150", "--saturation", "-1", "--sharpen",
            "1", "--crop", "1:1", "--border", "3:ff0000", "--out", "look.png")
        #expect(ended.status == 0, "\(ended.errors)")
        let look = try page("look.png")
        let before = try exported { $0.size = .longEdge(150) }
        let after = try exported {
            $0.size = .longEdge(150)
            $0.operations = [.saturation(-1)]
            $0.sharpening = Sharpening(amount: 1, sigma: 1)
            $0.crop = .aspect(width: 1, height: 1)
            $0.border = Border(pixels: 3, color: [255, 0, 0])
        }
        #expect((before.header.width, before.header.height) == (150, 100))
        #expect((after.header.width, after.header.height) == (156, 156))
        // One above the other, in places as large as the larger one, with captions of 24 pixels and gaps of 8.
        #expect((look.header.width, look.header.height) == (172, 8 + 2 * (156 + 24 + 8)))
        #expect(lies(before, in: look, x: 8 + 3, y: 8 + 28))
        #expect(lies(after, in: look, x: 8, y: 8 + 156 + 24 + 8))
    }

    @Test func aPreviewWithoutASizeIsAsLargeAsAScreen() throws {
        try place.put(try #require(Photos.large.get().first), at: "large.jpg")
        for (flags, longer) in [([], 1600), (["--before-after", "--no-captions"], 1600 + 3 * 8)] {
            let arguments = ["preview", "large.jpg", "--force", "--out", "look.jpg", "--rotate", "90"]
            let ended = try CommandRun(arguments + flags, in: place).end()
            #expect(ended.status == 0, "\(ended.errors)")
            let look = try page("look.jpg")
            #expect(max(look.header.width, look.header.height) == longer, "\(flags)")
        }
    }

    @Test func aFileThatIsThereIsReplacedOnlyWithForce() throws {
        try place.write("mine", to: "look.jpg")
        for command in [["preview", "photos/photo-0001.jpg"], ["contact-sheet", "photos"]] {
            let refused = try CommandRun(command + ["--out", "look.jpg"], in: place).end()
            #expect(refused.status == 73, "\(refused.errors)")
            #expect(try String(contentsOfFile: place.path + "/look.jpg", encoding: .utf8) == "mine")
        }
        #expect(try place.bgrun("preview", "photos/photo-0001.jpg", "--force", "--out", "look.jpg").status == 0)
        #expect(try page("look.jpg").header.format == .jpeg)
    }

    @Test func aPictureIsNeverReplacedByItsOwnSheet() throws {
        let before = try place.contents("photos")
        try FileManager.default.createSymbolicLink(
            atPath: place.path + "/other.jpg", withDestinationPath: "photos/photo-0001.jpg")
        for command in [
            ["preview", "photos/photo-0001.jpg"], ["preview", "other.jpg"], ["contact-sheet", "photos/photo-0001.jpg"],
        ] {
            let refused = try CommandRun(command + ["--out", "photos/photo-0001.jpg", "--force"], in: place).end()
            #expect(refused.status == 64 && refused.errors.contains("is an input itself"), "\(refused.errors)")
        }
        #expect(try place.contents("photos") == before)
    }

    @Test func picturesThatAreNamedAsPagesOfALargerSheetAreShown() throws {
        for (number, photo) in try Photos.small.get().prefix(3).enumerated() {
            try place.put(photo, at: "numbered/photo-\(number + 1).jpg")
        }
        let ended = try place.bgrun(
            "contact-sheet", "numbered", "--out", "numbered/photo.jpg", "--tile", "60x40", "--captions", "none",
            "--json")
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try ended.json()["shown"] as? Int == 3)
    }

    @Test(arguments: [
        ["--out", "look"], ["--out", "look.png", "--output", "size=3"],
        ["--out", "look.png", "--before-after", "--color", "keep"], ["--out", "look.png", "--rotate", "x"],
    ])
    func previewsThatCannotBeAreRefused(_ arguments: [String]) throws {
        let ended = try CommandRun(["preview", "photos/photo-0001.jpg"] + arguments, in: place).end()
        #expect(ended.status == 64, "\(ended.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).filter { $0.hasPrefix("look") } == [])
    }

    @Test func previewsOfWhatIsNoPictureAreFailures() throws {
        try place.write("no picture", to: "bad.jpg")
        for flags in [[], ["--before-after"]] {
            let bad = try CommandRun(["preview", "bad.jpg", "--out", "look.png"] + flags, in: place).end()
            #expect(bad.status == 65 && bad.errors.contains("bad.jpg"), "\(bad.errors)")
            let missing = try CommandRun(["preview", "none.jpg", "--out", "look.png"] + flags, in: place).end()
            #expect(missing.status == 66, "\(missing.errors)")
        }
        #expect(!place.exists("look.png"))
    }

    @Test func pagesHoldEveryPictureAndNameTheBadOnes() throws {
        try place.write("no picture", to: "photos/photo-0002b.jpg")
        try place.write("a note", to: "photos/notes.txt")
        let ended = try place.bgrun(
            "contact-sheet", "photos", "--out", "sheet.png", "--pages", "--columns", "3", "--rows", "2", "--tile",
            "60x40", "--captions", "none", "--background", "102030", "--json")
        #expect(ended.status == 65, "\(ended.errors)")
        #expect(ended.errors.contains("photo-0002b.jpg: failed"))
        let summary = try ended.json()
        #expect(summary["pictures"] as? Int == 8 && summary["shown"] as? Int == 7)
        let problems = try #require(summary["problems"] as? [[String: Any]])
        #expect(problems.map { $0["code"] as? String } == ["unknownFormat"])
        let pages = try #require(summary["pages"] as? [[String: Any]]).compactMap { $0["path"] as? String }
        #expect(pages.map { ($0 as NSString).lastPathComponent } == ["sheet-1.png", "sheet-2.png"])
        let first = try page("sheet-1.png")
        #expect((first.header.width, first.header.height) == (4 + 3 * 64, 4 + 2 * 44))
        let tile = try exported { $0.size = .fit(width: 60, height: 40) }
        #expect(lies(tile, in: first, x: 4, y: 4))
        // The third place is the bad one's.
        let empty = (4..<44).allSatisfy { y in (132..<192).allSatisfy { first.pixel($0, y) == [0x10, 0x20, 0x30] } }
        #expect(empty)
        #expect(first.pixel(34, 68) != [0x10, 0x20, 0x30])
        let second = try page("sheet-2.png")
        #expect((second.header.width, second.header.height) == (4 + 3 * 64, 4 + 44))
    }

    @Test(arguments: ["jpg", "png", "tiff", "webp"])
    func theSameSheetIsMadeAgainBesideItsOwnPages(ending: String) throws {
        func made() throws -> Data {
            let ended = try place.bgrun(
                "contact-sheet", "photos", "--out", "photos/sheet.\(ending)", "--tile", "60x40", "--force", "--json")
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(try ended.json()["shown"] as? Int == 7)
            return try Data(contentsOf: URL(filePath: place.path + "/photos/sheet.\(ending)"))
        }
        let once = try made()
        #expect(try made() == once)
        #expect(try page("photos/sheet.\(ending)").header.width > 5 * 60)
    }

    @Test func aPictureOfTheFolderIsNotTakenForAnOldPage() throws {
        for (number, photo) in try Photos.small.get().prefix(3).enumerated() {
            try place.put(photo, at: "numbered/photo-\(number + 1).jpg")
        }
        let cases: [(folder: String, out: String, page: String, flags: [String])] = [
            ("photos", "photo-0003.jpg", "photo-0003.jpg", []),
            ("numbered", "photo.jpg", "photo-1.jpg", ["--pages", "--columns", "1", "--rows", "2"]),
        ]
        for (folder, out, page, flags) in cases {
            let before = try place.contents(folder)
            for force in [[], ["--force"]] {
                let arguments = ["contact-sheet", folder, "--out", "\(folder)/\(out)", "--tile", "60x40"]
                let refused = try CommandRun(arguments + flags + force, in: place).end()
                #expect(refused.status == 64)
                let sentence = "overwritesInput: \(place.path)/\(folder)/\(page) is an input itself."
                #expect(refused.errors.contains(sentence), "\(refused.errors)")
                #expect(try place.contents(folder) == before)
            }
        }
    }

    @Test func hostilePicturesAreMetWithoutRights() throws {
        let photos = try Photos.large.get()
        let sheet: [String] = ["contact-sheet", "--tile", "600x400"] + photos
        let preview: [String] = ["preview", photos[0], "--size", "3000", "--enlarge"]
        for command in [sheet, preview] {
            let run = try CommandRun(command + ["--out", "out/page.png"], in: place)
            var confined = false
            while !confined, let status = try? String(contentsOfFile: "/proc/\(run.processID)/status", encoding: .utf8)
            {
                confined = status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2")
            }
            #expect(confined, "\(command[0])")
            let ended = run.end()
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(place.exists("out/page.png"))
            try FileManager.default.removeItem(atPath: place.path + "/out")
        }
    }

    @Test func linksToPicturesElsewhereAreFollowed() throws {
        try FileManager.default.createDirectory(atPath: place.path + "/links", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: place.path + "/links/a.jpg", withDestinationPath: "../photos/photo-0001.jpg")
        let ended = try place.bgrun("contact-sheet", "links", "--out", "sheet.png", "--json")
        #expect(try ended.json()["shown"] as? Int == 1, "\(ended.errors)")
    }

    @Test func nothingIsMadeWhereNothingCanBe() throws {
        try place.write("no picture", to: "bad/one.jpg")
        try place.write("a note", to: "empty/notes.txt")
        let cases: [([String], Int32)] = [
            (["bad"], 65), (["empty"], 66), (["nowhere"], 66), (["photos", "--columns", "1", "--tile", "16x4096"], 0),
            (["photos", "--columns", "7", "--tile", "4096x4096", "--format", "webp"], 64),
            (["photos", "--rows", "2"], 64), (["photos", "--tile", "5x5"], 64),
            (["photos", "--font", "./none.ttf"], 69),
        ]
        for (arguments, status) in cases {
            let ended = try CommandRun(["contact-sheet", "--out", "out/sheet.jpg"] + arguments, in: place).end()
            #expect(ended.status == status, "\(arguments) \(ended.errors)")
            #expect(place.exists("out/sheet.jpg") == (status == 0), "\(arguments)")
            try? FileManager.default.removeItem(atPath: place.path + "/out")
        }
    }
}
