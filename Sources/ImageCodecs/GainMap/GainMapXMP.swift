/// What XMP says of gain maps and of other files behind a picture (Ultra HDR 1.0).
enum GainMapXMP {
    /// A file behind the picture, by the directory of containers.
    struct Item: Equatable {
        var semantic: String
        /// Bytes of it and after it.
        var length: Int
    }

    /// What tells of a video behind the picture, in two versions of Google's.
    private static let videos = ["GCamera:MicroVideo", "GCamera:MotionPhoto"]

    /// A packet without a word about gain maps and other files behind the picture, whose places are those of the input.
    ///
    /// - Returns: nil where the packet is not well formed but speaks of them; and what the person should be told of files that are
    ///   no gain maps.
    static func withoutFiles(_ packet: [UInt8]) -> (packet: [UInt8]?, notes: [String]) {
        let hasVideo = videos.contains { name in
            ["=\"1\"", "='1'", ">1<"].contains { packet.contains("\(name)\($0)".utf8) }
        }
        guard hasVideo || packet.contains("hdrgm:".utf8) || packet.contains("Container:Directory".utf8) else {
            return (packet, [])
        }
        let others = items(packet).filter { !["Primary", "GainMap"].contains($0.semantic) }
        var notes = hasVideo ? ["the video behind the picture was left out"] : []
        if !hasVideo, !others.isEmpty { notes = ["files behind the picture were left out"] }
        let edited = XMPProperties(packet)?.edited(
            keeping: { name in
                !name.hasPrefix("hdrgm:") && !name.hasSuffix("Container:Directory")
                    && !(hasVideo && videos.contains(where: name.hasPrefix))
            }, adding: "")
        return (edited, notes)
    }

    /// The parts of a gain map's packet that say what its codes mean; nil where it does not.
    static func meaning(_ packet: [UInt8]) -> [UInt8]? {
        guard packet.contains("hdrgm:GainMapMax".utf8) else { return nil }
        return XMPProperties(packet)?.edited(keeping: { $0.hasPrefix("hdrgm:") }, adding: "")
    }

    /// A node of RDF that says that a gain map of so many bytes follows the picture.
    static func node(mapBytes: Int) -> String {
        """
        <rdf:Description rdf:about="" xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" \
        xmlns:Container="http://ns.google.com/photos/1.0/container/" \
        xmlns:Item="http://ns.google.com/photos/1.0/container/item/" hdrgm:Version="1.0"><Container:Directory><rdf:Seq>\
        <rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="Primary" Item:Mime="image/jpeg"/></rdf:li>\
        <rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="GainMap" Item:Mime="image/jpeg" \
        Item:Length="\(mapBytes)"/></rdf:li></rdf:Seq></Container:Directory></rdf:Description>
        """
    }

    /// The files behind the picture in their order.
    static func items(_ packet: [UInt8]) -> [Item] {
        var items: [Item] = []
        var rest = packet[...]
        while let start = rest.firstRange(of: "Container:Item".utf8) {
            rest = rest[start.upperBound...]
            let tag = rest.prefix { $0 != UInt8(ascii: ">") }
            guard let semantic = value(of: "Item:Semantic", in: tag) else { continue }
            let length = value(of: "Item:Length", in: tag).flatMap { Int($0) } ?? 0
            let padding = value(of: "Item:Padding", in: tag).flatMap { Int($0) } ?? 0
            // Numbers that no file reaches would not add up.
            guard (0..<1 << 40).contains(length), (0..<1 << 40).contains(padding) else { return [] }
            items.append(Item(semantic: semantic, length: length + padding))
        }
        return items
    }

    private static func value(of attribute: String, in tag: ArraySlice<UInt8>) -> String? {
        guard let name = tag.firstRange(of: attribute.utf8) else { return nil }
        let quotes: [UInt8] = [UInt8(ascii: "\""), UInt8(ascii: "'")]
        guard let open = tag[name.upperBound...].firstIndex(where: quotes.contains),
            let end = tag[(open + 1)...].firstIndex(of: tag[open])
        else { return nil }
        return String(decoding: tag[open + 1..<end], as: UTF8.self)
    }
}
