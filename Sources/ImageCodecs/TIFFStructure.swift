/// Reads directories of a TIFF structure, of a file or of an EXIF block, without trusting any of its numbers. BigTIFF has offsets and
/// counts of eight bytes.
struct TIFFStructure {
    struct Entry {
        var tag: Int
        var type: Int
        var count: Int
        /// Where the value lies: in the entry itself where there is room, else where the entry points to.
        var value: Range<Int>
    }

    /// Types of eight bytes that only BigTIFF has: LONG8, SLONG8 and IFD8.
    static let longTypes = 16...18

    /// More values are claimed by no entry that is believed.
    private static let mostValues = 1 << 40

    let bytes: UnsafeRawBufferPointer
    let isLittle: Bool
    /// What stands behind the byte order: 42, or 43 for BigTIFF.
    private(set) var version = 0
    private var isBig: Bool { version == 43 }

    /// Fails for bytes that do not begin with a byte order mark.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 14 else { return nil }
        switch (bytes[0], bytes[1]) {
        case (0x49, 0x49): isLittle = true
        case (0x4D, 0x4D): isLittle = false
        default: return nil
        }
        self.bytes = bytes
        version = number(at: 2, bytes: 2) ?? 0
    }

    func number(at offset: Int, bytes count: Int) -> Int? {
        guard offset >= 0, offset + count <= bytes.count else { return nil }
        let field = bytes[offset..<offset + count]
        return isLittle ? field.reversed().reduce(0) { $0 << 8 | Int($1) } : field.reduce(0) { $0 << 8 | Int($1) }
    }

    /// The first number of an entry whose type is one of whole numbers of 16, 32 or 64 bits.
    func number(of entry: Entry) -> Int? {
        number(at: entry.value.lowerBound, bytes: valueBytes(entry.type) ?? 0)
    }

    /// All numbers of an entry whose type is one of whole numbers of 16 to 64 bits, at most `count` of them.
    func numbers(of entry: Entry, atMost count: Int) -> [Int] {
        guard let size = valueBytes(entry.type), (2...(isBig ? 8 : 4)).contains(size) else { return [] }
        return (0..<min(entry.count, count)).compactMap {
            number(at: entry.value.lowerBound + $0 * size, bytes: size)
        }
    }

    /// The first number of an entry whose type is a ratio of whole numbers.
    func ratio(of entry: Entry) -> Double? {
        let start = entry.value.lowerBound
        guard entry.type == 5, entry.count > 0, let numerator = number(at: start, bytes: 4),
            let denominator = number(at: start + 4, bytes: 4), denominator > 0
        else { return nil }
        return Double(numerator) / Double(denominator)
    }

    /// Where the first directory begins; 0 where that is not said.
    var firstPlace: Int { (isBig ? number(at: 8, bytes: 8) : number(at: 4, bytes: 4)) ?? 0 }

    var firstDirectory: [Entry] { directory(at: firstPlace) }

    /// The entries of a directory whose values lie within the bytes.
    func directory(at offset: Int) -> [Entry] { claims(at: offset).filter { $0.value.upperBound <= bytes.count } }

    /// Bytes of the count in front of a directory's entries, of an entry, and of what is left in it for its value.
    private var sizes: (count: Int, entry: Int, room: Int) { isBig ? (8, 20, 8) : (2, 12, 4) }

    /// Where the directory behind this one begins; 0 where there is none.
    func place(behind offset: Int) -> Int {
        guard (1...bytes.count).contains(offset), let count = number(at: offset, bytes: sizes.count),
            (0...0xFFFF).contains(count)
        else { return 0 }
        return number(at: offset + sizes.count + count * sizes.entry, bytes: sizes.room) ?? 0
    }

    /// All entries of a directory, those too whose values are said to lie behind the bytes.
    func claims(at offset: Int) -> [Entry] {
        let (countBytes, entryBytes, room) = sizes
        guard offset >= (isBig ? 16 : 8), offset <= bytes.count, let count = number(at: offset, bytes: countBytes),
            (0...0xFFFF).contains(count)
        else { return [] }
        var entries: [Entry] = []
        for index in 0..<count {
            let start = offset + countBytes + index * entryBytes
            guard let tag = number(at: start, bytes: 2), let type = number(at: start + 2, bytes: 2),
                let values = number(at: start + 4, bytes: room), let pointer = number(at: start + 4 + room, bytes: room)
            else { break }
            // Numbers with the highest of their 64 bits set come as negative ones.
            guard let size = valueBytes(type), (0...Self.mostValues).contains(values) else { continue }
            let length = size * values
            let valueStart = length <= room ? start + 4 + room : pointer
            guard (0...Int.max / 2).contains(valueStart) else { continue }
            entries.append(Entry(tag: tag, type: type, count: values, value: valueStart..<valueStart + length))
        }
        return entries
    }

    /// Bytes of one value, by TIFF 6.0, section 2, and BigTIFF.
    private func valueBytes(_ type: Int) -> Int? {
        isBig && Self.longTypes.contains(type) ? 8 : Self.valueBytes(type)
    }

    /// Bytes of one value, by TIFF 6.0, section 2, its first supplement, and Exif 3.0 for texts in UTF-8.
    static func valueBytes(_ type: Int) -> Int? {
        switch type {
        case 1, 2, 6, 7, 129: 1
        case 3, 8: 2
        case 4, 9, 11, 13: 4
        case 5, 10, 12: 8
        default: nil
        }
    }
}

extension TIFFStructure {
    /// The orientation in an EXIF block, 1 ... 8; 1 when absent or invalid.
    static func orientation(of exif: [UInt8]) -> Int {
        exif.withUnsafeBytes { bytes in
            guard let structure = TIFFStructure(bytes),
                let entry = structure.firstDirectory.first(where: { $0.tag == 0x0112 }),
                let orientation = structure.number(of: entry), (1...8).contains(orientation)
            else { return 1 }
            return orientation
        }
    }
}
