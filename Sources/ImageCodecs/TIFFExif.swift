/// Builds an EXIF block from the directories of a TIFF file, where cameras' and editors' data lie among the picture's, and the
/// other way round.
enum TIFFExif {
    /// Tags of the first directory that say something about the photograph, not about how its pixels are stored.
    private static let descriptive: Set<Int> = windows.union(texts).union(keptByOtherMeans).union([printMatching])
    /// Those that are texts.
    private static let texts: Set<Int> = [
        0x010D, 0x010E, 0x010F, 0x0110, 0x011D, 0x0131, 0x0132, 0x013B, 0x013C, 0x8298,
    ]
    /// Windows' rating, title, comment, author, keywords and subject, which are no texts and libtiff has no names for.
    private static let windows: Set<Int> = [0x4746, 0x4749, 0x9C9B, 0x9C9C, 0x9C9D, 0x9C9E, 0x9C9F]
    /// What printers are told, of which libtiff does not know either.
    private static let printMatching = 0xC4A5
    /// Resolution and orientation.
    private static let keptByOtherMeans: Set<Int> = [0x0112, 0x011A, 0x011B, 0x0128]
    /// How the picture is stored, of which nothing is true of another one.
    private static let structural: Set<Int> = {
        let ranges = [
            0x00FE...0x010A, 0x0111...0x0129, 0x012D...0x012D, 0x013D...0x0162, 0x0200...0x0214, 0x828D...0x828E,
        ]
        return Set(ranges.joined()).subtracting(descriptive)
    }()
    /// What is read from a file by other means: XMP, IPTC, Photoshop's resources, the profile, and the other directories.
    private static let readOtherwise: Set<Int> = [
        0x02BC, 0x83BB, 0x8649, 0x8773, EXIFBlock.exifPointer, EXIFBlock.gpsPointer,
    ]
    /// What a JPEG segment can hold, less room for what editing adds.
    private static let capacity = 60_000
    /// Tags that a note names.
    private static let mostNamed = 6

    /// The beginnings of maker notes that count their offsets from their own first bytes, and can lie anywhere.
    private static let movable: [[UInt8]] = [
        "Apple iOS\0", "Nikon\0\u{2}", "OLYMPUS\0", "OM SYSTEM\0", "FUJIFILM", "GENERALE", "PENTAX \0", "SEMC MS\0",
    ].map { Array($0.utf8) }

    /// A block of what the file says about the photograph.
    ///
    /// - Parameters:
    ///   - file: The whole file.
    ///   - namesOthers: Whether tags of the first directory that a block has no place for are named.
    /// - Returns: nil where it says nothing; and sentences on what was left out.
    static func block(
        from file: UnsafeRawBufferPointer, namesOthers: Bool = false
    ) -> (block: [UInt8]?, leftOut: [String]) {
        guard let structure = TIFFStructure(file), [42, 43].contains(structure.version) else { return (nil, []) }
        var leftOut: [String] = []
        let first = structure.firstDirectory
        let camera = subdirectory(EXIFBlock.exifPointer, first, structure)
        func isWritable(_ entry: TIFFStructure.Entry) -> Bool {
            ![EXIFBlock.interoperabilityPointer, EXIFBlock.makerNote].contains(entry.tag)
                && !TIFFStructure.longTypes.contains(entry.type) && entry.type != 13
        }
        var parts = [
            first.filter { descriptive.contains($0.tag) }, camera,
            subdirectory(EXIFBlock.gpsPointer, first, structure),
            subdirectory(EXIFBlock.interoperabilityPointer, camera, structure),
        ].map { $0.filter(isWritable) }
        if namesOthers {
            let known = descriptive.union(structural).union(readOtherwise)
            leftOut += named(first.filter { !known.contains($0.tag) }.map(\.tag))
        }
        let note = camera.first { $0.tag == EXIFBlock.makerNote && !$0.value.isEmpty }
        // Before anything is copied, as entries may share their values.
        func size() -> Int { parts.joined().reduce(0) { $0 + $1.value.count + 14 } + 64 }
        if size() > capacity {
            parts = parts.map { $0.filter { $0.value.count <= 1 << 12 } }
            leftOut.append("long EXIF values were left out")
        }
        guard size() <= capacity else { return (nil, leftOut + ["EXIF of \(size()) bytes was left out"]) }
        var layout = EXIFLayout(isLittle: structure.isLittle)
        func fields(_ entries: [TIFFStructure.Entry]) -> [EXIFLayout.Field] { entries.map { field($0, of: structure) } }
        (layout.first, layout.camera) = (fields(parts[0]), fields(parts[1]))
        (layout.place, layout.interoperability) = (fields(parts[2]), fields(parts[3]))
        if let note {
            if let placed = makerNote(note, of: structure, beside: size()) {
                layout.camera.append(placed)
            } else {
                let bytes = note.value.count
                leftOut.append(
                    "the maker note of \(bytes) bytes was left out, as its offsets would not be true any more")
            }
        }
        let saysSomething = layout.first.contains { !keptByOtherMeans.contains($0.tag) }
        guard saysSomething || !layout.camera.isEmpty || !layout.place.isEmpty else { return (nil, leftOut) }
        let block = layout.block()
        return block.count <= capacity ? (block, leftOut) : (nil, leftOut + ["EXIF was left out, as it is too long"])
    }

