/// Puts a picture and its gain map into one file, as Ultra HDR 1.0 and ISO 21496-1 say: without the exporter's own writer.
struct UltraHDRWriter {
    /// Two JPEG files without metadata.
    var picture: [UInt8]
    var map: [UInt8]
    /// hdrgm properties and the directory of containers.
    var hasXMP = true
    /// ISO 21496-1 segments.
    var hasISO = false
    /// The index of pictures.
    var hasIndex = true
    /// EXIF block of the picture.
    var exif: [UInt8]?
    /// Another property in the XMP of both pictures.
    var remark: String?
    /// Added to the place and the length of the map that the index tells.
    var placeError = 0
    var lengthError = 0

    /// Versions 0, three channels, capacities, and for each channel range, gamma and offsets as fractions of 32 bits.
    static let meaning: [UInt8] = {
        let fractions: [Int32] = [0, 1, 13, 4] + Array(repeating: [0, 1, 3, 1, 1, 1, 1, 64, 1, 64], count: 3).joined()
        return [0, 0, 0, 0, 0xC0] + fractions.flatMap { number(Int($0)) }
    }()

    private static func number(_ value: Int, _ count: Int = 4) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func little(_ value: Int, _ count: Int = 4) -> [UInt8] { number(value, count).reversed() }

    private static func segment(_ code: UInt8, _ name: String, _ payload: [UInt8]) -> [UInt8] {
        [0xFF, code] + number(2 + name.utf8.count + payload.count, 2) + Array(name.utf8) + payload
    }

    private static func packet(_ description: String) -> [UInt8] {
        Array(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <rdf:Description rdf:about="" xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" \
            xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:Container="http://ns.google.com/photos/1.0/container/" \
            xmlns:Item="http://ns.google.com/photos/1.0/container/item/" \(description)</rdf:Description></rdf:RDF>\
            </x:xmpmeta>
            """.utf8)
    }

    private var iso: String { "urn:iso:std:iso:ts:21496:-1\0" }
    private var xmp: String { "http://ns.adobe.com/xap/1.0/\0" }
    private var source: String { remark.map { " dc:source=\"\($0)\"" } ?? "" }

    /// The map with what its codes mean.
    var wholeMap: [UInt8] {
        var head: [UInt8] = []
        if hasXMP {
            head += Self.segment(
                0xE1, xmp,
                Self.packet(
                    """
                    hdrgm:Version="1.0" hdrgm:GainMapMin="0" hdrgm:GainMapMax="3" hdrgm:Gamma="1" \
                    hdrgm:OffsetSDR="0.015625" hdrgm:OffsetHDR="0.015625" hdrgm:HDRCapacityMin="0" \
                    hdrgm:HDRCapacityMax="3.25" hdrgm:BaseRenditionIsHDR="False"\(source)>
                    """))
        }
        if hasISO { head += Self.segment(0xE2, iso, Self.meaning) }
        return Array(map.prefix(2)) + head + map.dropFirst(2)
    }

    var file: [UInt8] {
        let map = wholeMap
        var head: [UInt8] = exif.map { Self.segment(0xE1, "Exif\0\0", $0) } ?? []
        if hasXMP {
            let items = [("Primary", ""), ("GainMap", " Item:Length=\"\(map.count)\"")].map { semantic, length in
                """
                <rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="\(semantic)" \
                Item:Mime="image/jpeg"\(length)/></rdf:li>
                """
            }
            head += Self.segment(
                0xE1, xmp,
                Self.packet(
                    """
                    hdrgm:Version="1.0"\(source)><Container:Directory><rdf:Seq>\(items.joined())</rdf:Seq>\
                    </Container:Directory>
                    """))
        }
        if hasISO { head += Self.segment(0xE2, iso, [0, 0, 0, 0]) }
        let start = Array(picture.prefix(2)) + head
        guard hasIndex else { return start + picture.dropFirst(2) + map }
        // The segment has 90 bytes in all; its byte order mark is the ninth.
        let pictureBytes = picture.count + head.count + 90
        let place = pictureBytes - (start.count + 8)
        let index =
            Array("II*\0".utf8) + Self.little(8) + Self.little(3, 2)
            + [0x00, 0xB0, 7, 0, 4, 0, 0, 0] + Array("0100".utf8) + [0x01, 0xB0, 4, 0, 1, 0, 0, 0, 2, 0, 0, 0]
            + [0x02, 0xB0, 7, 0, 32, 0, 0, 0, 50, 0, 0, 0] + Self.little(0)
            + Self.little(0x03_0000) + Self.little(pictureBytes) + Self.little(0) + Self.little(0)
            + Self.little(0) + Self.little(map.count + lengthError) + Self.little(place + placeError) + Self.little(0)
        return start + Self.segment(0xE2, "MPF\0", index) + picture.dropFirst(2) + map
    }
}
