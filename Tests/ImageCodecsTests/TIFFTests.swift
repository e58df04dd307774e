import ImageCodecs
import Testing

struct TIFFTests {
    @Test(arguments: [1, 2, 4, 7, 8, 10, 12, 16], [true, false])
    func `gray of every depth spans black to white`(bits: Int, whiteIsZero: Bool) throws {
        let most = 1 << bits - 1
        let file = TIFFWriter(width: 19, height: 9, bits: bits, samples: 1, photometric: whiteIsZero ? 0 : 1) {
            x, y, _ in
            UInt64(x == 18 ? most : (x + y) % (most + 1))
        }.file()
        let decoded = try decode(file)
        #expect(decoded.damage.isEmpty)
        #expect(decoded.header.isGray)
        #expect(decoded.header.layout == (bits > 8 ? .rgba16 : .rgbx8))
        let scale = bits > 8 ? 65_535 : 255
        for (x, y) in [(0, 0), (1, 0), (5, 8), (18, 3)] {
            let stored = x == 18 ? most : (x + y) % (most + 1)
            let gray = whiteIsZero ? most - stored : stored
            let expected = (gray * scale + most / 2) / most
            #expect(decoded.samples(x, y) == [expected, expected, expected, scale])
        }
    }

    struct Shape: Sendable, CustomTestStringConvertible {
        var bits: Int
        var isSeparate: Bool
        var tile: Int?
        var isBigEndian: Bool
        var testDescription: String { "\(bits) bits, separate \(isSeparate), tile \(tile ?? 0), big \(isBigEndian)" }
    }

    static let shapes = [8, 16].flatMap { bits in
        [false, true].flatMap { isSeparate in
            [nil, 16].flatMap { tile in
                [false, true].map { Shape(bits: bits, isSeparate: isSeparate, tile: tile, isBigEndian: $0) }
            }
        }
    }

