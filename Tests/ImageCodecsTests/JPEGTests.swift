import ImageCodecs
import Testing

struct JPEGTests {
    @Test(arguments: [(1, 1), (1, 17), (17, 1), (33, 31), (640, 480)])
    func `a picture of any size comes back nearly as it was`(width: Int, height: Int) throws {
        let picture = Picture.sample(width: width, height: height)
        let file = try encoded(picture, as: .jpeg) { $0.quality = 95 }
        let decoded = try decode(file)
        #expect(decoded.header.format == .jpeg)
        #expect(decoded.header.layout == .rgbx8)
        #expect(decoded.damage.isEmpty)
        #expect(decoded.picture.width == width)
        #expect(decoded.picture.height == height)
        #expect(decoded.picture.meanDifference(to: picture) < 4)
        #expect(decoded.picture.pixel(width - 1, height - 1)[3] == 255)
    }

    @Test(arguments: [(16_400, 3), (3, 16_400)])
    func `a side beyond what other formats hold is no trouble`(width: Int, height: Int) throws {
        let picture = Picture.sample(width: width, height: height, isGray: true)
        let decoded = try decode(try encoded(picture, as: .jpeg) { $0.quality = 95 })
        #expect(decoded.damage.isEmpty)
        #expect(decoded.picture.meanDifference(to: picture) < 4)
    }

    @Test
    func `bytes left over between the picture and the end marker are damage`() throws {
        var file = try encoded(Picture.sample(width: 32, height: 32), as: .jpeg)
        file.insert(contentsOf: [UInt8](repeating: 0, count: 40), at: file.count - 2)
        let decoded = try decode(file)
        #expect(decoded.damage.contains { $0.contains("extraneous") })
        #expect(decoded.picture.height == 32)
    }

    @Test(arguments: [4, 2, 1])
    func `a reduced scale rounds the size up`(scale: Int) throws {
        let file = try encoded(Picture.sample(width: 101, height: 67), as: .jpeg)
        let decoded = try decode(file, scaleEighths: scale)
        #expect(decoded.picture.width == (101 * scale + 7) / 8)
        #expect(decoded.picture.height == (67 * scale + 7) / 8)
        #expect(decoded.damage.isEmpty)
    }

    @Test
    func `a file that is cut anywhere is reported as damaged`() throws {
        let file = try encoded(Picture.sample(width: 160, height: 120), as: .jpeg)
        for cut in [1, 2] + Array(stride(from: 3, to: file.count, by: max(file.count / 100, 1))) {
            do throws(CodecError) {
                let decoded = try decode(Array(file.dropLast(cut)))
                #expect(!decoded.damage.isEmpty, "cut by \(cut) of \(file.count)")
                #expect(decoded.picture.height == 120)
            } catch {
                #expect([.damaged, .unknownFormat].contains(error.code), "\(error)")
            }
        }
    }

    @Test
    func `metadata comes back byte for byte`() throws {
        let metadata = ImageMetadata(
            exif: Array("MM\0*\0\0\0\u{8}\0\u{1}".utf8) + [1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0],
            xmp: Array("<x:xmpmeta/>".utf8), iptc: (0..<70_000).map { UInt8($0 % 251) },
            icc: (0..<150_000).map { UInt8($0 % 253) }, comment: Array("noted".utf8))
        let file = try encoded(Picture.sample(width: 8, height: 8), as: .jpeg) { $0.metadata = metadata }
        let decoded = try decode(file)
        #expect(decoded.header.metadata.exif == metadata.exif)
        #expect(decoded.header.metadata.xmp == metadata.xmp)
        #expect(decoded.header.metadata.iptc == metadata.iptc)
        #expect(decoded.header.metadata.icc == metadata.icc)
        #expect(decoded.header.metadata.comment == metadata.comment)
        #expect(decoded.header.orientation == 6)
        // EXIF comes first, in the place of the JFIF segment.
        #expect(Array(file[2..<4]) == [0xFF, 0xE1])
        #expect(try Array(encoded(Picture.sample(width: 8, height: 8), as: .jpeg)[2..<4]) == [0xFF, 0xE0])
    }

    @Test
    func `metadata that no segment can hold is refused`() {
        #expect(throws: CodecError.self) {
            try encoded(Picture.sample(width: 8, height: 8), as: .jpeg) {
                $0.metadata.xmp = [UInt8](repeating: 0, count: 65_600)
            }
        }
    }
}
