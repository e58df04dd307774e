/// Writes EXIF blocks and maker notes without the program's own writer.
struct EXIFWriter {
    struct Entry {
        var tag: Int
        var type: Int
        var count: Int
        /// Of a value's place, from where its offsets count.
        var value: (Int) -> [UInt8]
    }

    var isBigEndian: Bool

    func number(_ value: Int, _ count: Int) -> [UInt8] {
        let little = (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        return isBigEndian ? little.reversed() : little
    }

    func text(_ tag: Int, _ text: String) -> Entry {
        let bytes = Array(text.utf8) + [0]
        return Entry(tag: tag, type: 2, count: bytes.count) { _ in bytes }
    }

    func shorts(_ tag: Int, _ values: Int...) -> Entry {
        Entry(tag: tag, type: 3, count: values.count) { _ in values.flatMap { number($0, 2) } }
    }

    func longs(_ tag: Int, _ values: Int..., type: Int = 4) -> Entry {
        Entry(tag: tag, type: type, count: values.count) { _ in values.flatMap { number($0, 4) } }
    }

    /// Two numbers each.
    func ratios(_ tag: Int, _ values: Int..., type: Int = 5) -> Entry {
        Entry(tag: tag, type: type, count: values.count / 2) { _ in values.flatMap { number($0, 4) } }
    }

    func bytes(_ tag: Int, _ bytes: [UInt8], type: Int = 7) -> Entry {
        Entry(tag: tag, type: type, count: bytes.count) { _ in bytes }
    }

    /// A directory whose first byte is at `start`, followed by its longer values.
    func directory(_ entries: [Entry], at start: Int, next: Int = 0) -> [UInt8] {
        var heap: [UInt8] = []
        let heapStart = start + 2 + entries.count * 12 + 4
        var bytes = number(entries.count, 2)
        for entry in entries.sorted(by: { $0.tag < $1.tag }) {
            let place = heapStart + heap.count
            let value = entry.value(place)
            bytes += number(entry.tag, 2) + number(entry.type, 2) + number(entry.count, 4)
            if value.count <= 4 {
                bytes += value + [UInt8](repeating: 0, count: 4 - value.count)
            } else {
                bytes += number(place, 4)
                heap += value + [UInt8](repeating: 0, count: value.count % 2)
            }
        }
        return bytes + number(next, 4) + heap
    }

    /// A block of a camera: five directories in their usual order, and a thumbnail at its end.
    ///
    /// - Parameters:
    ///   - make: The camera's maker.
    ///   - model: The camera.
    ///   - width: The picture's, in pixels.
    ///   - height: The picture's, in pixels.
    ///   - more: Further entries of the camera's directory.
    ///   - thumbnail: Its bytes; none for no directory of a thumbnail.
    ///   - makerNote: Makes it for its place in the block.
    /// - Returns: The block, from its byte order mark on.
    func block(
        make: String, model: String, width: Int, height: Int, more: [Entry] = [], thumbnail: [UInt8] = [],
        makerNote: @escaping (Int) -> [UInt8]
    ) -> [UInt8] {
        let camera =
            [
                ratios(0x829A, 1, 125), text(0x9003, "2019:05:04 10:00:00"), shorts(0xA001, 1),
                bytes(0x9000, Array("0221".utf8)), longs(0xA002, width), longs(0xA003, height),
                Entry(tag: 0x927C, type: 7, count: makerNote(0).count, value: makerNote),
            ] + more
        let interoperability = [text(1, "R98"), bytes(2, Array("0100".utf8))]
        let place = [bytes(0, [2, 2, 0, 0], type: 1), text(1, "N"), ratios(2, 12, 1, 30, 1, 0, 1)]
        func first(_ camera: Int, _ place: Int) -> [Entry] {
            [
                text(0x010F, make), text(0x0110, model), shorts(0x0112, 1), ratios(0x011A, 72, 1),
                ratios(0x011B, 72, 1),
                shorts(0x0128, 2), text(0x0131, "1.0 of it"), text(0x0132, "2019:05:04 10:00:01"),
                longs(0x8769, camera),
                longs(0x8825, place),
            ]
        }
        func thumbnails(_ start: Int) -> [Entry] {
            [shorts(0x0103, 6), longs(0x0201, start), longs(0x0202, thumbnail.count)]
        }
        func size(_ entries: [Entry]) -> Int { directory(entries, at: 0).count }
        let cameraStart = 8 + size(first(0, 0))
        let pointer = longs(0xA005, 0)
        let interoperabilityStart = cameraStart + size(camera + [pointer])
        let placeStart = interoperabilityStart + size(interoperability)
        let thumbnailStart = placeStart + size(place)
        let header = Array((isBigEndian ? "MM" : "II").utf8) + number(42, 2) + number(8, 4)
        let body =
            directory(first(cameraStart, placeStart), at: 8, next: thumbnail.isEmpty ? 0 : thumbnailStart)
            + directory(camera + [longs(0xA005, interoperabilityStart)], at: cameraStart)
            + directory(interoperability, at: interoperabilityStart) + directory(place, at: placeStart)
        guard !thumbnail.isEmpty else { return header + body }
        let end = thumbnailStart + size(thumbnails(0))
        return header + body + directory(thumbnails(end), at: thumbnailStart) + thumbnail
    }
}