    @Test(arguments: shapes)
    func `RGB with straight alpha comes back exactly`(shape: Shape) throws {
        let most = 1 << shape.bits - 1
        func value(_ x: Int, _ y: Int, _ c: Int) -> Int { (x * 7 + y * 13 + c * 101 + x * y) * 257 & most }
        var writer = TIFFWriter(width: 37, height: 23) { UInt64(value($0, $1, $2)) }
        writer.bits = shape.bits
        writer.samples = 4
        writer.extraSamples = [2]
        writer.isSeparate = shape.isSeparate
        writer.tile = shape.tile
        writer.isBigEndian = shape.isBigEndian
        let decoded = try decode(writer.file(), band: 5)
        #expect(decoded.damage.isEmpty)
        #expect(decoded.header.layout == (shape.bits == 16 ? .rgba16 : .rgba8))
        for y in 0..<23 {
            for x in 0..<37 { #expect(decoded.samples(x, y) == (0..<4).map { value(x, y, $0) }) }
        }
    }

    @Test
    func `premultiplied alpha becomes straight`() throws {
        var writer = TIFFWriter(width: 2, height: 1, samples: 4) { x, _, c in x == 0 ? [64, 32, 0, 128][c] : 0 }
        writer.extraSamples = [1]
        let decoded = try decode(writer.file())
        #expect(decoded.samples(0, 0) == [128, 64, 0, 128])
        #expect(decoded.samples(1, 0) == [0, 0, 0, 0])
    }

    @Test
    func `an extra channel that is no alpha is left out and named`() throws {
        var writer = TIFFWriter(width: 4, height: 4, samples: 4) { x, y, c in UInt64(x * 20 + y * 3 + c) }
        writer.extraSamples = [0]
        let decoded = try decode(writer.file())
        #expect(decoded.header.layout == .rgbx8)
        #expect(decoded.samples(3, 2) == [66, 67, 68, 255])
        #expect(decoded.header.notes == ["1 extra channel was left out"])
    }

    @Test(arguments: [32, 64])
    func `floats keep values beyond white and lose what is not a number`(bits: Int) throws {
        let values: [Double] = [0.25, 1.5, .nan, -0.5]
        var writer = TIFFWriter(width: 4, height: 1, bits: bits, samples: 1, photometric: 1) { x, _, _ in
            bits == 32 ? UInt64(Float(values[x]).bitPattern) : values[x].bitPattern
        }
        writer.sampleFormat = 3
        let decoded = try decode(writer.file())
        #expect(decoded.header.layout == .rgbaF32)
        let floats = decoded.picture.bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        #expect(stride(from: 0, to: 16, by: 4).map { floats[$0] } == [0.25, 1.5, 0, -0.5])
        #expect(floats[3] == 1)
    }

    @Test
    func `half floats are read`() throws {
        var writer = TIFFWriter(width: 3, height: 1, bits: 16, samples: 1, photometric: 1) { x, _, _ in
            [0x3800, 0x3C00, 0xC000][x]
        }
        writer.sampleFormat = 3
        let decoded = try decode(writer.file())
        let floats = decoded.picture.bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        #expect([floats[0], floats[4], floats[8]] == [0.5, 1, -2])
    }

    @Test
    func `a palette gives its colours`() throws {
        var writer = TIFFWriter(width: 4, height: 1, bits: 2, samples: 1, photometric: 3) { x, _, _ in UInt64(x) }
        writer.palette = [0, 65_535, 0, 257 * 9, 0, 0, 65_535, 257 * 8, 0, 0, 0, 257 * 7]
        let decoded = try decode(writer.file())
        #expect(!decoded.header.isGray)
        #expect(decoded.samples(1, 0) == [255, 0, 0, 255])
        #expect(decoded.samples(3, 0) == [9, 8, 7, 255])
    }

    @Test(arguments: [8, 16])
    func `CMYK comes as ink`(bits: Int) throws {
        let file = TIFFWriter(width: 5, height: 3, bits: bits, samples: 4, photometric: 5) { x, y, c in
            UInt64((x * 10 + y + c * 50) * (bits == 16 ? 257 : 1))
        }.file()
        let decoded = try decode(file)
        #expect(decoded.header.layout == .cmyk8)
        #expect(decoded.samples(4, 2) == [42, 92, 142, 192])
    }

    @Test
    func `the first page of several is read, which is said`() throws {
        var writer = TIFFWriter(width: 5, height: 3) { _, _, _ in 9 }
        writer.pages = 3
        writer.orientation = 8
        writer.icc = BuiltInProfile.displayP3.bytes
        let decoded = try decode(writer.file())
        #expect(decoded.header.notes == ["the first page of 3"])
        #expect(decoded.header.orientation == 8)
        #expect(decoded.header.metadata.icc == BuiltInProfile.displayP3.bytes)
    }

    @Test(arguments: [false, true])
    func `the camera's data become an EXIF block`(isBigEndian: Bool) throws {
        var writer = TIFFWriter(width: 6, height: 4) { _, _, _ in 9 }
        writer.isBigEndian = isBigEndian
        writer.orientation = 6
        writer.more = [
            (0x010F, 2, "Maker\0".utf8.map(Int.init)), (0x0132, 2, "2024:01:02 03:04:05\0".utf8.map(Int.init)),
        ]
        // One entry: pixel width 4000 in 32 bits.
        let little: [UInt8] = [1, 0, 0x02, 0xA0, 4, 0, 1, 0, 0, 0, 0xA0, 0x0F, 0, 0, 0, 0, 0, 0]
        let big: [UInt8] = [0, 1, 0xA0, 0x02, 0, 4, 0, 0, 0, 1, 0, 0, 0x0F, 0xA0, 0, 0, 0, 0]
        writer.exifDirectory = isBigEndian ? big : little
        let header = try decode(writer.file()).header
        let exif = try #require(header.metadata.exif)
        #expect(String(decoding: exif, as: Unicode.ASCII.self).contains("2024:01:02 03:04:05"))
        #expect(String(decoding: exif, as: Unicode.ASCII.self).contains("Maker"))
        let edited = header.metadata.edited(forWidth: 300, height: 200, icc: nil, format: .jpeg)
        #expect(edited.notes.isEmpty)
        let result = try #require(edited.metadata.exif)
        let width: [UInt8] =
            isBigEndian ? [0xA0, 0x02, 0, 4, 0, 0, 0, 1, 0, 0, 1, 44] : [2, 0xA0, 4, 0, 1, 0, 0, 0, 44, 1, 0, 0]
        #expect((0..<result.count - 12).contains { Array(result[$0..<$0 + 12]) == width })
        #expect(String(decoding: result, as: Unicode.ASCII.self).contains("Maker"))
    }

    /// "8BIM", the resource's number, an empty name, and the data with their length before them.
    private func resource(_ number: [UInt8], _ data: [UInt8]) -> [UInt8] {
        Array("8BIM".utf8) + number + [0, 0, 0, 0, 0, UInt8(data.count)] + data + (data.count % 2 == 1 ? [0] : [])
    }

    /// The title "Hello", padded to whole numbers of 32 bits.
    private static let records: [UInt8] = [0x1C, 2, 120, 0, 5] + Array("Hello".utf8) + [0, 0]

    @Test(arguments: [(7, false), (4, false), (4, true)], [false, true])
    func `IPTC in a tag of its own is read, as bytes or numbers, turned around or not`(
        stored: (Int, Bool), isBigEndian: Bool
    ) throws {
        var writer = TIFFWriter(width: 6, height: 4) { _, _, _ in 9 }
        writer.isBigEndian = isBigEndian
        let records = TIFFTests.records
        let (type, isTurned) = stored
        let numbers = stride(from: 0, to: records.count, by: 4).map { start in
            let four = records[start..<start + 4].map(Int.init)
            return (isBigEndian != isTurned ? four : four.reversed()).reduce(0) { $0 << 8 | $1 }
        }
        writer.more = [(33_723, type, type == 4 ? numbers : records.map(Int.init))]
        #expect(try decode(writer.file()).header.metadata.iptc == resource([4, 4], records))
    }

    @Test
    func `IPTC among Photoshop's resources goes before the one in its own tag`() throws {
        var writer = TIFFWriter(width: 6, height: 4) { _, _, _ in 9 }
        let own = resource([4, 4], [0x1C, 2, 120, 0, 1, 0x41])
        let alone = (33_723, 7, TIFFTests.records.map(Int.init))
        writer.more = [alone, (34_377, 1, own.map(Int.init))]
        #expect(try decode(writer.file()).header.metadata.iptc == own)
        let other = resource([3, 0xED], [1, 2, 3, 4])
        writer.more = [alone, (34_377, 1, other.map(Int.init))]
        #expect(try decode(writer.file()).header.metadata.iptc == resource([4, 4], TIFFTests.records) + other)
    }

    @Test(arguments: [8, 16, 32])
    func `the least of signed samples is black, which is said`(bits: Int) throws {
        let file = TIFFWriter(width: 5, height: 3, bits: bits, samples: 1, photometric: 1, sampleFormat: 2) { x, _, _ in
            UInt64(truncatingIfNeeded: [-1 << (bits - 1), -1, 0, 1, 1 << (bits - 1) - 1][x])
        }.file()
        let decoded = try decode(file)
        let most = bits == 8 ? 255 : 65_535
        let expected =
            bits == 32 ? [0, 32_767, 32_768, 32_768, 65_535] : [0, most / 2, most / 2 + 1, most / 2 + 2, most]
        #expect((0..<5).map { decoded.samples($0, 1)[0] } == expected)
        #expect(decoded.header.notes == ["its numbers are signed, and the least of them is taken for black"])
    }

    @Test(arguments: [nil, 0, 1])
    func `a fax that does not say what 0 is has white for it`(photometric: Int?) throws {
        var writer = TIFFWriter(width: 8, height: 2, bits: 1, samples: 1, photometric: photometric) { _, _, _ in 0 }
        // Modified Huffman, 3 white pixels, 2 black, 3 white, in each row (TIFF 6.0, section 10).
        (writer.compression, writer.packed) = (2, [[0x8E, 0, 0x8E, 0]])
        let decoded = try decode(writer.file())
        let dark = photometric == 1 ? 255 : 0
        #expect((0..<8).filter { decoded.samples($0, 1)[0] == dark } == [3, 4])
        let note = ["it does not say what 0 is, which is white in a fax"]
        #expect(decoded.header.notes == (photometric == nil ? note : []))
    }

    struct Kind: Sendable, CustomTestStringConvertible {
        var photometric: Int
        var samples: Int
        var extras: [Int] = []
        var bits: Int
        var tile: Int?
        var testDescription: String { "kind \(photometric), \(samples) of \(bits) bits, \(extras), tile \(tile ?? 0)" }
    }

    static let kinds = [nil, 16].flatMap { tile in
        [8, 16].flatMap { bits in
            [
                Kind(photometric: 0, samples: 1, bits: bits, tile: tile),
                Kind(photometric: 1, samples: 1, bits: bits, tile: tile),
                Kind(photometric: 1, samples: 2, extras: [2], bits: bits, tile: tile),
                Kind(photometric: 1, samples: 2, extras: [0], bits: bits, tile: tile),
                Kind(photometric: 2, samples: 3, bits: bits, tile: tile),
                Kind(photometric: 2, samples: 4, extras: [0], bits: bits, tile: tile),
                Kind(photometric: 2, samples: 4, extras: [1], bits: bits, tile: tile),
                Kind(photometric: 2, samples: 4, extras: [2], bits: bits, tile: tile),
                Kind(photometric: 2, samples: 5, extras: [0, 2], bits: bits, tile: tile),
                Kind(photometric: 5, samples: 4, bits: bits, tile: tile),
            ]
        }
    }

    /// Planes that lie apart are brought together sample by sample, others are copied where nothing is to be computed.
    @Test(arguments: kinds)
    func `samples that lie together are the picture that they are apart`(kind: Kind) throws {
        let most = 1 << kind.bits - 1
        var writer = TIFFWriter(width: 37, height: 23) { x, y, c in
            UInt64((x * 7 + y * 13 + c * 101 + x * y) * 257 & most)
        }
        (writer.bits, writer.samples, writer.extraSamples) = (kind.bits, kind.samples, kind.extras)
        (writer.photometric, writer.tile) = (kind.photometric, kind.tile)
        let together = try decode(writer.file())
        writer.isSeparate = true
        let apart = try decode(writer.file())
        #expect(together.damage.isEmpty && together.picture == apart.picture)
    }

    @Test
    func `more strips than a file has bytes are refused before there is memory for them`() throws {
        var file = TIFFWriter(width: 24, height: 3, rowsPerStrip: 1) { x, _, _ in UInt64(x) }.file()
        // The height, as its tag, a type of 32 bits, and one value.
        let entry = try #require(
            file.indices.dropLast(12).last { Array(file[$0..<$0 + 8]) == [1, 1, 4, 0, 1, 0, 0, 0] })
        #expect(file[entry + 8] == 3)
        file.replaceSubrange(entry + 8..<entry + 12, with: [0xB8, 0x0B, 0, 0])
        do throws(CodecError) {
            _ = try decode(file)
            Issue.record("3,000 strips")
        } catch {
            #expect(error.code == .damaged && error.reason.contains("no room for the places"), "\(error)")
        }
    }

