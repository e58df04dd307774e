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
        #expect(notes == ["the EXIF thumbnail was left out"])
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

    @Test(arguments: [
        "<xmpNote:HasExtendedXMP>0123456789ABCDEF</xmpNote:HasExtendedXMP>",
        "<xmpNote:HasExtendedXMP xmlns:xmpNote='http://ns.adobe.com/xmp/note/'>01</xmpNote:HasExtendedXMP >",
        "<xmpNote:HasExtendedXMP rdf:resource='01'/>",
    ])
    func `nothing points to the XMP that was left out`(element: String) {
        func packet(_ element: String) -> String { "<rdf:Description><dc:title/>\(element)</rdf:Description>" }
        #expect(edited(ImageMetadata(xmp: Array(packet(element).utf8))) == packet(""))
        let longer = "<xmpNote:HasExtendedXMPs>1</xmpNote:HasExtendedXMPs>"
        #expect(edited(ImageMetadata(xmp: Array(packet(longer + element).utf8))) == packet(longer))
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

    /// Descriptions with the namespace of one that has names of its own for positions.
    private func packet(_ properties: String, attributes: String = "", after: String = "") -> [UInt8] {
        Array(
            """
            <x:xmpmeta><rdf:RDF><rdf:Description xmlns:w="http://www.w3.org/2003/01/geo/wgs84_pos#"\(attributes)>\
            \(properties)</rdf:Description>\(after)</rdf:RDF></x:xmpmeta>
            """.utf8)
    }

    @Test
    func `what holds a position goes with the positions, whatever names it`() throws {
        let selection = try #require(MetadataSelection(rawValue: "-gps"))
        func left(_ packet: [UInt8]) -> [UInt8]? {
            ImageMetadata(xmp: packet).selected(selection, MetadataCredits(), format: .png).metadata.xmp
        }
        let history = "<xmpMM:History><rdf:Seq><rdf:li stEvt:action='saved'/></rdf:Seq></xmpMM:History>"
        for inner in [
            "<rdf:li><rdf:Description exif:GPSLatitude='12,30N'/></rdf:li>", "<w:lat>12.5</w:lat>",
            "<rdf:li rdf:parseType='Resource'><exif:GPSLatitude>12,30N</exif:GPSLatitude></rdf:li>",
        ] {
            let pantry = "<xmpMM:Pantry><rdf:Bag>\(inner)</rdf:Bag></xmpMM:Pantry>"
            #expect(left(packet(pantry + history)) == packet(history))
        }
        #expect(left(packet(history + "<xmpMM:Pantry exif:GPSLatitude='12,30N'/>")) == packet(history))
        #expect(left(packet("<geo:lat>12.5</geo:lat><w:long>3</w:long>", attributes: " w:lat='12.5'")) == packet(""))
        #expect(left(packet("<v:lat>a</v:lat>")) == packet("<v:lat>a</v:lat>"))
    }

    private static let utf8: [UInt8] = [0x1B, 0x25, 0x47]

    private func dataset(_ record: UInt8, _ number: UInt8, _ value: [UInt8]) -> [UInt8] {
        [0x1C, record, number, UInt8(value.count >> 8), UInt8(value.count & 255)] + value
    }

    /// Photoshop resources of these datasets alone.
    private func resources(_ datasets: [[UInt8]]) -> [UInt8] {
        let data = datasets.flatMap(\.self)
        let size = [24, 16, 8, 0].map { UInt8(data.count >> $0 & 255) }
        return Array("8BIM\u{4}\u{4}\0\0".utf8) + size + data + (data.count % 2 == 1 ? [0] : [])
    }

    /// Without a word about it, as Latin-1 (ESC . A), and as UTF-8, where what is none stays as it is.
    @Test(arguments: [nil, [0x1B, 0x2E, 0x41], [0x1B, 0x25, 0x47], [0x1B, 0x25, 0x2F, 0x49]] as [[UInt8]?])
    func `credits make IPTC's texts UTF-8, and it says so once`(charset: [UInt8]?) {
        let isUTF8 = charset?[1] == 0x25
        let koln: [UInt8] = [0x4B, 0xF6, 0x6C, 0x6E]
        let quoted: [UInt8] = [0x93, 0x6F, 0x94]
        func texts(_ koln: [UInt8], _ quoted: [UInt8]) -> [[UInt8]] {
            [
                dataset(2, 0, [0x00, 0xC3]), dataset(2, 25, Array("Zoë".utf8)), dataset(2, 90, koln),
                dataset(2, 120, quoted), dataset(2, 202, [0xFF, 0xD8, 0xE9]),
            ]
        }
        let version = dataset(1, 0, [0, 4])
        let identifier = dataset(1, 100, [0x41])
        let input = resources(
            [version] + (charset.map { [dataset(1, 90, $0)] } ?? []) + [identifier] + texts(koln, quoted)
                + [dataset(2, 80, Array("Old".utf8))])
        let recoded = isUTF8 ? texts(koln, quoted) : texts(Array("Köln".utf8), Array("“o”".utf8))
        let expected = resources(
            [version, dataset(1, 90, Self.utf8), identifier] + recoded + [dataset(2, 80, Array("Zoë".utf8))])
        let metadata = ImageMetadata(iptc: input)
        let credited = metadata.selected(.keep, MetadataCredits(artist: "Zoë"), format: .jpeg)
        #expect(credited.metadata.iptc == expected)
        #expect(metadata.selected(.keep, MetadataCredits(), format: .jpeg).metadata.iptc == input)
    }

    @Test
    func `IPTC's locations go with the positions in both forms, and the names of cities stay`() throws {
        let places = [26, 27, 92].map { dataset(2, $0, Array("Quay 5".utf8)) }
        let city = dataset(2, 90, Array("Genoa".utf8))
        let location = "<Iptc4xmpCore:Location>Quay 5</Iptc4xmpCore:Location>"
        let town = "<photoshop:City>Genoa</photoshop:City>"
        let metadata = ImageMetadata(xmp: packet(location + town), iptc: resources(places + [city]))
        func left(_ selection: String) throws -> ImageMetadata {
            let selection = try #require(MetadataSelection(rawValue: selection))
            return metadata.selected(selection, MetadataCredits(), format: .jpeg).metadata
        }
        #expect(try left("-gps").iptc == resources([city]))
        #expect(try left("-gps").xmp == packet(town))
        #expect(try left("-description").iptc == resources(places))
        #expect(try left("-description").xmp == packet(location))
    }

    @Test
    func `credits lose what no XML can hold, in every form`() throws {
        let credits = MetadataCredits(artist: "Z\0o\u{7}ë\u{FFFE}\u{FFFF}\u{1F}\t1", copyright: "\u{1}a\n2")
        #expect(credits == MetadataCredits(artist: "Zoë\t1", copyright: "a\n2"))
        let metadata = ImageMetadata().selected(.strip, credits, format: .jpeg).metadata
        let xmp = try #require(metadata.xmp.map { String(decoding: $0, as: UTF8.self) })
        #expect(xmp.contains("<rdf:li>Zoë\t1</rdf:li>") && xmp.contains(">a\n2</rdf:li>"))
        #expect(try #require(metadata.exif).contains("Zoë\t1\0".utf8))
        #expect(
            metadata.iptc
                == resources([
                    dataset(1, 90, Self.utf8), dataset(2, 80, Array("Zoë\t1".utf8)),
                    dataset(2, 116, Array("a\n2".utf8)),
                ]))
    }

    /// With the sign before it, an accent is one letter.
    @Test
    func `signs of XML are escaped before accents and line ends too`() throws {
        let credits = MetadataCredits(artist: "<\u{338}&\u{301}>\r\n")
        let metadata = ImageMetadata().selected(.strip, credits, format: .png).metadata
        let xmp = try #require(metadata.xmp)
        #expect(xmp.contains("<rdf:li>&lt;\u{338}&amp;\u{301}&gt;&#xD;\n</rdf:li>".utf8))
    }

    @Test
    func `Windows' author goes where an artist is given`() throws {
        // XPAuthor, UTF-16 of two letters.
        let exif: [UInt8] = [
            0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x9D, 0x9C, 1, 0, 4, 0, 0, 0, 0x4F, 0, 0x4B, 0, 0, 0, 0, 0,
        ]
        let author: [UInt8] = [0x9D, 0x9C, 1, 0, 4, 0, 0, 0, 0x4F, 0, 0x4B, 0]
        func credited(_ credits: MetadataCredits) throws -> [UInt8] {
            try #require(ImageMetadata(exif: exif).selected(.keep, credits, format: .png).metadata.exif)
        }
        #expect(!(try credited(MetadataCredits(artist: "New")).contains([0x9D, 0x9C])))
        #expect(try credited(MetadataCredits(artist: "New")).contains("New\0".utf8))
        #expect(try credited(MetadataCredits(copyright: "New")).contains(author))
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
        #expect(
            webp.notes == ["the comment", "IPTC"].map { "\($0) was left out, because the format has no place for it" })
        #expect(webp.metadata.comment == nil)
    }

    @Test
    func `Photoshop's thumbnail is dropped from among its resources`() {
        let iptc = Array("8BIM\u{4}\u{4}\0\0\0\0\0\u{3}abc\0".utf8)
        let thumbnail = Array("8BIM\u{4}\u{c}\0\0\0\0\0\u{4}JPEG".utf8)
        let metadata = ImageMetadata(iptc: thumbnail + iptc + Array("8BIM cut".utf8))
        let edited = metadata.edited(forWidth: 1, height: 1, icc: nil, format: .jpeg)
        #expect(edited.metadata.iptc == iptc)
        #expect(
            edited.notes == [
                "Photoshop's thumbnail was left out", "the damaged end of Photoshop's resources was left out",
            ])
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

    /// A TIFF of one black pixel with description, artist, copyright, a camera's directory and a place.
    private func tiff(isBig: Bool, isBigEndian: Bool) -> [UInt8] {
        func field(_ value: Int, _ count: Int) -> [UInt8] {
            let little = (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
            return isBigEndian ? little.reversed() : little
        }
        let word = isBig ? 8 : 4
        typealias Entry = (tag: Int, type: Int, count: Int, data: [UInt8])
        func directory(_ entries: [Entry], at start: Int) -> [UInt8] {
            var bytes = field(entries.count, isBig ? 8 : 2)
            let heapStart = start + bytes.count + entries.count * (4 + 2 * word) + word
            var heap: [UInt8] = []
            for entry in entries {
                bytes += field(entry.tag, 2) + field(entry.type, 2) + field(entry.count, word)
                if entry.data.count <= word {
                    bytes += entry.data + [UInt8](repeating: 0, count: word - entry.data.count)
                } else {
                    bytes += field(heapStart + heap.count, word)
                    heap += entry.data + [UInt8](repeating: 0, count: entry.data.count % 2)
                }
            }
            return bytes + field(0, word) + heap
        }
        func short(_ tag: Int, _ value: Int) -> Entry { (tag, 3, 1, field(value, 2)) }
        func text(_ tag: Int, _ text: String) -> Entry { (tag, 2, text.utf8.count + 1, Array(text.utf8) + [0]) }
        let camera: [Entry] = [
            (0x829A, 5, 1, field(1, 4) + field(50, 4)), text(0x9003, "2019:05:04 10:00:00"),
        ]
        let place: [Entry] = [
            text(1, "N"), (2, 5, 3, [12, 1, 30, 1, 0, 1].flatMap { field($0, 4) }),
        ]
        let pixel = isBig ? 16 : 8
        let cameraStart = pixel + 2
        let cameraBytes = directory(camera, at: cameraStart)
        let placeStart = cameraStart + cameraBytes.count
        let placeBytes = directory(place, at: placeStart)
        let first = placeStart + placeBytes.count
        let entries: [Entry] = [
            short(0x100, 1), short(0x101, 1), short(0x102, 8), short(0x103, 1), short(0x106, 1),
            text(0x10E, "A harbour"), short(0x111, pixel), short(0x115, 1), short(0x116, 1), short(0x117, 1),
            text(0x13B, "Owner"), text(0x8298, "Notice"),
            // IFD8 and LONG8, as writers have it.
            (0x8769, isBig ? 18 : 4, 1, field(cameraStart, word)),
            (0x8825, isBig ? 16 : 4, 1, field(placeStart, word)),
        ]
        let mark = Array((isBigEndian ? "MM" : "II").utf8)
        let header = isBig ? field(43, 2) + field(8, 2) + field(0, 2) + field(first, 8) : field(42, 2) + field(first, 4)
        return mark + header + [0, 0] + cameraBytes + placeBytes + directory(entries, at: first)
    }

    @Test(arguments: [false, true])
    func `BigTIFF says what TIFF says`(isBigEndian: Bool) throws {
        let header = try decode(tiff(isBig: true, isBigEndian: isBigEndian)).header
        let exif = try #require(header.metadata.exif)
        #expect(exif == (try decode(tiff(isBig: false, isBigEndian: isBigEndian)).header.metadata.exif))
        for text in ["A harbour\0", "Owner\0", "Notice\0"] { #expect(exif.contains(text.utf8)) }
        let day = try #require(header.metadata.day)
        #expect(day == (2019, 5, 4))
        let edited = header.metadata.edited(forWidth: 1, height: 1, icc: nil, format: .jpeg)
        #expect(edited.notes.isEmpty)
        #expect(try #require(edited.metadata.exif).contains("Owner\0".utf8))
    }

    @Test
    func `mutated BigTIFFs are opened or refused, and say no more than EXIF can`() {
        var random = SeededGenerator(seed: 43)
        let sound = tiff(isBig: true, isBigEndian: false)
        var opened = 0
        for _ in 0..<5_000 {
            var mutated = sound
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                mutated[Int.random(in: 4..<mutated.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            mutated.removeLast(Int.random(in: 0...3, using: &random))
            mutated.withUnsafeBytes { bytes in
                guard let decoder = try? CodecRegistry.decoder(for: bytes, limits: DecodeLimits()) else { return }
                opened += 1
                #expect((decoder.header.metadata.exif?.count ?? 0) <= 60_000)
            }
        }
        #expect(opened > 500)
    }
}
