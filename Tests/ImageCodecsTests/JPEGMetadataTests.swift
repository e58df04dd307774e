import ImageCodecs
import Testing

/// Segments of a JPEG that are joined, carried or named.
struct JPEGMetadataTests {
    private func segment(_ code: UInt8, _ name: String, _ payload: [UInt8]) -> [UInt8] {
        let count = 2 + name.utf8.count + payload.count
        return [0xFF, code, UInt8(count >> 8), UInt8(count & 255)] + Array(name.utf8) + payload
    }

    /// What is read of a JPEG with these segments at its beginning.
    private func header(_ segments: [UInt8]...) throws -> ImageMetadata {
        let plain = try encoded(Picture.sample(width: 8, height: 8), as: .jpeg)
        return try decode(Array(plain.prefix(2)) + segments.joined() + plain.dropFirst(2)).header.metadata
    }

    private func notes(_ metadata: ImageMetadata, _ format: ImageFormat = .jpeg) -> [String] {
        metadata.edited(forWidth: 8, height: 8, icc: nil, format: format).notes
    }

    private static let exif = "Exif\0\0"
    private static let xmp = "http://ns.adobe.com/xap/1.0/\0"

    @Test
    func `EXIF in several segments is one block, and is written so`() throws {
        let writer = EXIFWriter(isBigEndian: false)
        let long = (0..<90_000).map { UInt8($0 % 251) }
        let block = writer.block(
            make: "Canon", model: "A camera", width: 8, height: 8, more: [writer.bytes(0x9286, long)],
            makerNote: MakerNote.canon.bytes)
        let metadata = try header(
            segment(0xE1, Self.exif, Array(block.prefix(60_000))),
            segment(0xE1, Self.exif, Array(block.dropFirst(60_000))))
        #expect(metadata.exif == block)
        let edited = metadata.edited(forWidth: 8, height: 8, icc: nil, format: .jpeg)
        #expect(edited.notes.isEmpty)
        let file = try encoded(Picture.sample(width: 8, height: 8), as: .jpeg) { $0.metadata = edited.metadata }
        #expect(try decode(file).header.metadata.exif == block)
    }

    @Test(.enabled(if: ToolFolder.has("exiftool"), "exiftool is not installed"))
    func `another reader joins EXIF's segments too`() throws {
        let writer = EXIFWriter(isBigEndian: true)
        let block = writer.block(
            make: "SIGMA", model: "A camera", width: 8, height: 8,
            more: [writer.bytes(0x9286, Array("ASCII\0\0\0".utf8) + [UInt8](repeating: 0x61, count: 80_000))],
            makerNote: MakerNote.sigma.bytes)
        let folder = try ToolFolder()
        let path = try folder.write(
            try encoded(Picture.sample(width: 8, height: 8), as: .jpeg) { $0.metadata.exif = block }, as: "a.jpg")
        let report = try folder.run("exiftool", ["-s3", "-UserComment", "-GPSLatitudeRef", path])
        #expect(report.split(separator: "\n").map(\.count) == [80_000, 5])
    }

