/// An EXIF block that is edited where it lies (Exif 2.32, section 4.5; TIFF 6.0, section 2).
///
/// No value moves, because a maker note may count its offsets from the first byte of the block, and its form is known to its
/// maker alone. What is taken out is overwritten with zeros, and what needs more room is put behind everything else.
struct EXIFBlock {
    enum Directory: Hashable, CaseIterable {
        case first, camera, place, interoperability
    }

    /// An entry of a directory.
    struct Slot {
        var tag: Int
        var type: Int
        var count: Int
        /// The first of its 12 bytes.
        var start: Int
        /// nil for an unknown type, and for a value that lies outside of the block.
        var value: Range<Int>?

        /// The value lies in the entry itself.
        var isInline: Bool { value?.lowerBound == start + 8 }
    }

    static let exifPointer = 0x8769
    static let gpsPointer = 0x8825
    static let interoperabilityPointer = 0xA005
    static let makerNote = 0x927C
    private static let headerBytes = 8
    /// Entries of a directory, whose count has 16 bits.
    static let mostSlots = 0xFFFF
    private static let slotBytes = 12
    /// Directories of thumbnails that follow each other.
    private static let mostThumbnails = 8

    private(set) var bytes: [UInt8]
    let isLittle: Bool

    /// nil for bytes without a readable first directory.
    init?(_ bytes: [UInt8]) {
        guard (14...1 << 30).contains(bytes.count) else { return nil }
        switch (bytes[0], bytes[1]) {
        case (0x49, 0x49): isLittle = true
        case (0x4D, 0x4D): isLittle = false
        default: return nil
        }
        self.bytes = bytes
        guard number(at: 2, 2) == 42, !slots(in: .first).isEmpty else { return nil }
    }

    /// A block that says nothing yet.
    init() {
        isLittle = true
        bytes = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    }

    var isEmpty: Bool { slots(in: .first).isEmpty }

    // MARK: Reading

    func number(at start: Int, _ count: Int) -> Int? {
        guard start >= 0, start <= bytes.count - count else { return nil }
        let field = bytes[start..<start + count]
        return isLittle ? field.reversed().reduce(0) { $0 << 8 | Int($1) } : field.reduce(0) { $0 << 8 | Int($1) }
    }

    /// The first number of a value of whole numbers.
    func number(of slot: Slot) -> Int? {
        guard let value = slot.value, let size = [1: 1, 3: 2, 4: 4, 13: 4][slot.type], value.count >= size else {
            return nil
        }
        return number(at: value.lowerBound, size)
    }

    /// Where a directory begins; nil where there is none. Of several, the first counts.
    func start(of directory: Directory) -> Int? {
        func target(_ pointer: Int, in directory: Directory) -> Int? {
            slots(in: directory).first { $0.tag == pointer }.flatMap(number)
        }
        let start =
            switch directory {
            case .first: number(at: 4, 4)
            case .camera: target(Self.exifPointer, in: .first)
            case .place: target(Self.gpsPointer, in: .first)
            case .interoperability: target(Self.interoperabilityPointer, in: .camera)
            }
        guard let start, start >= Self.headerBytes, start <= bytes.count - 2 else { return nil }
        return start
    }

    func slots(in directory: Directory) -> [Slot] { start(of: directory).map { slots(at: $0) } ?? [] }

    func slots(in directory: Directory, tag: Int) -> [Slot] { slots(in: directory).filter { $0.tag == tag } }

    /// The entries that lie within the block.
    private func slots(at start: Int) -> [Slot] {
        guard start >= Self.headerBytes, let count = number(at: start, 2) else { return [] }
        return (0..<min(count, (bytes.count - start - 2) / Self.slotBytes)).compactMap { index in
            let start = start + 2 + index * Self.slotBytes
            guard let tag = number(at: start, 2), let type = number(at: start + 2, 2),
                let values = number(at: start + 4, 4), let offset = number(at: start + 8, 4)
            else { return nil }
            var slot = Slot(tag: tag, type: type, count: values, start: start)
            guard let size = TIFFStructure.valueBytes(type) else { return slot }
            let length = size * values
            let place = length <= 4 ? start + 8 : offset
            if length <= bytes.count, place <= bytes.count - length { slot.value = place..<place + length }
            return slot
        }
    }

    /// The bytes of a directory with the pointer to the next one.
    private func range(at start: Int) -> Range<Int> {
        start..<min(start + 2 + (number(at: start, 2) ?? 0) * Self.slotBytes + 4, bytes.count)
    }

