import Foundation
import ImageCodecs
import Testing

/// Logos and texts on top of exported pictures.
@Suite struct MarkTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
        try place.putPhotos(1)
        try PictureFile.write([255, 0, 0, 255], width: 40, height: 20, to: place.path + "/logo.png")
    }

    private func exported(_ name: String, _ options: [String]) throws -> PictureFile {
        let run = try CommandRun(
            ["export", "photos", "--out", name, "--size", "300", "--format", "png"] + options, in: place)
        let ended = run.end()
        #expect(ended.status == 0, "\(ended.errors)")
        return try PictureFile(place.path + "/\(name)/photo-0001.png")
    }

    @Test func aLogoIsBlendedInItsPlaceAndNowhereElse() throws {
        let plain = try exported("plain", [])
        let marked = try exported("marked", ["--watermark", "logo.png:bottom-right:0.5:0.2"])
        // A fifth of 300 × 200 pixels wide, 4 pixels from the edges.
        let changed = try #require(marked.difference(from: plain))
        #expect(changed.x == 236...295 && changed.y == 166...195)
        for (x, y) in [(240, 170), (260, 180), (294, 194)] {
            let (under, over) = (plain.pixel(x, y), marked.pixel(x, y))
            for (channel, color) in [255, 0, 0].enumerated() {
                #expect(abs(2 * over[channel] - under[channel] - color) <= 1, "\(x), \(y)")
            }
        }
    }

    @Test(arguments: [("top-left", 4...63, 4...33), ("0.5/0.5", 120...179, 85...114)])
    func placesAreNamesOrFractions(name: String, x: ClosedRange<Int>, y: ClosedRange<Int>) throws {
        let plain = try exported("plain", [])
        let changed = try #require(
            try exported("marked", ["--watermark", "logo.png:\(name):1:0.2"]).difference(from: plain))
        #expect(changed.x == x && changed.y == y)
    }

    @Test func aPictureThatIsTurnedIsMarkedUpright() throws {
        try ExifTool.run(["-overwrite_original", "-Orientation#=6", "photos/photo-0001.jpg"], in: place)
        let plain = try exported("plain", [])
        #expect(plain.header.width == 200 && plain.header.height == 300)
        let changed = try #require(
            try exported("marked", ["--watermark", "logo.png:bottom-right:0.5:0.3"]).difference(from: plain))
        #expect(changed.x == 136...195 && changed.y == 266...295)
    }

    @Test func aGPUMakesTheSameFile() throws {
        let options = ["export", "photos", "--size", "200", "--watermark", "logo.png", "--watermark-text", "{stem}"]
        let layer = try TestDrivers.folder.get() + "/libgpu-layer.so"
        #expect(try CommandRun(options + ["--out", "cpu", "--cpu"], in: place).end().status == 0)
        let gpu = try CommandRun(options + ["--out", "gpu", "--gpu"], in: place, environment: ["OPENCL_LAYERS": layer])
        #expect(gpu.end().status == 0)
        #expect(try place.contents("cpu") == place.contents("gpu"))
    }

    @Test func aTextStandsInItsCornerAndSaysTheYearOfThePhotograph() throws {
        let plain = try exported("plain", [])
        let text = ["--watermark-text", "(c) {year} Me", "--text-style", "bottom-left:1:0.1"]
        try ExifTool.run(
            ["-overwrite_original", "-P", "-DateTimeOriginal=2019:05:04 10:00:00", "photos/photo-0001.jpg"], in: place)
        let first = try exported("first", text)
        let changed = try #require(first.difference(from: plain))
        #expect(changed.x.lowerBound == 4 && changed.x.upperBound < 250)
        #expect(changed.y.upperBound <= 195 && (10...30).contains(changed.y.count))
        let literal = try exported("literal", ["--watermark-text", "(c) 2019 Me"] + text.dropFirst(2))
        #expect(literal.pixels == first.pixels)
        #expect(try exported("other", ["--watermark-text", "(c) 2018 Me"] + text.dropFirst(2)).pixels != first.pixels)
    }

    @Test func aTextThatIsTooWideIsMadeSmaller() throws {
        let plain = try exported("plain", [])
        let text = String(repeating: "wide ", count: 12)
        let changed = try #require(
            try exported("marked", ["--watermark-text", text, "--text-style", "center:1:0.5"]).difference(from: plain))
        #expect(changed.x.lowerBound >= 4 && changed.x.upperBound <= 295)
        #expect(changed.x.count > 200)
    }

    @Test func anotherLogoUnderTheSameNameMakesTheOutputsAnew() throws {
        let options = ["export", "photos", "--out", "out", "--size", "100", "--watermark", "logo.png", "--json"]
        let good = { () throws -> Int? in
            (try CommandRun(options, in: place).end().json()["counts"] as? [String: Int])?["good"]
        }
        #expect(try good() == 1)
        #expect(try good() == 0)
        try PictureFile.write([0, 255, 0, 255], width: 40, height: 20, to: place.path + "/logo.png")
        #expect(try good() == 1)
    }

    @Test func whatAMarkLacksIsToldBeforeAnythingStarts() throws {
        for (options, status, words) in [
            (["--watermark", "nowhere.png"], 66, "nowhere.png"),
            (["--watermark", "logo.png:middle-ish:2"], 66, "logo.png:middle-ish:2"),
            (["--watermark-text", "{sea}"], 64, "{sea}"),
            (["--watermark-text", "x", "--font", "No Such Family"], 69, "No Such Family"),
            (["--font", "DejaVu Sans"], 64, "watermark-text"),
        ] {
            let ended = try CommandRun(["export", "photos", "--out", "out"] + options, in: place).end()
            #expect(ended.status == status, "\(options): \(ended.errors)")
            #expect(ended.errors.contains(words))
        }
        #expect(!place.exists("out"))
    }

    @Test func aPictureMarkThatDoesNotDecodeFailsEachPictureWithItsReason() throws {
        let whole = try Data(contentsOf: URL(fileURLWithPath: place.path + "/logo.png"))
        try whole.prefix(30).write(to: URL(fileURLWithPath: place.path + "/cut.png"))
        let ended = try place.bgrun("export", "photos", "--out", "out", "--watermark", "cut.png")
        #expect(ended.status == 65)
        #expect(ended.errors.contains("photo-0001.jpg: watermark") && ended.errors.contains("cut.png"))
    }

    @Test func aPictureMarkThatIsDamagedIsPutOnNothing() throws {
        let photo = try Data(contentsOf: URL(fileURLWithPath: place.path + "/photos/photo-0001.jpg"))
        try photo.prefix(photo.count / 2).write(to: URL(fileURLWithPath: place.path + "/cut.jpg"))
        let ended = try place.bgrun("export", "photos", "--out", "out", "--watermark", "cut.jpg")
        #expect(ended.status == 65)
        #expect(ended.errors.contains("cut.jpg: it is damaged"), "\(ended.errors)")
        #expect(try place.contents("out").isEmpty)
    }

    @Test(arguments: ["\u{65E5}\u{672C}", "   ", "(c)\tMe", "{year} \u{65E5}"])
    func aTextThatNoPictureCanHaveIsRefusedBeforeAnythingStarts(text: String) throws {
        let command = ["export", "photos", "--out", "out", "--watermark-text", text, "--json"]
        for options in [command, command + ["--dry-run"]] {
            let ended = try CommandRun(options, in: place).end()
            #expect(ended.status == 64, "\(ended.errors)")
            #expect(ended.errors.contains("DejaVu"), "\(ended.errors)")
            #expect(try ended.json()["outcome"] as? String == "failed.watermark")
        }
        #expect(!place.exists("out"))
    }
}
