/// Reads directories of a TIFF structure, of a file or of an EXIF block, without trusting any of its numbers.
struct TIFFStructure {
    struct Entry {
        var tag: Int
        var type: Int
        var count: Int
        /// Where the value lies: in the entry itself up to four bytes, else where the entry points to.
        var value: Range<Int>
    }

    /// Bytes of one value of each type, TIFF 6.0 section 2.
    private static let sizes = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4]

    let bytes: UnsafeRawBufferPointer
    let isLittle: Bool

    /// Fails for bytes that do not begin with a byte order mark.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 14 else { return nil }
        switch (bytes[0], bytes[1]) {
        case (0x49, 0x49): isLittle = true
        case (0x4D, 0x4D): isLittle = false
        default: return nil
        }
        self.bytes = bytes
    }

    func number(at offset: Int, bytes count: Int) -> Int? {
        guard offset >= 0, offset + count <= bytes.count else { return nil }
        let field = bytes[offset..<offset + count]
        return isLittle ? field.reversed().reduce(0) { $0 << 8 | Int($1) } : field.reduce(0) { $0 << 8 | Int($1) }
    }

    /// The first number of an entry of type 3 (16 bits) or 4 (32 bits).
    func number(of entry: Entry) -> Int? {
        number(at: entry.value.lowerBound, bytes: entry.type == 4 || entry.type == 13 ? 4 : 2)
    }

    var firstDirectory: [Entry] { directory(at: number(at: 4, bytes: 4) ?? 0) }

    /// The entries of a directory whose values lie within the bytes.
    func directory(at offset: Int) -> [Entry] {
        guard offset >= 8, let count = number(at: offset, bytes: 2) else { return [] }
        var entries: [Entry] = []
        for index in 0..<count {
            let start = offset + 2 + index * 12
            guard let tag = number(at: start, bytes: 2), let type = number(at: start + 2, bytes: 2),
                let values = number(at: start + 4, bytes: 4), let pointer = number(at: start + 8, bytes: 4)
            else { break }
            guard let size = TIFFStructure.sizes[type] else { continue }
            let length = size * values
            let valueStart = length <= 4 ? start + 8 : pointer
            guard valueStart + length <= bytes.count else { continue }
            entries.append(Entry(tag: tag, type: type, count: values, value: valueStart..<valueStart + length))
        }
        return entries
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
