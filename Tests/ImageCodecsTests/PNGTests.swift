import ImageCodecs
import Testing

struct PNGTests {
    @Test(
        arguments: [PixelLayout.rgbx8, .rgba8, .rgba16], [(1, 1), (1, 9), (9, 1), (33, 31), (300, 200), (16_400, 3)])
    func `every layout and size comes back exactly`(layout: PixelLayout, size: (Int, Int)) throws {
        let picture = Picture.sample(width: size.0, height: size.1, layout: layout)
        let decoded = try decode(try encoded(picture, as: .png))
        #expect(decoded.picture == picture)
        #expect(decoded.damage.isEmpty)
        #expect(decoded.header.bitsPerChannel == (layout == .rgba16 ? 16 : 8))
        #expect(decoded.header.hasAlpha == (layout != .rgbx8))
    }

    @Test(arguments: [PixelLayout.rgbx8, .rgba8, .rgba16])
    func `a gray picture is written as gray`(layout: PixelLayout) throws {
        let picture = Picture.sample(width: 20, height: 10, layout: layout, isGray: true)
        let file = try encoded(picture, as: .png) { $0.isGray = true }
        let decoded = try decode(file)
        #expect(decoded.header.isGray)
        #expect(decoded.picture == picture)
    }

    @Test
    func `a picture said to be opaque gets no alpha channel`() throws {
        let picture = Picture.sample(width: 20, height: 10, layout: .rgba16)
        let decoded = try decode(try encoded(picture, as: .png) { $0.isOpaque = true })
        #expect(!decoded.header.hasAlpha)
        #expect(decoded.picture.pixel(3, 0)[6...] == [255, 255])
    }

    @Test
    func `metadata comes back byte for byte`() throws {
        let metadata = ImageMetadata(
            exif: Array("MM\0*\0\0\0\u{8}\0\0\0\0\0\0".utf8), xmp: Array("<x:xmpmeta/>".utf8),
            icc: BuiltInProfile.displayP3.bytes)
        let decoded = try decode(
            try encoded(Picture.sample(width: 8, height: 8), as: .png) { $0.metadata = metadata })
        #expect(decoded.header.metadata.exif == metadata.exif)
        #expect(decoded.header.metadata.xmp == metadata.xmp)
        #expect(decoded.header.metadata.icc == metadata.icc)
    }

    @Test
    func `a file that is cut anywhere is reported as damaged and keeps the rows before the cut`() throws {
        let picture = Picture.sample(width: 160, height: 120)
        let file = try encoded(picture, as: .png)
        var best = 0
        for cut in [1, 2, 12, 13] + Array(stride(from: 14, to: file.count, by: max(file.count / 100, 1))) {
            do throws(CodecError) {
                let decoded = try decode(Array(file.dropLast(cut)))
                #expect(!decoded.damage.isEmpty, "cut by \(cut) of \(file.count)")
                #expect(decoded.picture.height == 120)
                if cut > file.count / 2 { #expect(decoded.picture.pixel(159, 119) == [0, 0, 0, 255]) }
                best = max(best, zip(decoded.picture.bytes, picture.bytes).prefix { $0.0 == $0.1 }.count)
            } catch {
                #expect([.damaged, .unknownFormat].contains(error.code), "\(error)")
            }
        }
        #expect(best == picture.bytes.count)
    }
}
