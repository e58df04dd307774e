import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport
import TemporaryFolders
import Testing

/// What a picture's profile is good for.
@Suite struct SourceColorTests {
    private func header(_ format: ImageFormat, icc: [UInt8], isGray: Bool) throws -> ImageHeader {
        let folder = try TemporaryFolder()
        let pixels = (0..<16 * 16).flatMap { _ in isGray ? [90, 90, 90, 255] : [200, 60, 40, 255] as [UInt8] }
        let request = EncodeRequest(
            format: format, width: 16, height: 16, layout: .rgbx8, isGray: isGray, quality: 95, fullChroma: true,
            metadata: ImageMetadata(icc: icc))
        return try Decoded(try folder.write("in", pixels, request)).header
    }

    @Test(arguments: [ImageFormat.jpeg, .png, .tiff, .webp, .avif])
    func aProfileForGrayIsIgnoredInAPictureWithColoursWhichIsSaid(format: ImageFormat) throws {
        let header = try header(format, icc: PaintTests.grayProfile, isGray: false)
        #expect(header.metadata.icc == PaintTests.grayProfile && !header.isGray)
        let color = try SourceColor(SourceColor.Origin(header))
        #expect(color.notes == ["the colour profile is ignored: It is for gray, and the picture has colours"])
        // Untagged colours are sRGB's.
        #expect(try color.transform(to: .srgb, layout: header.layout) == nil)
    }

    @Test(arguments: [ImageFormat.jpeg, .png, .tiff, .avif])
    func aProfileForGrayIsUsedInAGrayPicture(format: ImageFormat) throws {
        let header = try header(format, icc: PaintTests.grayProfile, isGray: true)
        #expect(header.isGray)
        let color = try SourceColor(SourceColor.Origin(header))
        #expect(color.notes.isEmpty)
        #expect(try color.transform(to: .srgb, layout: header.layout) != nil)
    }

    @Test func anExportOfColoursWithAProfileForGrayKeepsItsColours() throws {
        let folder = try TemporaryFolder()
        let pixels = (0..<20 * 10).flatMap { _ in [200, 60, 40, 255] as [UInt8] }
        let photo = try folder.write(
            "in.png", pixels,
            EncodeRequest(
                format: .png, width: 20, height: 10, layout: .rgbx8,
                metadata: ImageMetadata(icc: PaintTests.grayProfile)))
        for space in [OutputColorSpace.srgb, .keep] {
            let out = folder.file("\(space).png")
            let result = export(
                photo,
                to: [(out, settings { ($0.format, $0.colorSpace) = (.png, space) })])
            #expect(result.status == .good && result.notes.contains { $0.contains("It is for gray") })
            #expect(Array(try Decoded(out).bytes.prefix(4)) == [200, 60, 40, 255])
        }
    }
}
