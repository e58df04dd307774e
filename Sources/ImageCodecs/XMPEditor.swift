/// Corrects the few values of an XMP packet that a changed picture makes wrong, and leaves every other byte alone.
///
/// Values stand as attributes (`tiff:Orientation="6"`) or elements (`<tiff:Orientation>6</tiff:Orientation>`), under
/// the prefixes that the XMP specification (part 2) names and its writers use.
enum XMPEditor {
    /// - Parameters:
    ///   - packet: Of the input.
    ///   - width: The output's, in pixels.
    ///   - height: The output's, in pixels.
    ///   - placement: Where the input's pixels are in the output; nil where they are where they were.
    ///   - keepsExtended: The part that the packet has no room for is kept too.
    /// - Returns: The packet, and what the person should be told about parts that were left out.
    static func edit(
        _ packet: [UInt8], width: Int, height: Int, placement: PixelPlacement?, keepsExtended: Bool
    ) -> (packet: [UInt8], notes: [String]) {
        var packet = packet
        var notes: [String] = []
        setValue(of: "tiff:Orientation", to: "1", in: &packet)
        setValue(of: "tiff:ImageWidth", to: "\(width)", in: &packet)
        setValue(of: "tiff:ImageLength", to: "\(height)", in: &packet)
        setValue(of: "exif:PixelXDimension", to: "\(width)", in: &packet)
        setValue(of: "exif:PixelYDimension", to: "\(height)", in: &packet)
        if !keepsExtended {
            removeAttribute("xmpNote:HasExtendedXMP", in: &packet)
            removeElement("xmpNote:HasExtendedXMP", in: &packet)
        }
        let whole = packet.count
        removeElement("xmp:Thumbnails", in: &packet)
        if packet.count < whole { notes.append("the XMP thumbnail was left out") }
        if let placement, !placement.isIdentity { notes += move(placement, in: &packet) }
        return (packet, notes)
    }

    /// Corrects pixels a unit of the sensor, and takes out places in the picture that are not true any more.
    private static func move(_ placement: PixelPlacement, in packet: inout [UInt8]) -> [String] {
        let names = ["exif:FocalPlaneXResolution", "exif:FocalPlaneYResolution"]
        let (x, y) = (ratio(of: names[0], in: packet), ratio(of: names[1], in: packet))
        if let x, let y {
            let scaled = [(x.value, placement.scaleX), (y.value, placement.scaleY)].map { value, factor in
                factor == 1 ? value : EXIFBlock.ratio(Double(value.over) * factor, Double(value.under)) ?? value
            }
            let turned = placement.isTransposed ? scaled.reversed() : scaled
            for (name, value) in zip(names, turned) {
                setValue(of: name, to: "\(value.over)/\(value.under)", in: &packet)
            }
        }
        // In pixels; and in parts of the whole picture, by the Metadata Working Group and by Microsoft.
        var untrue = ["exif:SubjectArea", "exif:SubjectLocation"]
        if !placement.keepsShape { untrue += ["mwg-rs:Regions", "MP:RegionInfo"] }
        guard untrue.contains(where: { packet.contains($0.utf8) }), let properties = XMPProperties(packet) else {
            return []
        }
        let edited = properties.edited(keeping: { !untrue.contains($0) }, adding: "")
        guard edited.count < packet.count else { return [] }
        packet = edited
        return ["places in the picture that XMP tells were left out, as they are not true of the output"]
    }

    private static func ratio(
        of name: String, in packet: [UInt8]
    ) -> (range: Range<Int>, value: (over: Int, under: Int))? {
        guard let range = valueRange(of: Array(name.utf8), in: packet, from: 0) else { return nil }
        let parts = String(decoding: packet[range], as: UTF8.self).split(separator: "/")
        guard parts.count == 2, let over = UInt32(parts[0]), let under = UInt32(parts[1]), over > 0, under > 0 else {
            return nil
        }
        return (range, (Int(over), Int(under)))
    }

    private static func setValue(of name: String, to value: String, in packet: inout [UInt8]) {
        var position = 0
        while let range = valueRange(of: Array(name.utf8), in: packet, from: position) {
            packet.replaceSubrange(range, with: Array(value.utf8))
            position = range.lowerBound + value.utf8.count
        }
    }

    /// What stands between the quotes after the name, or between its tags when that is a plain number.
    private static func valueRange(of name: [UInt8], in packet: [UInt8], from start: Int) -> Range<Int>? {
        var position = start
        while let found = firstRange(of: name, in: packet, from: position) {
            position = found.upperBound
            var index = found.upperBound
            while index < packet.count, isSpace(packet[index]) { index += 1 }
            guard index < packet.count else { return nil }
            if packet[index] == UInt8(ascii: "="), let quote = openingQuote(after: index, in: packet) {
                guard let end = packet[(quote + 1)...].firstIndex(of: packet[quote]) else { return nil }
                return quote + 1..<end
            }
            let isOpeningTag = found.lowerBound > 0 && packet[found.lowerBound - 1] == UInt8(ascii: "<")
            if isOpeningTag, packet[index] == UInt8(ascii: ">") {
                // The slash of a ratio stands right before the digits.
                let digits = packet[(index + 1)...].prefix { (UInt8(ascii: "/")...UInt8(ascii: "9")).contains($0) }
                if !digits.isEmpty, digits.endIndex < packet.count, packet[digits.endIndex] == UInt8(ascii: "<") {
                    return digits.startIndex..<digits.endIndex
                }
            }
        }
        return nil
    }

    private static func removeAttribute(_ name: String, in packet: inout [UInt8]) {
        let name = Array(name.utf8)
        guard let found = firstRange(of: name, in: packet, from: 0),
            let value = valueRange(of: name, in: packet, from: found.lowerBound), value.upperBound < packet.count,
            packet[value.upperBound] == packet[value.lowerBound - 1]
        else { return }
        packet.removeSubrange(found.lowerBound...value.upperBound)
    }

    private static func removeElement(_ name: String, in packet: inout [UInt8]) {
        guard let start = firstTag("<\(name)", in: packet, from: 0),
            var end = packet[start.upperBound...].firstIndex(of: UInt8(ascii: ">"))
        else { return }
        if packet[end - 1] != UInt8(ascii: "/") {
            guard let endTag = firstTag("</\(name)", in: packet, from: end),
                let close = packet[endTag.upperBound...].firstIndex(of: UInt8(ascii: ">"))
            else { return }
            end = close
        }
        packet.removeSubrange(start.lowerBound...end)
    }

    /// A tag's beginning, which is not that of a longer name.
    private static func firstTag(_ beginning: String, in packet: [UInt8], from start: Int) -> Range<Int>? {
        var start = start
        while let found = firstRange(of: Array(beginning.utf8), in: packet, from: start),
            found.upperBound < packet.count
        {
            let next = packet[found.upperBound]
            if isSpace(next) || "/>".utf8.contains(next) { return found }
            start = found.upperBound
        }
        return nil
    }

    private static func openingQuote(after equals: Int, in packet: [UInt8]) -> Int? {
        var index = equals + 1
        while index < packet.count, isSpace(packet[index]) { index += 1 }
        guard index < packet.count, [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(packet[index]) else { return nil }
        return index
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private static func firstRange(of needle: [UInt8], in packet: [UInt8], from start: Int) -> Range<Int>? {
        guard let first = needle.first else { return nil }
        var position = start
        while let candidate = packet[min(position, packet.count)...].firstIndex(of: first) {
            if packet[candidate...].starts(with: needle) { return candidate..<candidate + needle.count }
            position = candidate + 1
        }
        return nil
    }
}
