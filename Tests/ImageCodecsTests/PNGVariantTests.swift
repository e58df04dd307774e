import ImageCodecs
import Testing

struct PNGVariantTests {
    @Test(arguments: [1, 2, 4, 8, 16], [false, true])
    func `gray of every depth spans black to white`(bits: Int, isInterlaced: Bool) throws {
        let most = 1 << bits - 1
        func value(_ x: Int, _ y: Int) -> Int { x == 18 ? most : (x * 3 + y) % (most + 1) }
        var writer = PNGWriter(width: 19, height: 11) { x, y, _ in value(x, y) }
        writer.bits = bits
        writer.kind = 0
        writer.isInterlaced = isInterlaced
        let decoded = try decode(writer.file(), band: 3)
        #expect(decoded.damage.isEmpty)
        #expect(decoded.header.isGray && decoded.header.bitsPerChannel == bits)
        let scale = bits == 16 ? 65_535 : 255
        for (x, y) in [(0, 0), (1, 0), (5, 10), (18, 3), (7, 7)] {
            let expected = value(x, y) * scale / most
            #expect(decoded.samples(x, y) == [expected, expected, expected, scale])
        }
    }

    @Test(arguments: [0, 2, 3], [false, true])
    func `metadata behind the picture counts as much as in front of it`(kind: Int, isDamaged: Bool) throws {
        let exif = MetadataTests.exif(isBigEndian: true)
        let xmp = Array("XML:com.adobe.xmp\0\0\0\0\0<x:xmpmeta/>".utf8)
        var writer = PNGWriter(width: 6, height: 4) { x, _, _ in x % 2 }
        writer.kind = kind
        if kind == 3 { writer.palette = [1, 2, 3, 4, 5, 6] }
        writer.last = [("tEXt", Array("Title\0x".utf8)), ("eXIf", exif), ("iTXt", xmp)]
        var file = writer.file()
        if isDamaged {
            let place = try #require(file.firstRange(of: Array("eXIf".utf8))).upperBound + exif.count
            file[place] ^= 1
        }
        let header = try decode(file).header
        #expect(header.metadata.exif == (isDamaged ? nil : exif))
        #expect(header.orientation == (isDamaged ? 1 : 6))
        #expect(header.metadata.xmp == Array("<x:xmpmeta/>".utf8))
        writer.more = [("eXIf", MetadataTests.exif(isBigEndian: false))]
        #expect(try decode(writer.file()).header.metadata.exif == MetadataTests.exif(isBigEndian: false))
    }

    @Test(arguments: [1, 2, 4, 8], [false, true])
    func `a palette gives its colours and its transparency`(bits: Int, isInterlaced: Bool) throws {
        let colors = 1 << bits
        var writer = PNGWriter(width: 21, height: 9) { x, y, _ in (x + y) % colors }
        writer.bits = bits
        writer.kind = 3
        writer.isInterlaced = isInterlaced
        for color in 0..<colors { writer.palette += [UInt8(color), UInt8(255 - color), UInt8(color * 7 % 256)] }
        #expect(try decode(writer.file()).header.layout == .rgbx8)
        writer.transparency = [0, 128]
        let decoded = try decode(writer.file())
        #expect(decoded.header.layout == .rgba8)
        #expect(decoded.samples(0, 0) == [0, 255, 0, 0])
        #expect(decoded.samples(1, 0) == [1, 254, 7, 128])
        let last = 20 % colors
        #expect(decoded.samples(20, 0)[0] == last)
        #expect(decoded.samples(20, 0)[1] == 255 - last)
    }

    @Test(arguments: [2, 4, 6], [8, 16])
    func `colours and alpha come back exactly`(kind: Int, bits: Int) throws {
        for isInterlaced in [false, true] { try check(kind: kind, bits: bits, isInterlaced: isInterlaced) }
    }

    private func check(kind: Int, bits: Int, isInterlaced: Bool) throws {
        func value(_ x: Int, _ y: Int, _ c: Int) -> Int { (x * 977 + y * 331 + c * 12_345) & (1 << bits - 1) }
        var writer = PNGWriter(width: 13, height: 17, sample: value)
        writer.kind = kind
        writer.bits = bits
        writer.isInterlaced = isInterlaced
        let decoded = try decode(writer.file(), band: 5)
        let most = 1 << bits - 1
        for y in 0..<17 {
            for x in 0..<13 {
                let channels = (0..<4).map { value(x, y, $0) }
                let expected =
                    switch kind {
                    case 2: Array(channels[0...2]) + [most]
                    case 4: [channels[0], channels[0], channels[0], channels[1]]
                    default: channels
                    }
                #expect(decoded.samples(x, y) == expected)
            }
        }
    }

