/// The properties of an XMP packet: attributes and children of the nodes of its RDF (XMP specification, part 1).
///
/// Reads as much of XML as that takes, and says so where a packet has anything else.
struct XMPProperties {
    private let packet: [UInt8]
    private(set) var properties: [Property] = []
    /// Where another node can be put: before the end tag of the RDF.
    private(set) var end = 0

    struct Property {
        /// As it is written, but with the usual prefix where its namespace is known.
        var name: String
        /// The bytes to take out to be rid of it.
        var range: Range<Int>
        /// The names of elements and attributes that it holds.
        var inner: Set<String> = []
    }

    /// W3C's Basic Geo vocabulary, which has short names for a position: `geo:lat`, `geo:long`.
    private static let geoNamespace = "http://www.w3.org/2003/01/geo/wgs84_pos#"

    private struct Tag {
        var name: String
        var range: Range<Int>
        var isEnd: Bool
        var isEmpty: Bool
        /// Names with the bytes from the blank before them to the closing quote.
        var attributes: [(name: String, range: Range<Int>)]
    }

    /// nil for what is no well-formed packet.
    init?(_ packet: [UInt8]) {
        self.packet = packet
        var open: [String] = []
        var position = 0
        /// The property that is open, and the count of elements around it.
        var outer: (property: Property, depth: Int)?
        var geoPrefixes: Set<String> = []
        func usual(_ name: String) -> String {
            let parts = name.split(separator: ":", maxSplits: 1).map(String.init)
            return parts.count == 2 && geoPrefixes.contains(parts[0]) ? "geo:\(parts[1])" : name
        }
        while let start = packet[position...].firstIndex(of: UInt8(ascii: "<")) {
            guard let tag = Self.tag(packet, at: start) else {
                guard let end = Self.endOfOther(packet, at: start) else { return nil }
                position = end
                continue
            }
            position = tag.range.upperBound
            if tag.isEnd {
                guard open.popLast() == tag.name else { return nil }
                if var known = outer, open.count == known.depth {
                    known.property.range = known.property.range.lowerBound..<tag.range.upperBound
                    properties.append(known.property)
                    outer = nil
                }
                if tag.name == "rdf:RDF" { end = tag.range.lowerBound }
                continue
            }
            for (name, range) in tag.attributes
            where name.hasPrefix("xmlns:") && packet[range].contains(Self.geoNamespace.utf8) {
                geoPrefixes.insert(String(name.dropFirst(6)))
            }
            let attributes = tag.attributes.filter { !$0.name.hasPrefix("xmlns") && !$0.name.hasPrefix("rdf:") }
            let inner = attributes.map { usual($0.name) }
            if outer != nil {
                outer?.property.inner.formUnion([usual(tag.name)] + inner)
            } else if open.last == "rdf:RDF" {
                properties += attributes.map { Property(name: usual($0.name), range: $0.range) }
            } else if open.dropLast().last == "rdf:RDF" {
                let property = Property(name: usual(tag.name), range: tag.range, inner: Set(inner))
                if tag.isEmpty {
                    properties.append(property)
                } else {
                    outer = (property, open.count)
                }
            }
            if !tag.isEmpty { open.append(tag.name) }
        }
        guard open.isEmpty, end > 0 else { return nil }
    }

    /// The packet without the properties that are not to be kept, and with another node of RDF.
    ///
    /// - Parameters:
    ///   - keeps: Asked for a property's name.
    ///   - keepsInner: Asked for each name that a property holds; it goes as a whole.
    ///   - node: May be empty.
    /// - Returns: The packet, of which every other byte is as it was.
    func edited(
        keeping keeps: (String) -> Bool, holding keepsInner: (String) -> Bool = { _ in true }, adding node: String
    ) -> [UInt8] {
        var result = packet
        result.insert(contentsOf: node.utf8, at: end)
        for property in properties.sorted(by: { $0.range.lowerBound > $1.range.lowerBound })
        where !keeps(property.name) || !property.inner.allSatisfy(keepsInner) {
            result.removeSubrange(property.range)
        }
        return result
    }

