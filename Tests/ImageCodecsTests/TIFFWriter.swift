/// Writes small uncompressed TIFFs of any shape, so that every branch of the reader can be reached.
struct TIFFWriter {
    var width: Int
    var height: Int
    var bits = 8
    var samples = 3
    /// 0 white is zero, 1 black is zero, 2 RGB, 3 palette, 5 CMYK, 8 CIELab, 9 ICCLab, 10 ITULab; nil leaves it out.
    var photometric: Int? = 2
    /// How the strips that are given in place of the samples are packed.
    var compression = 1
    var packed: [[UInt8]]?
    var isSeparate = false
    /// 1 unsigned, 2 signed, 3 float.
    var sampleFormat = 1
    /// 0 unspecified, 1 premultiplied, 2 straight.
    var extraSamples: [Int] = []
    var rowsPerStrip = 7
    /// Edge of square tiles instead of strips.
    var tile: Int?
    /// What the directory says the tiles' edge is, where that is not true.
    var claimedTile: Int?
    var isBigEndian = false
    var palette: [Int] = []
    var orientation: Int?
    var icc: [UInt8] = []
    /// More entries of the directory: tag, type and values; of fractions their two numbers each.
    var more: [(Int, Int, [Int])] = []
    /// An EXIF directory's bytes, which begins where the file's directory points to.
    var exifDirectory: [UInt8] = []
    var pages = 1
    /// The value of a sample at x, y and channel; bit patterns for floats.
    var sample: (Int, Int, Int) -> UInt64

    func file() -> [UInt8] {
        var bytes: [UInt8] = isBigEndian ? Array("MM".utf8) : Array("II".utf8)
        bytes += field(42, 2)
        let blocks = packed ?? chunks()
        var offsets: [Int] = []
        var body: [UInt8] = []
        for block in blocks {
            offsets.append(8 + body.count)
            body += block
            if body.count % 2 == 1 { body.append(0) }
        }
        var directory = 8 + body.count
        var exifStart = 0
        if !exifDirectory.isEmpty {
            exifStart = directory
            body += exifDirectory
            directory += exifDirectory.count
        }
        bytes += field(directory, 4) + body
        for page in 0..<pages {
            let encoded = encodedDirectory(
                at: directory, offsets: offsets, counts: blocks.map(\.count), isLast: page == pages - 1,
                exifStart: exifStart)
            bytes += encoded
            directory += encoded.count
        }
        return bytes
    }

    private func field(_ value: Int, _ count: Int) -> [UInt8] {
        let little = (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        return isBigEndian ? little.reversed() : little
    }

    private func chunks() -> [[UInt8]] {
        var result: [[UInt8]] = []
        for plane in 0..<(isSeparate ? samples : 1) {
            let channels = isSeparate ? [plane] : Array(0..<samples)
            if let tile {
                for top in stride(from: 0, to: height, by: tile) {
                    for left in stride(from: 0, to: width, by: tile) {
                        result.append(rows(top..<top + tile, left..<left + tile, channels))
                    }
                }
            } else {
                for top in stride(from: 0, to: height, by: rowsPerStrip) {
                    result.append(rows(top..<min(top + rowsPerStrip, height), 0..<width, channels))
                }
            }
        }
        return result
    }

    private func rows(_ rows: Range<Int>, _ columns: Range<Int>, _ channels: [Int]) -> [UInt8] {
        var result: [UInt8] = []
        for y in rows {
            var pending: UInt64 = 0
            var count = 0
            for x in columns {
                for channel in channels {
                    let value = x < width && y < height ? sample(x, y, channel) : 0
                    if bits % 8 == 0 {
                        let little = (0..<bits / 8).map { UInt8(truncatingIfNeeded: value >> (UInt64($0) * 8)) }
                        result += isBigEndian ? little.reversed() : little
                        continue
                    }
                    for bit in (0..<bits).reversed() {
                        pending = pending << 1 | (value >> UInt64(bit) & 1)
                        count += 1
                        if count == 8 {
                            result.append(UInt8(pending))
                            pending = 0
                            count = 0
                        }
                    }
                }
            }
            if count > 0 { result.append(UInt8(pending << UInt64(8 - count))) }
        }
        return result
    }

    private func encodedDirectory(at start: Int, offsets: [Int], counts: [Int], isLast: Bool, exifStart: Int) -> [UInt8]
    {
        var tags: [(Int, Int, [Int])] = [
            (256, 4, [width]), (257, 4, [height]), (258, 3, Array(repeating: bits, count: samples)),
            (259, 3, [compression]), (277, 3, [samples]), (284, 3, [isSeparate ? 2 : 1]),
            (339, 3, Array(repeating: sampleFormat, count: samples)),
        ]
        if let tile {
            tags += [
                (322, 4, [claimedTile ?? tile]), (323, 4, [claimedTile ?? tile]), (324, 4, offsets), (325, 4, counts),
            ]
        } else {
            tags += [(273, 4, offsets), (278, 4, [rowsPerStrip]), (279, 4, counts)]
        }
        if let photometric { tags.append((262, 3, [photometric])) }
        if let orientation { tags.append((274, 3, [orientation])) }
        if !extraSamples.isEmpty { tags.append((338, 3, extraSamples)) }
        if !palette.isEmpty { tags.append((320, 3, palette)) }
        if !icc.isEmpty { tags.append((34_675, 7, icc.map(Int.init))) }
        tags += more
        if exifStart > 0 { tags.append((0x8769, 4, [exifStart])) }
        tags.sort { $0.0 < $1.0 }
        var heap: [UInt8] = []
        let heapStart = start + 2 + tags.count * 12 + 4
        var entries = field(tags.count, 2)
        for (tag, type, values) in tags {
            let size = [1: 1, 2: 1, 3: 2, 4: 4, 7: 1][type] ?? 4
            var data = values.flatMap { field($0, size) }
            // A fraction is two numbers.
            let count = type == 5 || type == 10 ? values.count / 2 : values.count
            entries += field(tag, 2) + field(type, 2) + field(count, 4)
            if data.count <= 4 {
                entries += data + [UInt8](repeating: 0, count: 4 - data.count)
            } else {
                entries += field(heapStart + heap.count, 4)
                if data.count % 2 == 1 { data.append(0) }
                heap += data
            }
        }
        return entries + field(isLast ? 0 : heapStart + heap.count, 4) + heap
    }
}