    @Test
    func `extended XMP stays byte by byte, in a JPEG alone`() throws {
        let digest = "0123456789ABCDEF0123456789ABCDEF"
        let packet = Array(
            """
            <x:xmpmeta><rdf:RDF><rdf:Description xmpNote:HasExtendedXMP="\(digest)"/></rdf:RDF></x:xmpmeta>
            """.utf8)
        let whole = (0..<100_000).map { UInt8($0 % 97) + 32 }
        func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(value >> $0 & 255) } }
        func part(_ offset: Int, _ count: Int) -> [UInt8] {
            segment(
                0xE1, "http://ns.adobe.com/xmp/extension/\0",
                Array(digest.utf8) + number(whole.count) + number(offset) + whole[offset..<offset + count])
        }
        // The order of parts is not that of the file.
        let metadata = try header(segment(0xE1, Self.xmp, packet), part(60_000, 40_000), part(0, 60_000))
        #expect(metadata.extendedXMP?.bytes == whole)
        let edited = metadata.edited(forWidth: 8, height: 8, icc: nil, format: .jpeg)
        #expect(edited.notes.isEmpty)
        #expect(edited.metadata.xmp == packet)
        let file = try encoded(Picture.sample(width: 8, height: 8), as: .jpeg) { $0.metadata = edited.metadata }
        #expect(try decode(file).header.metadata.extendedXMP == metadata.extendedXMP)
        let png = metadata.edited(forWidth: 8, height: 8, icc: nil, format: .png)
        #expect(png.notes == ["extended XMP was left out, because the format has no place for it"])
        #expect(png.metadata.xmp?.contains("HasExtendedXMP".utf8) == false)
        let selection = try #require(MetadataSelection(rawValue: "-gps"))
        let selected = metadata.selected(selection, MetadataCredits(), format: .jpeg)
        #expect(selected.metadata.extendedXMP == nil)
        #expect(selected.notes == ["extended XMP was left out, as it may tell what was taken out"])
        let incomplete = try header(segment(0xE1, Self.xmp, packet), part(0, 60_000))
        #expect(
            notes(incomplete) == ["extended XMP was left out, as it is incomplete or the packet does not name it"])
    }

    @Test
    func `what is not carried is named, but for who wants nothing of it`() throws {
        let block = MakerNote.apple.block(width: 8, height: 8)
        let metadata = try header(
            segment(0xE1, Self.exif, block), segment(0xE1, Self.exif, MakerNote.canon.block(width: 8, height: 8)),
            segment(0xE1, Self.xmp, Array("<x/>".utf8)), segment(0xE1, Self.xmp, Array("<y/>".utf8)),
            segment(0xE1, Self.xmp, Array("<x/>".utf8)), segment(0xE1, "FLIR\0", [1, 2, 3]),
            segment(0xE1, "FLIR\0", [1, 2, 4]), segment(0xEB, "JP\0", [9]), segment(0xFE, "one", []),
            segment(0xFE, "two", []), segment(0xEC, "Ducky", [0]))
        #expect(metadata.exif == block && metadata.xmp == Array("<x/>".utf8))
        #expect(
            notes(metadata) == [
                "another EXIF block was left out", "another XMP packet was left out", "another comment was left out",
                "2 segments APP1 FLIR were left out", "the segment APP11 JP was left out",
            ])
        #expect(notes(metadata.selected(.strip, MetadataCredits(), format: .jpeg).metadata).isEmpty)
    }

    @Test
    func `a thumbnail without compression is named`() throws {
        let pixel = Array("\u{1}\u{1}\0\0\u{1}\0\u{1}\u{1}\u{1}".utf8) + [1, 2, 3]
        #expect(
            notes(try header(segment(0xE0, "JFIF\0", pixel)))
                == ["the segment APP0 with the JFIF thumbnail was left out"])
    }

    @Test
    func `a video behind the picture is named, and no place of it is told`() throws {
        func packet(_ attributes: String) -> [UInt8] {
            Array("<x:xmpmeta><rdf:RDF><rdf:Description dc:source='a'\(attributes)/></rdf:RDF></x:xmpmeta>".utf8)
        }
        let video = " GCamera:MicroVideo=\"1\" GCamera:MicroVideoOffset=\"4000\""
        let edited = ImageMetadata(xmp: packet(video)).edited(forWidth: 8, height: 8, icc: nil, format: .jpeg)
        #expect(edited.metadata.xmp == packet(""))
        #expect(edited.notes == ["the video behind the picture was left out"])
        let none = packet(" GCamera:MicroVideo=\"0\"")
        #expect(ImageMetadata(xmp: none).edited(forWidth: 8, height: 8, icc: nil, format: .jpeg).metadata.xmp == none)
    }

    @Test
    func `Photoshop's resources go into a TIFF and out of it`() throws {
        let resources =
            Array("8BIM\u{4}\u{4}\0\0\0\0\0\u{8}\u{1c}\u{2}\u{19}\0\u{3}abc".utf8)
            + Array("8BIM\u{4}\u{6}\0\0\0\0\0\u{2}ab".utf8)
        let edited = ImageMetadata(iptc: resources).edited(forWidth: 8, height: 8, icc: nil, format: .tiff)
        #expect(edited.notes.isEmpty)
        let file = try encoded(Picture.sample(width: 8, height: 8), as: .tiff) { $0.metadata = edited.metadata }
        #expect(try decode(file).header.metadata.iptc == resources)
        let credits = MetadataCredits(copyright: "A notice")
        let credited = ImageMetadata(iptc: resources).selected(.keep, credits, format: .jpeg).metadata
        #expect(credited.iptc?.contains(resources.suffix(14)) == true)
    }

    @Test
    func `a PNG's EXIF with a wrong checksum is named`() throws {
        var file = try encoded(Picture.sample(width: 4, height: 3), as: .png) {
            $0.metadata.exif = MakerNote.sony.block(width: 4, height: 3)
        }
        let make = try #require(file.firstRange(of: Array("SONY\0".utf8)))
        file[make.lowerBound] = UInt8(ascii: "T")
        let metadata = try decode(file).header.metadata
        #expect(metadata.exif == nil)
        #expect(notes(metadata) == ["the chunk eXIf was left out"])
    }

    @Test
    func `a GIF's comment and XMP are named`() throws {
        let head = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        let extensions: [UInt8] =
            [0x21, 0xFE, 2, 0x68, 0x69, 0, 0x21, 0xFF, 11] + Array("XMP DataXMP".utf8) + [1, 0x20, 0]
        let picture: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]
        #expect(
            notes(try decode(head + extensions + picture).header.metadata)
                == ["the comment was left out", "the XMP packet was left out"])
        #expect(notes(try decode(head + picture).header.metadata).isEmpty)
    }

    @Test
    func `EXIF and XMP of a JPEG 2000 are named`() throws {
        func box(_ kind: String, _ content: [UInt8]) -> [UInt8] {
            Box.big(content.count + 8, 4) + Array(kind.utf8) + content
        }
        let file = try JP2Writer(width: 4, height: 3, components: 3) { x, y, c in x + y + c }.file()
        #expect(notes(try decode(file).header.metadata).isEmpty)
        let more = box("uuid", Array("JpgTiffExif->JP2II*".utf8)) + box("xml ", Array("<x/>".utf8))
        #expect(
            notes(try decode(file + more).header.metadata)
                == ["the EXIF block was left out", "the XML box was left out"])
    }

    @Test
    func `texts of a PNG and further chunks of a WebP are named`() throws {
        var png = PNGWriter(width: 4, height: 3) { _, _, _ in 9 }
        let packet = Array("XML:com.adobe.xmp\0\0\0\0\0<x/>".utf8)
        png.more = [
            ("tEXt", Array("Software\0Something".utf8)), ("iTXt", packet), ("iTXt", packet),
            ("tIME", [7, 0xE8, 1, 1, 1, 1, 1]),
        ]
        let metadata = try decode(png.file()).header.metadata
        #expect(metadata.xmp == Array("<x/>".utf8))
        #expect(
            notes(metadata, .png) == ["the chunks tEXt Software, iTXt XML:com.adobe.xmp, tIME were left out"])
        var webp = try encoded(Picture.sample(width: 4, height: 3), as: .webp) { $0.metadata.xmp = Array("<x/>".utf8) }
        webp += Array("note".utf8) + [2, 0, 0, 0, 1, 2]
        let size = webp.count - 8
        webp.replaceSubrange(4..<8, with: [UInt8(size & 255), UInt8(size >> 8), 0, 0])
        #expect(notes(try decode(webp).header.metadata, .webp) == ["the chunk note was left out"])
    }
}
