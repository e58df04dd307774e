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

    /// Makes pages of two pictures each of what is in `photos`.
    private func pages(of inputs: [String] = ["photos"], into out: String, flags: [String] = []) throws
        -> CommandRun.Ended
    {
        let shape = ["--pages", "--columns", "2", "--rows", "1", "--tile", "60x40", "--captions", "none", "--force"]
        return try CommandRun(["contact-sheet"] + inputs + ["--out", out] + shape + flags, in: place).end()
    }

    private func names(_ summary: [String: Any], _ key: String) -> [String] {
        (summary[key] as? [String] ?? []).map { ($0 as NSString).lastPathComponent }
    }

    @Test(arguments: ["photos/s.jpg", "s.jpg"]) func pagesOfAnEarlierSheetAreNoPicturesAndAreNamed(out: String) throws {
        let made = try pages(into: out)
        #expect(made.status == 0 && !made.errors.contains("earlier sheet"), "\(made.errors)")
        let folder = (out as NSString).deletingLastPathComponent
        func path(_ name: String) -> String { place.path + (folder.isEmpty ? "/" : "/\(folder)/") + name }
        // As long as that many are made, they all give way.
        #expect(try names(pages(into: out, flags: ["--json"]).json(), "olderPages") == [])
        let older = try Data(contentsOf: URL(filePath: path("s-4.jpg")))
        // A picture that is named like a page, and pages of other names, are something else.
        try FileManager.default.copyItem(atPath: path("s-1.jpg"), toPath: path("s-04.jpg"))
        try FileManager.default.copyItem(atPath: path("s-1.jpg"), toPath: path("other-1.jpg"))
        try FileManager.default.copyItem(atPath: place.path + "/photos/photo-0007.jpg", toPath: path("s-9.jpg"))
        for name in ["photo-0004", "photo-0005", "photo-0006", "photo-0007"] {
            try FileManager.default.removeItem(atPath: place.path + "/photos/\(name).jpg")
        }
        // Beside the photographs they are pictures too, and fill a third page.
        let (shown, left) = folder.isEmpty ? (3, ["s-3.jpg", "s-4.jpg"]) : (6, ["s-4.jpg"])
        let fewer = try pages(into: out, flags: ["--json"])
        #expect(fewer.status == 0, "\(fewer.errors)")
        let summary = try fewer.json()
        #expect(summary["shown"] as? Int == shown && summary["outcome"] as? String == "completed")
        #expect(names(summary, "olderPages") == left)
        for name in left {
            #expect(fewer.errors.contains("\(path(name)) is of an earlier sheet and was left.\n"), "\(fewer.errors)")
        }
        #expect(try Data(contentsOf: URL(filePath: path("s-4.jpg"))) == older)
    }

    @Test func pagesThatAShellNamesAreNoPicturesEither() throws {
        #expect(try pages(into: "photos/s.jpg").status == 0)
        let inputs = try FileManager.default.contentsOfDirectory(atPath: place.path + "/photos").sorted()
        #expect(inputs.contains("s-4.jpg"))
        let again = try pages(of: inputs.map { "photos/" + $0 }, into: "photos/s.jpg", flags: ["--json"])
        #expect(try again.status == 0 && again.json()["shown"] as? Int == 7, "\(again.errors)")
        // On one page they are all of an earlier sheet.
        let arguments = ["contact-sheet", "photos", "--out", "photos/s.jpg", "--tile", "60x40", "--json"]
        let one = try CommandRun(arguments, in: place).end()
        #expect(try one.json()["shown"] as? Int == 7, "\(one.errors)")
        #expect(try names(one.json(), "olderPages") == ["s-1.jpg", "s-2.jpg", "s-3.jpg", "s-4.jpg"])
    }

    @Test func whatKeepsPagesFromBeingMadeIsInTheSummary() throws {
        try place.write("mine", to: "q.jpg")
        let photo = "photos/photo-0001.jpg"
        let cases: [([String], Int32, String, String)] = [
            (["contact-sheet", "nope", "--out", "s.jpg"], 66, "failed.missingInput", "does not exist"),
            (["contact-sheet", "photos", "--out", "q.jpg"], 73, "failed.outputExists", "exists already"),
            (["contact-sheet", photo, "--out", photo, "--force"], 64, "failed.overwritesInput", "an input itself"),
            (["contact-sheet", "photos", "--out", "s.jpg", "--font", "./no.ttf"], 69, "failed.fontMissing", "no.ttf"),
            (["preview", "nope.jpg", "--out", "s.jpg"], 66, "failed.missingInput", "does not exist"),
            (["preview", photo, "--out", "q.jpg"], 73, "failed.outputExists", "exists already"),
            (["preview", "q.jpg", "--out", "s.jpg"], 65, "failed.unknownFormat", "q.jpg"),
        ]
        for (arguments, status, outcome, words) in cases {
            let ended = try CommandRun(arguments + ["--json"], in: place).end()
            #expect(ended.status == status && ended.errors.contains(words), "\(arguments) \(ended.errors)")
            let summary = try ended.json()
            #expect(summary["outcome"] as? String == outcome, "\(summary)")
            #expect((summary["message"] as? String)?.contains(words) == true, "\(summary)")
            #expect(!place.exists("s.jpg"))
        }
        let missing = try place.bgrun("contact-sheet", "nope", "--out", "s.jpg", "--progress", "json")
        #expect(missing.status == 66 && missing.output.isEmpty)
        let line = try JSONSerialization.jsonObject(with: Data(missing.errors.utf8)) as? [String: Any]
        #expect(line?["event"] as? String == "finished", "\(missing.errors)")
        let summary = try #require(line?["summary"] as? [String: Any])
        let problems = summary["problems"] as? [[String: Any]] ?? []
        #expect(problems.map { $0["input"] as? String } == ["\(place.path)/nope"])
        #expect(problems.map { $0["code"] as? String } == ["missing"])
    }

    @Test func aPageThatIsTooLargeIsToldHowToBecomeSmaller() throws {
        for number in 0..<17 {
            try PictureFile.write([9, 9, 9, 255], width: 8, height: 8, to: place.path + "/photos/p\(number).png")
        }
        let shape = ["--columns", "1", "--tile", "16x4096", "--captions", "none"]
        for (flags, words) in [([], "--pages"), (["--pages", "--rows", "20"], "--rows")] {
            let arguments = ["contact-sheet", "photos", "--out", "s.jpg"] + shape + flags
            let ended = try CommandRun(arguments, in: place).end()
            #expect(ended.status == 64 && ended.errors.contains(words), "\(ended.errors)")
            #expect(!place.exists("s.jpg"))
        }
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