    @Test
    func `a colour named as transparent is clear`() throws {
        var writer = PNGWriter(width: 3, height: 1) { x, _, c in x == 1 ? [7, 8, 9][c] : 50 }
        writer.transparency = [0, 7, 0, 8, 0, 9]
        let decoded = try decode(writer.file())
        #expect(decoded.samples(1, 0)[3] == 0)
        #expect(decoded.samples(2, 0) == [50, 50, 50, 255])
    }

    @Test
    func `texts of any number and length are passed over and XMP is found among them`() throws {
        var writer = PNGWriter(width: 3, height: 2) { x, y, c in x * 50 + y * 20 + c }
        let plain = try decode(writer.file())
        let note = (kind: "tEXt", data: Array("Comment\0text".utf8))
        let xmp = (kind: "iTXt", data: Array("XML:com.adobe.xmp\0\0\0\0\0<x/>".utf8))
        let other = (kind: "iTXt", data: Array("Title\0\0\0\0\0<y/>".utf8))
        writer.more = [other, PNGVariantTests.longText] + Array(repeating: note, count: 1_500) + [xmp]
        let decoded = try decode(writer.file())
        #expect(decoded.damage.isEmpty)
        #expect(decoded.picture == plain.picture)
        #expect(decoded.header.metadata.xmp == Array("<x/>".utf8))
    }

    /// 4 MB of zeros in 27 kB: after one of them, copies of 258 by the fixed codes of RFC 1951, section 3.2.6.
    private static let longText: (kind: String, data: [UInt8]) = {
        let copy: [UInt8] = [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]
        let bits: [UInt8] = [1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0] + (0..<16_300).flatMap { _ in copy }
        let packed = stride(from: 0, to: bits.count - 7, by: 8).map { start in
            bits[start..<start + 8].reversed().reduce(UInt8(0)) { $0 << 1 | $1 }
        }
        return ("zTXt", Array("Comment\0\0".utf8) + [0x78, 0x9C] + packed)
    }()

    @Test
    func `the reason why a file cannot be read is the first one`() {
        var writer = PNGWriter(width: 3, height: 2) { _, _, _ in 0 }
        writer.kind = 3
        #expect(throws: CodecError(.damaged, "PNG: missing PLTE for indexed image")) { try decode(writer.file()) }
    }

    @Test
    func `a wrong checksum is damage`() throws {
        var file = PNGWriter(width: 30, height: 30) { x, y, c in x + y + c }.file()
        file[file.count - 13] ^= 1
        let decoded = try decode(file)
        #expect(!decoded.damage.isEmpty)
        #expect(decoded.picture.height == 30)
    }

    @Test(arguments: [(1, [0, 0xFF], 1), (4, [0x12, 0x35], 5), (8, [1, 200], 200)] as [(Int, [UInt8], Int)])
    func `of a clear gray with more bits than the picture the lower ones count, which is said`(
        bits: Int, transparency: [UInt8], clear: Int
    ) throws {
        let file = PNGWriter(width: 16, height: 2, bits: bits, kind: 0, transparency: transparency) { x, _, _ in
            x % 2 == 0 ? clear : 0
        }.file()
        let decoded = try decode(file)
        #expect((0..<16).map { decoded.picture.pixel($0, 1)[3] } == (0..<16).map { $0 % 2 == 0 ? 0 : 255 })
        #expect(decoded.header.notes.count == 1)
    }

    @Test
    func `so it is with a clear colour, and one that has no more bits is not mentioned`() throws {
        for high in [UInt8(0), 3] {
            let file = PNGWriter(width: 4, height: 1, transparency: [high, 10, 0, 20, high, 30]) { x, _, c in
                x == 2 ? [10, 20, 30][c] : 99
            }.file()
            let decoded = try decode(file)
            #expect((0..<4).map { decoded.picture.pixel($0, 0)[3] } == [255, 255, 0, 255])
            #expect(decoded.header.notes.isEmpty == (high == 0))
        }
    }
}
