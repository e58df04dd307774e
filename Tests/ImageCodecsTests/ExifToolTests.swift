import Foundation
import ImageCodecs
import Testing

/// Looks at written files with another program's eyes.
@Suite(.enabled(if: ToolFolder.has("exiftool"), "exiftool is not installed"))
struct ExifToolTests {
    @Test(arguments: ImageFormat.allCases.filter(\.isWritten))
    func `another reader finds the corrected metadata and no thumbnail`(format: ImageFormat) throws {
        let folder = try ToolFolder()
        let thumbnail = folder.path("thumbnail.jpg")
        try Data(encoded(Picture.sample(width: 16, height: 12), as: .jpeg)).write(to: thumbnail)
        let input = folder.path("input.jpg")
        try Data(encoded(Picture.sample(width: 60, height: 40), as: .jpeg)).write(to: input)
        try folder.run(
            "exiftool",
            [
                "-q", "-overwrite_original", "-EXIF:Orientation#=6", "-EXIF:Make=Maker", "-EXIF:GPSLatitude=12.5",
                "-EXIF:GPSLatitudeRef=N", "-EXIF:ExifImageWidth=60", "-EXIF:ExifImageHeight=40",
                "-EXIF:UserComment=hello", "-ThumbnailImage<=\(thumbnail.path)", "-XMP:Rating=4",
                "-XMP-tiff:Orientation#=6", "-IPTC:Keywords=alpha", input.path,
            ])
        let file = Array(try Data(contentsOf: input))
        let header = try decode(file).header
        #expect(header.orientation == 6)
        let edited = header.metadata.edited(
            forWidth: 40, height: 60, icc: BuiltInProfile.displayP3.bytes, format: format
        ).metadata
        let output = folder.path("output.\(format.rawValue)")
        try Data(encoded(Picture.sample(width: 40, height: 60), as: format) { $0.metadata = edited }).write(to: output)
        let report = try folder.run("exiftool", ["-a", "-s", "-n", "-G", output.path])
        // Columns are padded with spaces.
        let lines = report.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        for expected in [
            "[EXIF] Orientation : 1", "[XMP] Orientation : 1", "[EXIF] ExifImageWidth : 40",
            "[EXIF] ExifImageHeight : 60", "[EXIF] Make : Maker", "[EXIF] GPSLatitude : 12.5",
            "[EXIF] UserComment : hello", "[XMP] Rating : 4",
        ] {
            #expect(lines.contains(expected), "\(lines)")
        }
        // JPEG XL says in a few bits of its own what this profile says.
        let hasProfile = lines.contains("[ICC_Profile] ProfileDescription : Display P3")
        #expect(hasProfile == (format != .jxl), "\(lines)")
        #expect(lines.contains("[IPTC] Keywords : alpha") == [.jpeg, .tiff].contains(format))
        #expect(!lines.contains { $0.contains("Thumbnail") || $0.contains("Warning") }, "\(lines)")
    }

    @Test
    func `what Windows says of a photograph goes into a TIFF and out of it`() throws {
        let folder = try ToolFolder()
        let input = folder.path("input.jpg")
        try Data(encoded(Picture.sample(width: 60, height: 40), as: .jpeg)).write(to: input)
        try folder.run(
            "exiftool",
            [
                "-q", "-overwrite_original", "-EXIF:Rating=4", "-EXIF:XPTitle=A title", "-EXIF:XPKeywords=one;two",
                input.path,
            ])
        var file = Array(try Data(contentsOf: input))
        for format in [ImageFormat.tiff, .jpeg] {
            let metadata = try decode(file).header.metadata.edited(
                forWidth: 60, height: 40, icc: nil, format: format
            ).metadata
            file = try encoded(Picture.sample(width: 60, height: 40), as: format) { $0.metadata = metadata }
            let output = folder.path("output.\(format.rawValue)")
            try Data(file).write(to: output)
            let report = try folder.run(
                "exiftool", ["-s3", "-EXIF:Rating", "-EXIF:XPTitle", "-EXIF:XPKeywords", "-Warning", output.path])
            #expect(report.split(separator: "\n") == ["4", "A title", "one;two"], "\(format)")
        }
    }
}
