import Foundation
import ImageCodecs
import Testing

@Suite(.enabled(if: ToolFolder.has("avifenc"), "avifenc is not installed"))
struct AVIFApertureTests {
    /// Width, height and offset of the middle from the picture's, as fractions; a quarter turn where it is asked for.
    private func file(_ aperture: String, turns: Int = 0) throws -> [UInt8] {
        let folder = try ToolFolder()
        let png = try folder.write(try encoded(Picture.sample(width: 60, height: 46), as: .png), as: "all.png")
        let turn = turns == 0 ? [] : ["--irot", "\(turns)"]
        try folder.run(
            "avifenc",
            ["--clap", aperture, "--min", "0", "--max", "4", "-y", "444", "-s", "8"] + turn
                + [png, folder.path("part.avif").path])
        return try folder.read("part.avif")
    }

    @Test
    func `what lies outside of the clean aperture is not shown`() throws {
        let all = Picture.sample(width: 60, height: 46)
        // The middle is 4 right of and 3 above the picture's: from 14 on, and from 5 on.
        let decoded = try decode(file("40,1,30,1,4,1,-3,1"))
        #expect((decoded.picture.width, decoded.picture.height) == (40, 30))
        for (x, y) in [(0, 0), (39, 0), (0, 29), (39, 29), (20, 15)] {
            let (found, expected) = (decoded.picture.pixel(x, y), all.pixel(x + 14, y + 5))
            for channel in 0..<3 {
                #expect(abs(Int(found[channel]) - Int(expected[channel])) <= 12, "\(x), \(y)")
            }
        }
    }

    @Test
    func `it comes before a turn, and one that cannot be counts for nothing`() throws {
        let turned = try decode(file("40,1,30,1,4,1,-3,1", turns: 1))
        #expect((turned.header.width, turned.header.height, turned.header.orientation) == (40, 30, 8))
        var file = try file("40,1,30,1,4,1,-3,1")
        let width = try #require(file.firstRange(of: Array("clap".utf8))).upperBound
        // Its numerator, big-endian.
        file[width + 2] = 1
        let wrong = try decode(file)
        #expect((wrong.header.width, wrong.header.height) == (60, 46))
    }

    @Test
    func `a track of depth is not taken for alpha, and is mentioned`() throws {
        let folder = try ToolFolder()
        let frames = try [0, 1].map { index in
            let picture = Picture.sample(width: 64, height: 48, layout: .rgba8, isGray: index == 1)
            return try folder.write(try encoded(picture, as: .png), as: "frame\(index).png")
        }
        try folder.run("avifenc", ["--fps", "2", "-s", "8"] + frames + [folder.path("two.avif").path])
        var file = try folder.read("two.avif")
        #expect(try decode(file).header.hasAlpha)
        let movie = try #require(file.firstRange(of: Array("moov".utf8))).upperBound
        let name = try #require(file[movie...].firstRange(of: Array("auxiliary:alpha".utf8)))
        file.replaceSubrange(name, with: Array("auxiliary:depth".utf8))
        let decoded = try decode(file)
        #expect(!decoded.header.hasAlpha && decoded.header.layout == .rgbx8)
        #expect(decoded.picture.bytes.enumerated().allSatisfy { $0.offset % 4 != 3 || $0.element == 255 })
        #expect(decoded.header.notes.contains("a track beside its pictures that is not their alpha is left out"))
    }
}
