import Foundation
import ImageCodecs
import Testing

/// Sizes by pixels, by bytes and by what is cut.
@Suite struct SizingTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
    }

    private func header(_ path: String) throws -> ImageHeader {
        let data = try Data(contentsOf: URL(fileURLWithPath: place.path + "/" + path))
        return try data.withUnsafeBytes { try CodecRegistry.decoder(for: $0, limits: DecodeLimits()).header }
    }

    private func bytes(_ path: String) throws -> Int {
        try Data(contentsOf: URL(fileURLWithPath: place.path + "/" + path)).count
    }

    @Test(arguments: [("0.1mp", 100_000), ("megapixels:0.02", 20_000), ("1mp", 480 * 320)])
    func megapixelsAreTheMostThatAPictureGets(size: String, most: Int) throws {
        try place.putPhotos(1)
        #expect(try place.bgrun("export", "photos", "--out", "out", "--size", size).status == 0)
        let made = try header("out/photo-0001.jpg")
        #expect(made.width * made.height <= most)
        #expect(made.width * made.height > most * 97 / 100)
        #expect(abs(Double(made.width) / Double(made.height) - 1.5) < 0.02)
    }

    @Test func theHighestQualityThatFitsIsTaken() throws {
        try place.putPhotos(1, from: Photos.large)
        #expect(try place.bgrun("export", "photos", "--out", "plain", "--size", "800").status == 0)
        let plain = try bytes("plain/photo-0001.jpg")
        let limit = plain * 2 / 3
        let ended = try place.bgrun(
            "export", "photos", "--out", "out", "--size", "800", "--max-bytes", "\(limit)", "--report", "r.jsonl")
        #expect(ended.status == 0)
        #expect(try bytes("out/photo-0001.jpg") <= limit)
        let report = try String(contentsOfFile: place.path + "/r.jsonl", encoding: .utf8)
        let note = try #require(report.firstMatch(of: /quality (\d+) was found in (\d+) attempts/))
        let quality = try #require(Int(note.1))
        let attempts = try #require(Int(note.2))
        #expect(attempts <= 7, "\(note.0)")
        // The same file comes of that quality alone, and the next one is too large.
        for (step, folder) in [(0, "same"), (1, "next")] {
            #expect(
                try place.bgrun(
                    "export", "photos/photo-0001.jpg", "--out", folder, "--size", "800", "--quality",
                    "\(quality + step)"
                ).status == 0)
        }
        #expect(try place.contents("same") == place.contents("out"))
        #expect(try bytes("next/photo-0001.jpg") > limit)
    }

    @Test func aLimitThatNothingReachesTakesNoMemory() throws {
        try place.putPhotos(1)
        let ended = try place.bgrun("export", "photos", "--out", "out", "--max-bytes", "4G")
        #expect(ended.status == 0, "\(ended.errors)")
    }

    @Test func whatFitsAlreadyIsTheSameFileAsWithoutALimit() throws {
        try place.putPhotos(1)
        #expect(try place.bgrun("export", "photos", "--out", "plain", "--format", "webp").status == 0)
        #expect(
            try place.bgrun("export", "photos", "--out", "out", "--format", "webp", "--max-bytes", "10M").status == 0)
        #expect(try place.contents("plain") == place.contents("out"))
    }

    @Test func aPictureThatCannotBeMadeSoSmallFailsAlone() throws {
        try place.putPhotos(2, from: Photos.large)
        try place.put(try Photos.small.get()[0], at: "photos/a-small.jpg")
        let ended = try place.bgrun(
            "export", "photos", "--out", "out", "--output", "max-bytes=12k,metadata=strip", "--report", "r.jsonl")
        #expect(ended.status == 65)
        #expect(ended.errors.contains("tooLarge"))
        #expect(try place.contents("out").keys.sorted() == ["a-small.jpg"])
        #expect(try bytes("out/a-small.jpg") <= 12 << 10)
    }

    @Test func whatIsNoPictureInALimitIsSaid() throws {
        try place.putPhotos(1)
        let text = String(repeating: "a long description ", count: 2_000)
        try place.write(text, to: "text")
        try ExifTool.run(["-overwrite_original", "-ImageDescription<=text", "photos/photo-0001.jpg"], in: place)
        let command = ["export", "photos", "--out", "out", "--size", "60", "--max-bytes", "20k"]
        let ended = try CommandRun(command, in: place).end()
        #expect(ended.status == 65)
        #expect(
            ended.errors.contains("--metadata strip") && !ended.errors.contains("smaller --size"), "\(ended.errors)")
        #expect(try CommandRun(command + ["--metadata", "strip"], in: place).end().status == 0)
    }

    @Test(arguments: [
        ["--format", "png", "--max-bytes", "1M"], ["--format", "webp", "--lossless", "--max-bytes", "1M"],
        ["--max-bytes", "much"], ["--size", "0mp"], ["--size", "100", "--gravity", "top"],
        ["--size", "fill:10x10", "--gravity", "up"],
    ])
    func whatCannotBeIsRefusedBeforeAnythingStarts(options: [String]) throws {
        try place.putPhotos(1)
        let run = try CommandRun(["export", "photos", "--out", "out"] + options, in: place)
        #expect(run.end().status == 64)
        #expect(!place.exists("out"))
    }

    @Test func aLosslessFormatByTheInputsNameIsOneFailure() throws {
        try place.putPhotos(1)
        try FileManager.default.createDirectory(atPath: place.path + "/pngs", withIntermediateDirectories: true)
        try PictureFile.write([9, 9, 9, 255], width: 30, height: 20, to: place.path + "/pngs/flat.png")
        let ended = try place.bgrun(
            "export", "pngs", "photos", "--out", "out", "--max-bytes", "1M", "--existing", "overwrite")
        #expect(ended.status == 65)
        #expect(ended.errors.contains("needsQuality"))
        #expect(try place.contents("out").keys.sorted() == ["photo-0001.jpg"])
    }
}