    @Test(arguments: [256, 257])
    func `a file that does not say how large it is is damaged`(tag: Int) throws {
        var file = TIFFWriter(width: 4, height: 3) { _, _, _ in 9 }.file()
        let directory = Int(file[4]) | Int(file[5]) << 8
        let entry = directory + 2 + 12 * (tag - 256)
        #expect(Int(file[entry]) | Int(file[entry + 1]) << 8 == tag)
        // A tag that nobody knows.
        file[entry + 1] = 0x7F
        do throws(CodecError) {
            _ = try decode(file)
            Issue.record("it was read")
        } catch {
            #expect(error.code == .damaged && error.reason == "The TIFF does not say how large it is")
        }
    }

    @Test
    func `strips that lie beyond the end are damage`() throws {
        // Pixel data first, directory last: the strip offsets are moved beyond the file instead of cutting it.
        var file = TIFFWriter(width: 40, height: 40) { x, y, _ in UInt64(x + y) }.file()
        let sound = try decode(file)
        #expect(sound.damage.isEmpty)
        let stripBytes = 40 * 7 * 3
        let offset = [UInt8]((8 + stripBytes).littleEndianBytes)
        let found = try #require((0..<file.count - 4).last { Array(file[$0..<$0 + 4]) == offset })
        file.replaceSubrange(found..<found + 4, with: Int(0x00FF_FFFF).littleEndianBytes)
        let decoded = try decode(file)
        #expect(!decoded.damage.isEmpty)
        #expect(decoded.picture.bytes.prefix(40 * 4 * 7) == sound.picture.bytes.prefix(40 * 4 * 7))
        #expect(decoded.picture.bytes.suffix(40 * 4 * 7) == sound.picture.bytes.suffix(40 * 4 * 7))
    }

    @Test(arguments: [1, 3, 4, 5])
    func `what EXIF says in numbers in place of a text is left out`(kind: UInt8) throws {
        // Software, whose value lies behind the directory.
        let exif: [UInt8] =
            [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x31, 1, kind, 0, 4, 0, 0, 0, 26, 0, 0, 0, 0, 0, 0, 0]
            + [UInt8](repeating: 7, count: 32)
        let file = try encoded(Picture.sample(width: 9, height: 7), as: .tiff) { $0.metadata.exif = exif }
        let decoded = try decode(file)
        #expect(decoded.damage.isEmpty && decoded.header.metadata.exif == nil)
    }
}

extension Int {
    fileprivate var littleEndianBytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) } }
}

extension Decoded {
    /// A pixel's four samples as integers.
    func samples(_ x: Int, _ y: Int) -> [Int] {
        let pixel = picture.pixel(x, y)
        return picture.layout == .rgba16
            ? (0..<4).map { Int(pixel[$0 * 2]) | Int(pixel[$0 * 2 + 1]) << 8 } : pixel.map(Int.init)
    }
}
