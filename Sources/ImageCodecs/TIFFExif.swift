/// Builds an EXIF block from the directories of a TIFF file, where cameras' and editors' data lie among the picture's.
enum TIFFExif {
    /// Tags of the first directory that say something about the photograph, not about how its pixels are stored.
    private static let descriptive: Set<Int> = windows.union([
        0x010E, 0x010F, 0x0110, 0x0112, 0x011A, 0x011B, 0x0128, 0x0131, 0x0132, 0x013B, 0x8298,
    ])
    /// Windows' rating, title, comment, author, keywords and subject, which are no texts and libtiff has no names for.
    private static let windows: Set<Int> = [0x4746, 0x4749, 0x9C9B, 0x9C9C, 0x9C9D, 0x9C9E, 0x9C9F]
    /// Resolution and orientation.
    private static let keptByOtherMeans: Set<Int> = [0x0112, 0x011A, 0x011B, 0x0128]
    private static let exifPointer = 0x8769
    private static let gpsPointer = 0x8825
    /// Maker notes hold offsets that are only right where they were, and the interoperability pointer is one too.
    private static let leftOut: Set<Int> = [0x927C, 0xA005]
    /// What a JPEG segment can hold, less room for what editing adds.
    private static let capacity = 60_000

    private struct Field {
        var tag: Int
        var type: Int
        var count: Int
        var data: [UInt8]
    }

    /// nil where the file says nothing about the photograph.
    static func block(from file: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let structure = TIFFStructure(file), [42, 43].contains(structure.version) else { return nil }
        let first = structure.firstDirectory
        let described = first.filter { descriptive.contains($0.tag) && $0.type < TIFFStructure.longTypes.lowerBound }
        let exifEntries = subdirectory(exifPointer, first, structure)
        let gpsEntries = subdirectory(gpsPointer, first, structure)
        // Before anything is copied, as entries may share their values.
        let valueBytes = (described + exifEntries + gpsEntries).reduce(0) { $0 + $1.value.count }
        guard valueBytes <= capacity else { return nil }
        var fields = described.map { field($0, of: structure) }
        let exif = exifEntries.map { field($0, of: structure) }
        let gps = gpsEntries.map { field($0, of: structure) }
        let saysSomething = fields.contains { !keptByOtherMeans.contains($0.tag) }
        guard saysSomething || !exif.isEmpty || !gps.isEmpty else { return nil }
        if !exif.isEmpty { fields.append(Field(tag: exifPointer, type: 4, count: 1, data: [])) }
        if !gps.isEmpty { fields.append(Field(tag: gpsPointer, type: 4, count: 1, data: [])) }
        let block = encode(fields, exif: exif, gps: gps, isLittle: structure.isLittle)
        return block.count <= capacity ? block : nil
    }

    private static func field(_ entry: TIFFStructure.Entry, of structure: TIFFStructure) -> Field {
        Field(tag: entry.tag, type: entry.type, count: entry.count, data: Array(structure.bytes[entry.value]))
    }

    private static func subdirectory(
        _ pointer: Int, _ first: [TIFFStructure.Entry], _ structure: TIFFStructure
    ) -> [TIFFStructure.Entry] {
        guard let entry = first.first(where: { $0.tag == pointer }) else { return [] }
        return structure.directory(at: structure.number(of: entry) ?? 0).filter {
            !leftOut.contains($0.tag) && $0.type < TIFFStructure.longTypes.lowerBound && $0.value.count <= capacity
        }
    }

    /// The directories of an EXIF block as they are put into a TIFF file, and what its first directory gets of it.
    struct Parts {
        var isLittle: Bool
        /// Descriptive text of the first directory by tag.
        var texts: [(tag: Int, value: String)]
        /// Windows' tags: numbers of 16 bits in this machine's order, or bytes.
        var ofWindows: [(tag: Int, isWide: Bool, bytes: [UInt8])]
        /// Camera's directory and place, each followed by its longer values.
        var bytes: [UInt8]
        /// Where they begin in the file; nil for one that is not there.
        var exifStart: Int?
        var gpsStart: Int?
    }

