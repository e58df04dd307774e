/// Lays out an EXIF block anew from entries of other directories.
struct EXIFLayout {
    struct Field {
        var tag: Int
        var type: Int
        var count: Int
        var data: [UInt8]
        /// The only place of the block at which its offsets are true; nil for a value that can lie anywhere.
        var place: Int?
    }

    /// Values keep their byte order, so the block takes it.
    var isLittle: Bool
    var first: [Field] = []
    var camera: [Field] = []
    var place: [Field] = []
    var interoperability: [Field] = []

    private static let headerBytes = 8

    var isEmpty: Bool { first.isEmpty && camera.isEmpty && place.isEmpty && interoperability.isEmpty }

    /// Header, then each directory followed by its longer values; a value that has a place lies there.
    func block() -> [UInt8] {
        var (first, camera) = (first, camera)
        func pointer(_ tag: Int) -> Field { Field(tag: tag, type: 4, count: 1, data: number(0, 4)) }
        if !interoperability.isEmpty { camera.append(pointer(EXIFBlock.interoperabilityPointer)) }
        if !camera.isEmpty { first.append(pointer(EXIFBlock.exifPointer)) }
        if !place.isEmpty { first.append(pointer(EXIFBlock.gpsPointer)) }
        let sizes = [first, camera, interoperability, place].map { $0.isEmpty ? 0 : directory($0, at: 0).count }
        let pinned = camera.filter { $0.place != nil && $0.data.count > 4 }
        var start = Self.headerBytes
        for field in pinned {
            guard let place = field.place, place < start + sizes.reduce(0, +) else { continue }
            start = max(start, (place + field.data.count + 1) / 2 * 2)
        }
        let starts = sizes.reduce(into: [start]) { $0.append($0[$0.count - 1] + $1) }
        func set(_ tag: Int, in fields: inout [Field], to start: Int) {
            for index in fields.indices where fields[index].tag == tag { fields[index].data = number(start, 4) }
        }
        set(EXIFBlock.exifPointer, in: &first, to: starts[1])
        set(EXIFBlock.interoperabilityPointer, in: &camera, to: starts[2])
        set(EXIFBlock.gpsPointer, in: &first, to: starts[3])
        let header = Array((isLittle ? "II" : "MM").utf8) + number(42, 2) + number(start, 4)
        var block = header + [UInt8](repeating: 0, count: start - Self.headerBytes)
        for (fields, start) in zip([first, camera, interoperability, place], starts) where !fields.isEmpty {
            block += directory(fields, at: start)
        }
        for field in pinned {
            guard let place = field.place else { continue }
            let missing = place + field.data.count - block.count
            if missing > 0 { block += [UInt8](repeating: 0, count: missing) }
            block.replaceSubrange(place..<place + field.data.count, with: field.data)
        }
        return block
    }

    private func number(_ value: Int, _ count: Int) -> [UInt8] {
        let little = (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        return isLittle ? little : little.reversed()
    }

    /// A directory that begins at `start`, and its longer values but those that have a place.
    private func directory(_ fields: [Field], at start: Int) -> [UInt8] {
        var entries = number(fields.count, 2)
        var heap: [UInt8] = []
        let heapStart = start + 2 + fields.count * 12 + 4
        for field in fields.sorted(by: { $0.tag < $1.tag }) {
            entries += number(field.tag, 2) + number(field.type, 2) + number(field.count, 4)
            if let place = field.place, field.data.count > 4 {
                entries += number(place, 4)
            } else if field.data.count <= 4 {
                entries += field.data + [UInt8](repeating: 0, count: 4 - field.data.count)
            } else {
                entries += number(heapStart + heap.count, 4)
                heap += field.data
                if heap.count % 2 == 1 { heap.append(0) }
            }
        }
        return entries + number(0, 4) + heap
    }
}