    /// Where the pointer to the directory behind this one lies.
    private func nextPointer(at start: Int) -> Int? {
        let place = start + 2 + (number(at: start, 2) ?? 0) * Self.slotBytes
        return place <= bytes.count - 4 ? place : nil
    }

    // MARK: Writing

    mutating func write(_ value: Int, at start: Int, _ count: Int) {
        precondition(start >= 0 && start + count <= bytes.count, "a number outside of its block")
        for index in 0..<count {
            let shift = 8 * (isLittle ? index : count - 1 - index)
            bytes[start + index] = UInt8(truncatingIfNeeded: value >> shift)
        }
    }

    mutating func write(_ value: [UInt8], at start: Int) {
        precondition(start >= 0 && start + value.count <= bytes.count, "a value outside of its block")
        bytes.replaceSubrange(start..<start + value.count, with: value)
    }

    /// Sets every entry of this tag to one whole number, in the entry itself.
    mutating func setNumber(_ tag: Int, in directory: Directory, to value: Int) {
        for slot in slots(in: directory, tag: tag) {
            let isShort = slot.type == 3 && value <= 0xFFFF
            write(isShort ? 3 : 4, at: slot.start + 2, 2)
            write(1, at: slot.start + 4, 4)
            write([0, 0, 0, 0], at: slot.start + 8)
            write(value, at: slot.start + 8, isShort ? 2 : 4)
        }
    }

    /// Takes entries out of a directory, with what they point to.
    mutating func remove(in directory: Directory, where isRemoved: (Slot) -> Bool) {
        guard let start = start(of: directory) else { return }
        let all = slots(at: start)
        let removed = all.filter(isRemoved)
        guard !removed.isEmpty else { return }
        let old = range(at: start)
        var erased = removed.flatMap { values(of: $0) }
        let kept = all.filter { !isRemoved($0) }.map { Array(bytes[$0.start..<$0.start + Self.slotBytes]) }
        let next = nextPointer(at: start).flatMap { number(at: $0, 4) } ?? 0
        write([UInt8](repeating: 0, count: old.count), at: start)
        write(kept.count, at: start, 2)
        write(kept.flatMap(\.self), at: start + 2)
        write(next, at: start + 2 + kept.count * Self.slotBytes, 4)
        erased.append(start + 6 + kept.count * Self.slotBytes..<old.upperBound)
        erase(erased)
    }

    /// What goes with an entry: its value, and a directory that it points to with its values.
    private func values(of slot: Slot) -> [Range<Int>] {
        var ranges = slot.isInline ? [] : [slot.value].compactMap(\.self)
        let isPointer = [Self.exifPointer, Self.gpsPointer, Self.interoperabilityPointer].contains(slot.tag)
        if isPointer, let target = number(of: slot), target >= Self.headerBytes, target < bytes.count {
            ranges.append(range(at: target))
            for inner in slots(at: target) where !inner.isInline { ranges += [inner.value].compactMap(\.self) }
        }
        return ranges
    }

    /// Puts a text into the first directory, in the place of those of this tag.
    mutating func setText(_ tag: Int, _ text: String) {
        remove(in: .first) { $0.tag == tag }
        guard let old = start(of: .first) else { return }
        let oldRange = range(at: old)
        var entries = slots(at: old).map { ($0.tag, Array(bytes[$0.start..<$0.start + Self.slotBytes])) }
        guard entries.count < Self.mostSlots else { return }
        let next = nextPointer(at: old).flatMap { number(at: $0, 4) } ?? 0
        let value = Array(text.utf8) + [0]
        bytes += [UInt8](repeating: 0, count: bytes.count % 2)
        let valueStart = bytes.count
        if value.count > 4 { bytes += value + [UInt8](repeating: 0, count: value.count % 2) }
        let start = bytes.count
        bytes += [UInt8](repeating: 0, count: 2 + (entries.count + 1) * Self.slotBytes + 4)
        // The new entry is written at its place among the others, in order of tags.
        let place = entries.firstIndex { $0.0 > tag } ?? entries.count
        entries.insert((tag, [UInt8](repeating: 0, count: Self.slotBytes)), at: place)
        write(entries.count, at: start, 2)
        write(entries.flatMap(\.1), at: start + 2)
        write(next, at: start + 2 + entries.count * Self.slotBytes, 4)
        let slot = start + 2 + place * Self.slotBytes
        write(tag, at: slot, 2)
        write(2, at: slot + 2, 2)
        write(value.count, at: slot + 4, 4)
        if value.count > 4 { write(valueStart, at: slot + 8, 4) } else { write(value, at: slot + 8) }
        write(start, at: 4, 4)
        erase([oldRange])
    }