    /// At the place that it has in the file, unless it can be moved; nil where a block has no such place.
    private static func makerNote(
        _ entry: TIFFStructure.Entry, of structure: TIFFStructure, beside others: Int
    ) -> EXIFLayout.Field? {
        guard entry.value.count + others <= capacity else { return nil }
        var field = field(entry, of: structure)
        if movable.contains(where: field.data.starts(with:)) { return field }
        guard entry.value.lowerBound >= 8, entry.value.upperBound + others <= capacity else { return nil }
        field.place = entry.value.lowerBound
        return field
    }

    private static func field(_ entry: TIFFStructure.Entry, of structure: TIFFStructure) -> EXIFLayout.Field {
        EXIFLayout.Field(
            tag: entry.tag, type: entry.type, count: entry.count, data: Array(structure.bytes[entry.value]))
    }

    private static func subdirectory(
        _ pointer: Int, _ parent: [TIFFStructure.Entry], _ structure: TIFFStructure
    ) -> [TIFFStructure.Entry] {
        guard let entry = parent.first(where: { $0.tag == pointer }) else { return [] }
        return structure.directory(at: structure.number(of: entry) ?? 0)
    }

    private static func named(_ tags: [Int]) -> [String] {
        guard !tags.isEmpty else { return [] }
        let numbers = tags.prefix(mostNamed).map(String.init).joined(separator: ", ")
        let more = tags.count > mostNamed ? " and \(tags.count - mostNamed) more" : ""
        return [tags.count == 1 ? "the tag \(numbers) was left out" : "the tags \(numbers)\(more) were left out"]
    }

    /// A block as it is put into a TIFF file, and what its first directory gets of it.
    struct Parts {
        var isLittle: Bool
        /// Descriptive text of the first directory by tag.
        var texts: [(tag: Int, value: String)] = []
        /// Tags that libtiff does not know: numbers of 16 bits in this machine's order, or bytes.
        var others: [(tag: Int, type: Int, bytes: [UInt8])] = []
        /// The other directories with all of their values, for the place behind the file's header: offsets of a block are then those
        /// of the file.
        var bytes: ArraySlice<UInt8>
        /// Where they begin in the file; nil for one that is not there.
        var exifStart: Int?
        var gpsStart: Int?
    }

    /// Where the file has room for what is no picture data: behind its header, which is as long as a block's.
    static let metadataStart = 8

    /// nil for a block that cannot be read.
    static func parts(of bytes: [UInt8]) -> Parts? {
        guard var block = EXIFBlock(bytes) else { return nil }
        var parts = Parts(isLittle: block.isLittle, bytes: [])
        for slot in block.slots(in: .first) where isCarried(slot) {
            guard let value = slot.value else { continue }
            var bytes = Array(block.bytes[value])
            if slot.type == 2 {
                parts.texts.append((slot.tag, String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)))
                continue
            }
            if slot.type == 3, !block.isLittle {
                for start in stride(from: 0, to: bytes.count, by: 2) { bytes.swapAt(start, start + 1) }
            }
            parts.others.append((slot.tag, slot.type, bytes))
        }
        (parts.exifStart, parts.gpsStart) = (block.start(of: .camera), block.start(of: .place))
        if parts.exifStart == nil, parts.gpsStart == nil { return parts }
        block.eraseFirstDirectory()
        parts.bytes = block.bytes.dropFirst(metadataStart)
        return parts
    }

    private static func isCarried(_ slot: EXIFBlock.Slot) -> Bool {
        if texts.contains(slot.tag) { return slot.type == 2 }
        if windows.contains(slot.tag) { return [1, 3].contains(slot.type) }
        return slot.tag == printMatching && slot.type == 7
    }

    /// Sentences on what a TIFF file does not get of a block.
    static func leftOut(of bytes: [UInt8]) -> [String] {
        guard let block = EXIFBlock(bytes) else { return [] }
        let others: Set<Int> = structural.union(keptByOtherMeans).union([EXIFBlock.exifPointer, EXIFBlock.gpsPointer])
        return named(block.slots(in: .first).filter { !isCarried($0) && !others.contains($0.tag) }.map(\.tag))
    }
}
