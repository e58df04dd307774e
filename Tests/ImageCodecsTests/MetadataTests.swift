import ImageCodecs
import SeededNumbers
import Testing

struct MetadataTests {
    /// One directory with orientation 6, a picture size, an EXIF directory with pixel sizes and an unknown tag, and a
    /// second directory with a thumbnail of ten bytes.
    static func exif(isBigEndian: Bool) -> [UInt8] {
        func field(_ value: Int, _ count: Int) -> [UInt8] {
            let little = (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
            return isBigEndian ? little.reversed() : little
        }
        func entry(_ tag: Int, _ type: Int, _ value: Int) -> [UInt8] {
            let size = type == 3 ? 2 : 4
            return field(tag, 2) + field(type, 2) + field(1, 4) + field(value, size)
                + [UInt8](repeating: 0, count: 4 - size)
        }
        // Directories of 4, 3 and 3 entries follow each other after the 8 bytes of the header.
        let second = 8 + 2 + 4 * 12 + 4
        let third = second + 2 + 3 * 12 + 4
        let thumbnail = third + 2 + 3 * 12 + 4
        var bytes = Array((isBigEndian ? "MM" : "II").utf8) + field(42, 2) + field(8, 4)
        bytes += field(4, 2) + entry(0x100, 4, 6_000) + entry(0x112, 3, 6) + entry(0x8769, 4, second)
        bytes += entry(0xC4A5, 4, 77) + field(third, 4)
        bytes += field(3, 2) + entry(0xA002, 3, 6_000) + entry(0xA003, 4, 4_000) + entry(0xA406, 3, 2) + field(0, 4)
        bytes += field(3, 2) + entry(0x103, 3, 6) + entry(0x201, 4, thumbnail) + entry(0x202, 4, 10) + field(0, 4)
        return bytes + Array("thumbnail!".utf8)
    }

    @Test(arguments: [false, true])
    func `EXIF is made upright, gets the new size and loses its thumbnail`(isBigEndian: Bool) throws {
        let exif = MetadataTests.exif(isBigEndian: isBigEndian)
        let (edited, notes) = ImageMetadata(exif: exif).edited(forWidth: 2_048, height: 1_365, icc: nil, format: .jpeg)
        let result = try #require(edited.exif)
        #expect(notes.isEmpty)
        #expect(value(of: 0x112, in: result, isBigEndian) == 1)
        #expect(value(of: 0x100, in: result, isBigEndian) == 2_048)
        #expect(value(of: 0xA002, in: result, isBigEndian) == 2_048)
        #expect(value(of: 0xA003, in: result, isBigEndian) == 1_365)
        #expect(value(of: 0xA406, in: result, isBigEndian) == 2)
        #expect(value(of: 0xC4A5, in: result, isBigEndian) == 77)
        #expect(value(of: 0x103, in: exif, isBigEndian) == 6)
        #expect(value(of: 0x103, in: result, isBigEndian) == nil)
        #expect(!String(decoding: result, as: Unicode.ASCII.self).contains("thumbnail!"))
    }

    /// The value of the only entry whose tag and count have these bytes.
    private func value(of tag: Int, in exif: [UInt8], _ isBigEndian: Bool) -> Int? {
        func field(_ start: Int, _ count: Int) -> Int {
            let bytes = exif[start..<start + count]
            return (isBigEndian ? Array(bytes) : bytes.reversed()).reduce(0) { $0 << 8 | Int($1) }
        }
        for start in 8..<exif.count - 12 where field(start, 2) == tag && field(start + 4, 4) == 1 {
            return field(start + 8, field(start + 2, 2) == 3 ? 2 : 4)
        }
        return nil
    }

    @Test
    func `a block that is no EXIF is left out and named`() {
        let metadata = ImageMetadata(exif: Array("this is not EXIF at all".utf8))
        let (edited, notes) = metadata.edited(forWidth: 10, height: 10, icc: [1], format: .webp)
        #expect(edited.exif == nil)
        #expect(edited.icc == [1])
        #expect(notes == ["the damaged EXIF block was left out"])
    }

    @Test
    func `XMP values are corrected as attributes and as elements, and the rest stays`() {
        let packet = """
            <x:xmpmeta><rdf:Description tiff:Orientation="6" exif:PixelXDimension = '6000' \
            xmpNote:HasExtendedXMP="0123456789ABCDEF" dc:title="tiff:Orientation is a word">
            <tiff:Orientation>8</tiff:Orientation><tiff:ImageWidth>6000</tiff:ImageWidth>\
            <tiff:ImageLength>4000</tiff:ImageLength><exif:PixelYDimension>4000</exif:PixelYDimension>\
            <xmp:Thumbnails><rdf:Alt>AAAA</rdf:Alt></xmp:Thumbnails><tiff:Orientation/></rdf:Description></x:xmpmeta>
            """
        let expected = """
            <x:xmpmeta><rdf:Description tiff:Orientation="1" exif:PixelXDimension = '300' \
             dc:title="tiff:Orientation is a word">
            <tiff:Orientation>1</tiff:Orientation><tiff:ImageWidth>300</tiff:ImageWidth>\
            <tiff:ImageLength>200</tiff:ImageLength><exif:PixelYDimension>200</exif:PixelYDimension>\
            <tiff:Orientation/></rdf:Description></x:xmpmeta>
            """
        let metadata = ImageMetadata(xmp: Array(packet.utf8))
        let (edited, _) = metadata.edited(forWidth: 300, height: 200, icc: nil, format: .png)
        #expect(edited.xmp.map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    private func edited(_ metadata: ImageMetadata) -> String? {
        metadata.edited(forWidth: 1, height: 1, icc: nil, format: .png).metadata.xmp.map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// The inner node is part of the property that goes.
    @Test
    func `RDF within a property of RDF goes with it`() {
        let inner = "<rdf:RDF><rdf:Description hdrgm:Version=\"\(String(repeating: "A", count: 200))\"/></rdf:RDF>"
        func packet(_ properties: String) -> String {
            "<x:xmpmeta><rdf:RDF><rdf:Description dc:title='a'>\(properties)</rdf:Description></rdf:RDF></x:xmpmeta>"
        }
        let nested = packet("<Container:Directory>\(inner)</Container:Directory>")
        #expect(edited(ImageMetadata(xmp: Array(nested.utf8))) == packet(""))
    }

    @Test
    func `where a drone was goes with the positions, and which one it was with the camera`() throws {
        func packet(_ attributes: String) -> [UInt8] {
            Array("<x:xmpmeta><rdf:RDF><rdf:Description\(attributes)/></rdf:RDF></x:xmpmeta>".utf8)
        }
        let position = [
            "GpsLatitude", "GpsLongitude", "GpsLongtitude", "AbsoluteAltitude", "RelativeAltitude",
        ].map { " drone-dji:\($0)=\"+1.5\"" }.joined()
        let camera = " drone-dji:CameraSerialNumber=\"1\" drone-dji:FlightYawDegree=\"2\""
        let metadata = ImageMetadata(xmp: packet(position + " dc:title=\"a\"" + camera))
        func left(_ selection: String) throws -> [UInt8]? {
            let selection = try #require(MetadataSelection(rawValue: selection))
            return metadata.selected(selection, MetadataCredits(), format: .png).metadata.xmp
        }
        #expect(try left("-gps") == packet(" dc:title=\"a\"" + camera))
        #expect(try left("-gps,-camera") == packet(" dc:title=\"a\""))
    }

    @Test
    func `what a container cannot hold is left out and named`() {
        let metadata = ImageMetadata(
            xmp: [UInt8](repeating: 0x20, count: 70_000), iptc: Array("8BIM\u{4}\u{4}\0\0\0\0\0\u{2}ab".utf8),
            comment: Array("hello".utf8))
        let jpeg = metadata.edited(forWidth: 1, height: 1, icc: nil, format: .jpeg)
        #expect(jpeg.metadata.xmp == nil)
        #expect(jpeg.metadata.iptc == metadata.iptc)
        #expect(jpeg.notes == ["XMP of 70000 bytes was left out, because JPEG has room for 65504"])
        let webp = metadata.edited(forWidth: 1, height: 1, icc: nil, format: .webp)
        #expect(webp.metadata.xmp == metadata.xmp)
        #expect(webp.metadata.iptc == nil)
        #expect(webp.notes == ["IPTC was left out, because the format has no place for it"])
    }

    @Test
    func `Photoshop's thumbnail is dropped from among its resources`() {
        let iptc = Array("8BIM\u{4}\u{4}\0\0\0\0\0\u{3}abc\0".utf8)
        let thumbnail = Array("8BIM\u{4}\u{c}\0\0\0\0\0\u{4}JPEG".utf8)
        let metadata = ImageMetadata(iptc: thumbnail + iptc + Array("8BIM cut".utf8))
        #expect(metadata.edited(forWidth: 1, height: 1, icc: nil, format: .jpeg).metadata.iptc == iptc)
    }

    @Test(arguments: [ImageFormat.jpeg, .png, .webp])
    func `edited metadata travels through every container`(format: ImageFormat) throws {
        let source = ImageMetadata(
            exif: MetadataTests.exif(isBigEndian: false), xmp: Array("<x tiff:Orientation='3'/>".utf8))
        let picture = Picture.sample(width: 30, height: 20)
        let (edited, _) = source.edited(forWidth: 30, height: 20, icc: BuiltInProfile.displayP3.bytes, format: format)
        let decoded = try decode(try encoded(picture, as: format) { $0.metadata = edited })
        #expect(decoded.header.orientation == 1)
        #expect(decoded.header.metadata.exif == edited.exif)
        #expect(decoded.header.metadata.xmp == edited.xmp)
        #expect(decoded.header.metadata.icc == edited.icc)
    }

    @Test
    func `mutated EXIF blocks are edited or left out, never more`() {
        var random = SeededGenerator(seed: 20)
        let sound = MetadataTests.exif(isBigEndian: true)
        for _ in 0..<5_000 {
            var mutated = sound
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                mutated[Int.random(in: 0..<mutated.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            mutated.removeLast(Int.random(in: 0...20, using: &random))
            let edited = ImageMetadata(exif: mutated).edited(forWidth: 9, height: 9, icc: nil, format: .jpeg)
            #expect((edited.metadata.exif?.count ?? 0) < 65_528)
        }
    }
}