    /// What the block says, for a file in which `bytes` will begin at `start`; nil for a block that cannot be read.
    static func parts(of block: [UInt8], at start: Int) -> Parts? {
        block.withUnsafeBytes { bytes in
            guard let structure = TIFFStructure(bytes) else { return nil }
            let first = structure.firstDirectory
            let texts = first.filter { $0.type == 2 && descriptive.subtracting(windows).contains($0.tag) }
                .map { ($0.tag, String(decoding: structure.bytes[$0.value].prefix { $0 != 0 }, as: UTF8.self)) }
            let ofWindows = first.filter { windows.contains($0.tag) && [1, 3].contains($0.type) }.map { entry in
                var bytes = Array(structure.bytes[entry.value])
                if entry.type == 3, !structure.isLittle {
                    for start in stride(from: 0, to: bytes.count, by: 2) { bytes.swapAt(start, start + 1) }
                }
                return (entry.tag, entry.type == 3, bytes)
            }
            let exif = subdirectory(exifPointer, first, structure).map { field($0, of: structure) }
            let gps = subdirectory(gpsPointer, first, structure).map { field($0, of: structure) }
            let exifBytes = exif.isEmpty ? [] : directory(exif, at: start, isLittle: structure.isLittle)
            let gpsStart = start + exifBytes.count
            let gpsBytes = gps.isEmpty ? [] : directory(gps, at: gpsStart, isLittle: structure.isLittle)
            return Parts(
                isLittle: structure.isLittle, texts: texts, ofWindows: ofWindows, bytes: exifBytes + gpsBytes,
                exifStart: exif.isEmpty ? nil : start, gpsStart: gps.isEmpty ? nil : gpsStart)
        }
    }

    private static func number(_ value: Int, _ count: Int, isLittle: Bool) -> [UInt8] {
        let little = (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        return isLittle ? little : little.reversed()
    }

    /// A directory that begins at `start`, and its longer values; these keep their byte order.
    private static func directory(_ fields: [Field], at start: Int, isLittle: Bool) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] { self.number(value, count, isLittle: isLittle) }
        var entries = number(fields.count, 2)
        var heap: [UInt8] = []
        let heapStart = start + 2 + fields.count * 12 + 4
        for field in fields.sorted(by: { $0.tag < $1.tag }) {
            entries += number(field.tag, 2) + number(field.type, 2) + number(field.count, 4)
            if field.data.count <= 4 {
                entries += field.data + [UInt8](repeating: 0, count: 4 - field.data.count)
            } else {
                entries += number(heapStart + heap.count, 4)
                heap += field.data
                if heap.count % 2 == 1 { heap.append(0) }
            }
        }
        return entries + number(0, 4) + heap
    }

    /// Header, then each directory followed by its longer values.
    private static func encode(_ fields: [Field], exif: [Field], gps: [Field], isLittle: Bool) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] { self.number(value, count, isLittle: isLittle) }
        // Once to learn the length, and again with the pointers in their places.
        var fields = fields
        for index in fields.indices where fields[index].data.isEmpty { fields[index].data = number(0, 4) }
        let exifStart = 8 + directory(fields, at: 8, isLittle: isLittle).count
        let exifBytes = exif.isEmpty ? [] : directory(exif, at: exifStart, isLittle: isLittle)
        let gpsStart = exifStart + exifBytes.count
        for index in fields.indices {
            if fields[index].tag == exifPointer { fields[index].data = number(exifStart, 4) }
            if fields[index].tag == gpsPointer { fields[index].data = number(gpsStart, 4) }
        }
        let header = Array((isLittle ? "II" : "MM").utf8) + number(42, 2) + number(8, 4)
        return header + directory(fields, at: 8, isLittle: isLittle) + exifBytes
            + (gps.isEmpty ? [] : directory(gps, at: gpsStart, isLittle: isLittle))
    }
}
