/// The index of pictures that lie behind one another in a file, the segment APP2 of CIPA DC-007 (Multi-Picture Format).
enum MultiPictureIndex {
    static let prefix = Array("MPF\0".utf8)

    private static let entriesTag = 0xB002
    private static let entryBytes = 16

    /// Where the pictures after the first are said to lie in a file; may be outside of it.
    static func others(in file: UnsafeRawBufferPointer) -> [Range<Int>] {
        for segment in JPEGSegments.list(file) where segment.code == JPEGSegments.app2 {
            guard file[segment.payload].starts(with: prefix) else { continue }
            // Offsets count from the byte order mark.
            let start = segment.payload.lowerBound + prefix.count
            let bytes = UnsafeRawBufferPointer(rebasing: file[start..<segment.payload.upperBound])
            guard let structure = TIFFStructure(bytes),
                let entries = structure.firstDirectory.first(where: { $0.tag == entriesTag })
            else { return [] }
            return stride(
                from: entries.value.lowerBound + entryBytes, through: entries.value.upperBound - entryBytes,
                by: entryBytes
            ).compactMap { entry in
                guard let size = structure.number(at: entry + 4, bytes: 4),
                    let offset = structure.number(at: entry + 8, bytes: 4), size > 0
                else { return nil }
                return start + offset..<start + offset + size
            }
        }
        return []
    }

    /// A sentence on the pictures behind the first one that are not carried; nil where there are none. A gain map has its own.
    static func leftOut(of file: UnsafeRawBufferPointer, gainMap: Result<GainMap, CodecError>?) -> String? {
        let pictures = others(in: file).filter {
            $0.lowerBound > 0 && $0.upperBound <= file.count && file[$0].starts(with: [0xFF, 0xD8])
        }
        var count = pictures.count
        switch gainMap {
        case .success(let map): count = pictures.filter { $0.lowerBound != map.range.lowerBound }.count
        case .failure: count -= 1
        case nil: break
        }
        guard count > 0 else { return nil }
        let subject = count == 1 ? "a picture behind the first one was" : "\(count) pictures behind the first one were"
        return "\(subject) left out"
    }

    /// Makes the segment for a picture and one behind it.
    ///
    /// - Parameters:
    ///   - pictureBytes: Of the whole first picture.
    ///   - otherOffset: Of the second one, from the payload's byte order mark.
    ///   - otherBytes: Of the second one.
    /// - Returns: The payload without its prefix, always of the same length.
    static func payload(pictureBytes: Int, otherOffset: Int, otherBytes: Int) -> [UInt8] {
        func number(_ value: Int, _ count: Int = 4) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        func field(_ tag: Int, type: Int, count: Int, _ value: [UInt8]) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(count) + value
        }
        // The entries follow the header of 8 bytes, and a directory of 2 + 3 · 12 + 4.
        let directory =
            number(3, 2) + field(0xB000, type: 7, count: 4, Array("0100".utf8))
            + field(0xB001, type: 4, count: 1, number(2))
            + field(entriesTag, type: 7, count: 2 * entryBytes, number(50)) + number(0)
        // A representative image of type "baseline primary", and one of no type.
        let picture = number(0x03_0000) + number(pictureBytes) + number(0) + number(0)
        let other = number(0) + number(otherBytes) + number(otherOffset) + number(0)
        return Array("MM".utf8) + number(42, 2) + number(8) + directory + picture + other
    }
}