    /// A start tag or an end tag; nil for anything else.
    private static func tag(_ bytes: [UInt8], at start: Int) -> Tag? {
        var index = start + 1
        guard index < bytes.count else { return nil }
        let isEnd = bytes[index] == UInt8(ascii: "/")
        if isEnd { index += 1 }
        guard let name = readName(bytes, &index) else { return nil }
        var attributes: [(name: String, range: Range<Int>)] = []
        while index < bytes.count {
            let blank = index
            while index < bytes.count, isSpace(bytes[index]) { index += 1 }
            guard index < bytes.count else { return nil }
            if bytes[index] == UInt8(ascii: ">") {
                return Tag(
                    name: name, range: start..<index + 1, isEnd: isEnd, isEmpty: false, attributes: attributes)
            }
            if bytes[index] == UInt8(ascii: "/"), index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: ">") {
                return Tag(name: name, range: start..<index + 2, isEnd: isEnd, isEmpty: true, attributes: attributes)
            }
            guard !isEnd, let attribute = readName(bytes, &index), let end = endOfValue(bytes, index) else {
                return nil
            }
            attributes.append((attribute, blank..<end))
            index = end
        }
        return nil
    }

    /// After an equals sign and a quoted value.
    private static func endOfValue(_ bytes: [UInt8], _ start: Int) -> Int? {
        var index = start
        while index < bytes.count, isSpace(bytes[index]) { index += 1 }
        guard index < bytes.count, bytes[index] == UInt8(ascii: "=") else { return nil }
        index += 1
        while index < bytes.count, isSpace(bytes[index]) { index += 1 }
        guard index < bytes.count, [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(bytes[index]) else { return nil }
        return bytes[(index + 1)...].firstIndex(of: bytes[index]).map { $0 + 1 }
    }

    private static func readName(_ bytes: [UInt8], _ index: inout Int) -> String? {
        let start = index
        while index < bytes.count, !isSpace(bytes[index]), !"=/>\"'<".utf8.contains(bytes[index]) { index += 1 }
        guard index > start, ![UInt8(ascii: "?"), UInt8(ascii: "!")].contains(bytes[start]) else { return nil }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// After a processing instruction or a comment; nil where there is neither.
    private static func endOfOther(_ bytes: [UInt8], at start: Int) -> Int? {
        for (opening, closing) in [("<?", "?>"), ("<!--", "-->")] where bytes[start...].starts(with: opening.utf8) {
            let closing = Array(closing.utf8)
            var index = start + opening.utf8.count
            while index + closing.count <= bytes.count {
                if bytes[index...].starts(with: closing) { return index + closing.count }
                index += 1
            }
        }
        return nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}

extension XMPProperties {
    /// Which part of the metadata a property belongs to, by the prefixes that the XMP specification (part 2), the IPTC and
    /// their writers use. A position is one under any prefix, as drones' makers have their own (`drone-dji:GpsLatitude`,
    /// `drone-dji:GpsLongtitude`), and everything under `geo` is one.
    static func group(of name: String) -> MetadataGroup {
        let parts = name.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return .other }
        let (prefix, local) = (parts[0], parts[1])
        let folded = local.lowercased()
        if prefix == "geo" || ["gps", "location"].contains(where: folded.hasPrefix)
            || ["latitude", "longitude", "longtitude", "altitude"].contains(where: folded.hasSuffix)
        {
            return .gps
        }
        if folded.hasSuffix("serialnumber") || prefix.hasPrefix("drone-") { return .camera }
        if local.hasSuffix("Date") || local.hasPrefix("DateTime") { return .dates }
        switch (prefix, local) {
        case ("dc", "rights"), ("tiff", "Copyright"), ("xmpRights", _), ("plus", _), ("cc", _): return .copyright
        case ("dc", "creator"), ("dc", "contributor"), ("dc", "publisher"), ("tiff", "Artist"),
            ("photoshop", "AuthorsPosition"), ("photoshop", "Credit"), ("photoshop", "Source"),
            ("photoshop", "CaptionWriter"), ("Iptc4xmpCore", "CreatorContactInfo"), ("aux", "OwnerName"),
            ("exifEX", "CameraOwnerName"):
            return .artist
        case ("dc", "date"), ("photoshop", "DateCreated"): return .dates
        case ("dc", "title"), ("dc", "description"), ("dc", "subject"), ("xmp", "Rating"), ("xmp", "Label"),
            ("tiff", "ImageDescription"), ("exif", "UserComment"), ("photoshop", "Headline"), ("photoshop", "City"),
            ("photoshop", "State"), ("photoshop", "Country"), ("photoshop", "Instructions"),
            ("photoshop", "TransmissionReference"), ("Iptc4xmpCore", _), ("Iptc4xmpExt", _), ("lr", _),
            ("digiKam", _), ("MicrosoftPhoto", _), ("mwg-rs", _):
            return .description
        case ("tiff", "Make"), ("tiff", "Model"), ("tiff", "Software"), ("xmp", "CreatorTool"), ("aux", _),
            ("exifEX", _), ("crs", _):
            return .camera
        case ("exif", "PixelXDimension"), ("exif", "PixelYDimension"), ("exif", "ColorSpace"), ("exif", "ExifVersion"):
            return .other
        case ("exif", _): return .camera
        default: return .other
        }
    }

    /// A packet of one node.
    static func packet(of node: String) -> [UInt8] {
        Array(
            """
            <?xpacket begin="\u{feff}" id="W5M0MpCehiHzreSzNTczkc9d"?>\
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            \(node)</rdf:RDF></x:xmpmeta><?xpacket end="w"?>
            """.utf8)
    }
}