    /// Takes out the directories behind the first one, which describe thumbnails and nothing else, with their pictures.
    ///
    /// - Returns: Whether there were any.
    mutating func dropThumbnails() -> Bool {
        guard let first = start(of: .first), let pointer = nextPointer(at: first) else { return false }
        var next = number(at: pointer, 4) ?? 0
        var erased: [Range<Int>] = []
        for _ in 0..<Self.mostThumbnails where next >= Self.headerBytes && next <= bytes.count - 2 {
            erased.append(range(at: next))
            let slots = slots(at: next)
            for slot in slots where !slot.isInline { erased += [slot.value].compactMap(\.self) }
            // A JPEG, or strips (TIFF 6.0, section 22 and page 40).
            for (places, lengths) in [(0x201, 0x202), (0x111, 0x117)] {
                erased += pictures(
                    places: slots.first { $0.tag == places }, lengths: slots.first { $0.tag == lengths })
            }
            next = nextPointer(at: next).flatMap { number(at: $0, 4) } ?? 0
        }
        write(0, at: pointer, 4)
        erase(erased)
        return !erased.isEmpty
    }

    private func pictures(places: Slot?, lengths: Slot?) -> [Range<Int>] {
        guard let places, let lengths else { return [] }
        return zip(numbers(of: places), numbers(of: lengths)).compactMap { place, length in
            place <= bytes.count && length <= bytes.count - place ? place..<place + length : nil
        }
    }

    /// The numbers of a value of 16 or 32 bits.
    func numbers(of slot: Slot) -> [Int] {
        guard let value = slot.value, let size = [3: 2, 4: 4][slot.type] else { return [] }
        return stride(from: value.lowerBound, to: value.upperBound, by: size).compactMap { number(at: $0, size) }
    }

    /// Takes out the first directory alone, for a file that has its entries elsewhere and points to the other directories itself.
    mutating func eraseFirstDirectory() {
        let others = [Directory.camera, .place, .interoperability].flatMap(references)
        overwrite(references(of: .first), except: others + [0..<Self.headerBytes])
    }

    // MARK: What is referred to

    private func references(of directory: Directory) -> [Range<Int>] {
        guard let start = start(of: directory) else { return [] }
        return [range(at: start)] + slots(at: start).filter { !$0.isInline }.compactMap(\.value)
    }

    /// Overwrites what no directory refers to, and cuts it off where nothing follows.
    private mutating func erase(_ ranges: [Range<Int>]) {
        let kept = Self.merged(Directory.allCases.flatMap(references) + [0..<Self.headerBytes])
        overwrite(ranges, except: kept)
        var erased = Self.merged(ranges)
        let least = kept.last?.upperBound ?? Self.headerBytes
        var end = bytes.count
        while end > least, let last = erased.last {
            // Up to three bytes make the next value begin at a whole word.
            let padding = end - last.upperBound
            guard padding <= 3, padding < 1 || bytes[last.upperBound..<end].allSatisfy({ $0 == 0 }) else { break }
            end = max(min(end, last.lowerBound), least)
            erased.removeLast()
        }
        bytes.removeLast(bytes.count - min(bytes.count, end + end % 2))
    }

    private mutating func overwrite(_ ranges: [Range<Int>], except kept: [Range<Int>]) {
        let kept = Self.merged(kept)
        var first = 0
        for range in Self.merged(ranges) {
            while first < kept.count, kept[first].upperBound <= range.lowerBound { first += 1 }
            var start = range.lowerBound
            for hole in kept[first...] {
                guard hole.lowerBound < range.upperBound else { break }
                if hole.lowerBound > start { zero(start..<hole.lowerBound) }
                start = max(start, hole.upperBound)
            }
            if start < range.upperBound { zero(start..<range.upperBound) }
        }
    }

    private mutating func zero(_ range: Range<Int>) {
        for place in range { bytes[place] = 0 }
    }

    /// In order, those that touch as one.
    private static func merged(_ ranges: [Range<Int>]) -> [Range<Int>] {
        var merged: [Range<Int>] = []
        for range in ranges.filter({ !$0.isEmpty }).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }
}
