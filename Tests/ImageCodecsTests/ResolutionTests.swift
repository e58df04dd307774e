import Foundation
import ImageCodecs
import Testing

struct ResolutionTests {
    private static let picture = Picture.sample(width: 24, height: 16)

    /// EXIF's first directory with both values, in units of the given number.
    private static func exif(x: Int, y: Int, unit: Int) -> [UInt8] {
        func field(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        let values = 8 + 2 + 3 * 12 + 4
        return Array("II".utf8) + field(42, 2) + field(8, 4) + field(3, 2)
            + field(282, 2) + field(5, 2) + field(1, 4) + field(values, 4)
            + field(283, 2) + field(5, 2) + field(1, 4) + field(values + 8, 4)
            + field(296, 2) + field(3, 2) + field(1, 4) + field(unit, 4) + field(0, 4)
            + field(x, 4) + field(1, 4) + field(y, 4) + field(1, 4)
    }

    private static func stated(_ file: [UInt8]) throws -> Resolution? {
        let metadata = try decode(file).header.metadata
        return metadata.edited(forWidth: 24, height: 16, icc: nil, format: .png).metadata.resolution
    }

    @Test(
        arguments: [ImageFormat.jpeg, .png, .tiff],
        [(300.0, 300.0), (72, 96), (1_200, 600), (1, 65_535), (72.5, 99.3)])
    func `what is written is read again`(format: ImageFormat, values: (x: Double, y: Double)) throws {
        let resolution = try #require(Resolution(x: values.x, y: values.y))
        let file = try encoded(Self.picture, as: format) { $0.metadata.resolution = resolution }
        let read = try #require(try decode(file).header.metadata.resolution)
        // Dots an inch are whole in a JPEG, dots a metre in a PNG.
        let step = format == .jpeg ? 1 : format == .png && values.x.rounded() != values.x ? 0.0254 : 1e-4
        #expect(abs(read.x - values.x) <= step / 2 && abs(read.y - values.y) <= step / 2)
        let plain = try encoded(Self.picture, as: format)
        #expect(try decode(plain).header.metadata.resolution == nil)
    }

    @Test
    func `a JPEG says it in dots an inch or a centimetre, or only the shape of pixels`() throws {
        var file = try encoded(Self.picture, as: .jpeg) { $0.metadata.resolution = Resolution(x: 118, y: 118) }
        let unit = 13
        #expect(file[unit] == 1)
        file[unit] = 2
        #expect(try Self.stated(file) == Resolution(x: 118 * 2.54, y: 118 * 2.54))
        file[unit] = 0
        #expect(try Self.stated(file) == nil)
    }

    @Test(arguments: [(1, nil), (2, 150.0), (3, 150 * 2.54), (9, nil)])
    func `a TIFF says it in a unit`(unit: Int, expected: Double?) throws {
        let writer = TIFFWriter(
            width: 4, height: 3, more: [(282, 5, [150, 1]), (283, 5, [300, 2]), (296, 3, [unit])]
        ) { _, _, _ in 9 }
        #expect(try Self.stated(writer.file()) == expected.flatMap { Resolution(x: $0, y: $0) })
    }

    @Test(arguments: [(0, 1), (1, 0), (0xFFFF_FFFF, 1)])
    func `one that cannot be is none`(numerator: Int, denominator: Int) throws {
        let writer = TIFFWriter(
            width: 4, height: 3, more: [(282, 5, [numerator, denominator]), (283, 5, [300, 1])]
        ) { _, _, _ in 9 }
        #expect(try Self.stated(writer.file()) == nil)
    }

    @Test
    func `EXIF says it where the container does not, and is left out alone`() throws {
        let exif = Self.exif(x: 240, y: 240, unit: 2)
        let file = try encoded(Self.picture, as: .webp) { $0.metadata.exif = exif }
        #expect(try Self.stated(file) == Resolution(x: 240, y: 240))
        let both = try encoded(Self.picture, as: .png) {
            $0.metadata = ImageMetadata(exif: exif, resolution: Resolution(x: 300, y: 300))
        }
        let metadata = try decode(both).header.metadata
        let kept = metadata.selected(.strip, MetadataCredits(), format: .jpeg).metadata
        #expect(kept.exif == nil)
        #expect(kept.resolution == Resolution(x: 300, y: 300))
    }

    @Test
    func `a JPEG with EXIF says it in front of that where EXIF does not`() throws {
        func begins(with marker: UInt8, _ metadata: ImageMetadata) throws -> Bool {
            try encoded(Self.picture, as: .jpeg) { $0.metadata = metadata }[3] == marker
        }
        let (jfif, app1): (UInt8, UInt8) = (0xE0, 0xE1)
        let resolution = Resolution(x: 240, y: 240)
        #expect(try begins(with: app1, ImageMetadata(exif: Self.exif(x: 240, y: 240, unit: 2), resolution: resolution)))
        #expect(try begins(with: app1, ImageMetadata(exif: Self.exif(x: 240, y: 240, unit: 2))))
        #expect(try begins(with: jfif, ImageMetadata(exif: Self.exif(x: 72, y: 72, unit: 2), resolution: resolution)))
    }

    @Test(.enabled(if: ToolFolder.has("exiftool"), "exiftool is not installed"))
    func `another reader finds it`() throws {
        let folder = try ToolFolder()
        for (format, group) in [(ImageFormat.jpeg, "JFIF"), (.tiff, "EXIF")] {
            let path = folder.path("picture.\(format.rawValue)")
            let file = try encoded(Self.picture, as: format) { $0.metadata.resolution = Resolution(x: 300, y: 150) }
            try Data(file).write(to: path)
            let report = try folder.run(
                "exiftool",
                [
                    "-s3", "-\(group):XResolution", "-\(group):YResolution",
                    "-\(group):ResolutionUnit", path.path,
                ])
            #expect(report.split(separator: "\n") == ["300", "150", "inches"])
        }
        let path = folder.path("picture.png")
        try Data(encoded(Self.picture, as: .png) { $0.metadata.resolution = Resolution(x: 300, y: 150) }).write(
            to: path)
        let report = try folder.run(
            "exiftool", ["-s3", "-PixelsPerUnitX", "-PixelsPerUnitY", "-PixelUnits", path.path])
        #expect(report.split(separator: "\n") == ["11811", "5906", "meters"])
    }
}
