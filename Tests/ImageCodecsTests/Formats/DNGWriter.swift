/// Writes a DNG as cameras do, its directory in front of the sensor's values: in strips, in tiles, and in tiles of lossless JPEG.
struct DNGWriter {
    enum Storage: CaseIterable {
        case strips, tiles, losslessTiles, deflatedTiles
    }

    var storage = Storage.losslessTiles
    var width = 64
    var height = 48
    /// Bits of each value, as the JPEGs say.
    var jpegBits = 16
    /// What the directory says that each strip or tile has; nil for what it has.
    var claimedBytes: Int?
    /// Bytes put between strips.
    var gap = 0
    static let tile = 32

    /// Red on the left and blue on the right, under a filter of red, green, green, blue.
    var sample: (Int, Int, Int) -> Int = { x, y, width in
        switch (x % 2, y % 2) {
        case (0, 0): x < width / 2 ? 40_000 : 3_000
        case (1, 1): x < width / 2 ? 3_000 : 40_000
        default: 9_000
        }
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    private var isTiled: Bool { storage != .strips }

    /// The values of each strip or tile, row by row; those outside of the picture are its nearest ones.
    private var blocks: [[[Int]]] {
        var all: [[[Int]]] = []
        let (high, wide) = isTiled ? (Self.tile, Self.tile) : (8, width)
        for top in stride(from: 0, to: height, by: high) {
            for left in stride(from: 0, to: width, by: wide) {
                all.append(
                    (top..<(isTiled ? top + high : min(top + high, height))).map { y in
                        (left..<left + wide).map { x in sample(min(x, width - 1), min(y, height - 1), width) }
                    })
            }
        }
        return all
    }

    /// Where the values begin.
    var valuesStart: Int { directory([], []).count }

    func file() -> [UInt8] {
        let parts = blocks.map { rows -> [UInt8] in
            switch storage {
            case .strips, .tiles: rows.flatMap { $0.flatMap { Self.little($0, 2) } }
            case .losslessTiles: Self.jpeg(rows, bits: jpegBits)
            case .deflatedTiles: PNGWriter.stored(rows.flatMap { $0.flatMap { Self.little($0, 2) } })
            }
        }
        var place = directory(parts.map { _ in 0 }, parts.map(\.count)).count
        var places: [Int] = []
        var body: [UInt8] = []
        for part in parts {
            places.append(place)
            let padded = part + [UInt8](repeating: 0, count: gap + (part.count + gap) % 2)
            body += padded
            place += padded.count
        }
        return directory(places, parts.map { claimedBytes ?? $0.count }) + body
    }

    private func directory(_ given: [Int], _ counts: [Int]) -> [UInt8] {
        let parts = blocks.count
        let places = given.isEmpty ? [Int](repeating: 0, count: parts) : given
        let counts = counts.isEmpty ? places : counts
        func text(_ value: String) -> [Int] { value.utf8.map(Int.init) + [0] }
        let compression = [Storage.losslessTiles: 7, .deflatedTiles: 8][storage] ?? 1
        var tags: [(Int, Int, [Int])] = [
            (254, 4, [0]), (256, 4, [width]), (257, 4, [height]), (258, 3, [16]), (259, 3, [compression]),
            (262, 3, [32_803]), (271, 2, text("Maker")), (272, 2, text("Model")), (277, 3, [1]), (284, 3, [1]),
            (33_421, 3, [2, 2]), (33_422, 1, [0, 1, 1, 2]), (50_706, 1, [1, 4, 0, 0]), (50_708, 2, text("Maker Model")),
            (50_714, 3, [0]), (50_717, 3, [65_535]),
            // The matrix of sRGB's primaries under D65, in thousandths.
            (50_721, 10, [3_240, -1_537, -499, -969, 1_876, 42, 56, -204, 1_057].flatMap { [$0, 1_000] }),
            (50_728, 5, [1, 1, 1, 1, 1, 1]), (50_778, 3, [21]),
        ]
        if isTiled {
            tags += [(322, 4, [Self.tile]), (323, 4, [Self.tile]), (324, 4, places), (325, 4, counts)]
        } else {
            tags += [(273, 4, places), (278, 4, [8]), (279, 4, counts)]
        }
        if storage == .deflatedTiles { tags.append((339, 3, [3])) }
        tags.sort { $0.0 < $1.0 }
        let heapStart = 8 + 2 + tags.count * 12 + 4
        var heap: [UInt8] = []
        var entries = Self.little(tags.count, 2)
        for (tag, type, values) in tags {
            let size = [1: 1, 2: 1, 3: 2][type] ?? 4
            var data = values.flatMap { Self.little($0, size) }
            entries += Self.little(tag, 2) + Self.little(type, 2)
            // A fraction is two numbers.
            entries += Self.little(type == 5 || type == 10 ? values.count / 2 : values.count, 4)
            if data.count <= 4 {
                entries += data + [UInt8](repeating: 0, count: 4 - data.count)
            } else {
                entries += Self.little(heapStart + heap.count, 4)
                if data.count % 2 == 1 { data.append(0) }
                heap += data
            }
        }
        return Array("II*\0".utf8) + Self.little(8, 4) + entries + Self.little(0, 4) + heap
    }

    /// A lossless JPEG of one component, each value told by its difference to the one before it (ITU-T T.81, annex H). All 17
    /// categories of differences have codes of 5 bits.
    private static func jpeg(_ rows: [[Int]], bits: Int) -> [UInt8] {
        func big(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }
        let wide = rows.first?.count ?? 0
        var file: [UInt8] = [0xFF, 0xD8, 0xFF, 0xC4] + big(36) + [0, 0, 0, 0, 0, 17]
        file += [UInt8](repeating: 0, count: 11) + (0...16).map { UInt8($0) }
        file += [0xFF, 0xC3] + big(11) + [UInt8(bits)] + big(rows.count) + big(wide) + [1, 0, 0x11, 0]
        file += [0xFF, 0xDA] + big(8) + [1, 0, 0, 1, 0, 0]
        var pending = 0
        var count = 0
        func put(_ value: Int, _ length: Int) {
            pending = pending << length | value
            count += length
            while count >= 8 {
                let byte = UInt8(pending >> (count - 8) & 255)
                file += byte == 255 ? [byte, 0] : [byte]
                count -= 8
                pending &= (1 << count) - 1
            }
        }
        for y in rows.indices {
            for x in 0..<wide {
                let before = x > 0 ? rows[y][x - 1] : y > 0 ? rows[y - 1][0] : 1 << (bits - 1)
                let difference = Int(Int16(truncatingIfNeeded: rows[y][x] - before))
                let category = difference == -32_768 ? 16 : Int.bitWidth - abs(difference).leadingZeroBitCount
                put(category, 5)
                if category == 0 || category == 16 { continue }
                put(difference > 0 ? difference : difference + (1 << category) - 1, category)
            }
        }
        if count > 0 { put((1 << (8 - count)) - 1, 8 - count) }
        return file + [0xFF, 0xD9]
    }
}
