import Foundation
import ImageCodecs
import Testing

/// `FORMATS.md` says for each format what came of files that were made for the purpose.
@Suite(.serialized) struct FormatTableTests {
    private static let table = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "FORMATS.md")

    @Test func `every library of a format is installed where the tests run`() {
        for library in CodecLibrary.allCases {
            #expect(library.isInstalled, "scripts/test.sh installs \(library.package)")
        }
    }

    @Test func `the table of formats is up to date`() throws {
        var rows: [ImageFormat: [String]] = [:]
        for format in ImageFormat.allCases { rows[format] = try FormatTrial(format).verdicts() }
        for (format, cells) in rows {
            #expect(
                !cells.contains { ["wrong", "lost", "let through", "not made", "not said"].contains($0) }, "\(format)")
        }
        let made = Self.markdown(rows)
        if ProcessInfo.processInfo.environment["BGRUN_WRITE_RULES"] != nil { try Data(made.utf8).write(to: Self.table) }
        #expect(
            try String(contentsOf: Self.table, encoding: .utf8) == made,
            "run BGRUN_WRITE_RULES=1 swift test -c release --filter FormatTableTests and commit FORMATS.md")
    }

    private static func markdown(_ rows: [ImageFormat: [String]]) -> String {
        let head = [
            "Format", "Read", "Written", "Profile", "Alpha", "More than 8 bits", "Metadata", "Gain map", "Orientation",
            "Animated", "Damaged", "Cut off", "Absurd size", "Bomb",
        ]
        var lines = [
            "# Picture formats", "",
            "Made by `BGRUN_WRITE_RULES=1 swift test -c release --filter FormatTableTests`; without the variable the test",
            "compares. Each cell is what came of a file of 64 × 48 pixels made for it: by bgrun's own encoders, for HEIC, GIF",
            "and JPEG 2000 by heif-enc, ImageMagick and opj_compress, for camera raw a DNG with a Bayer pattern. `-` stands",
            "where the format, or the program that writes the file, has no such thing.", "",
            "- **Gain map**: Ultra HDR 1.0 and ISO 21496-1 in JPEG; where it is left out, the report says so.",
            "- **Orientation**: stored lying on its side, and seen upright once. heif-enc turns nothing, so the box that says so",
            "  in HEIC is put around its picture.",
            "- **Damaged**: 30 files, each with 8 bytes changed in its second half. A format without checksums gives another",
            "  picture for many of them. **Cut off**: after each tenth of the file.",
            "- What a library tells by a warning or a count alone is damage too, and so is a part that is promised beyond the",
            "  file's end: strips and tiles, boxes of ISO media, the sensor's values of a raw file.",
            "- **Ignored, which the report says**: a profile whose white cannot be, or one for gray in a picture with colours (a gray",
            "  picture may have one for RGB); bits of a PNG's clear colour above its depth; a track of an AVIF that is not alpha.",
            "- **Taken for what it must be, which the report says**: the least of a TIFF's signed numbers for black, 0 for white in a",
            "  fax that does not say it, halved components of a bare JPEG 2000 codestream for Y'CbCr.",
            "- **Absurd size**: the header claims 60000 pixels a side or more, and is refused before memory is reserved.",
            "- **Bomb**: one colour, with a limit of 20 pixels a byte.", "",
        ]
        lines.append("| " + head.joined(separator: " | ") + " |")
        lines.append(String(repeating: "|---", count: head.count) + "|")
        for format in ImageFormat.allCases {
            lines.append("| " + ([format.name] + (rows[format] ?? [])).joined(separator: " | ") + " |")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
