/// Writes PNGs of every shape without compression, so that every branch of the reader can be reached.
struct PNGWriter {
    var width: Int
    var height: Int
    var bits = 8
    /// 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGB and alpha.
    var kind = 2
    var isInterlaced = false
    var palette: [UInt8] = []
    var transparency: [UInt8] = []
    /// Further chunks behind the header.
    var more: [(kind: String, data: [UInt8])] = []
    /// Those behind the picture.
    var last: [(kind: String, data: [UInt8])] = []
    /// The value of a sample at x, y and channel.
    var sample: (Int, Int, Int) -> Int

    private var channels: Int { [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][kind] ?? 1 }

    func file() -> [UInt8] {
        var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let header = big(width) + big(height) + [UInt8(bits), UInt8(kind), 0, 0, isInterlaced ? 1 : 0]
        bytes += PNGWriter.chunk("IHDR", header)
        for chunk in more { bytes += PNGWriter.chunk(chunk.kind, chunk.data) }
        if !palette.isEmpty { bytes += PNGWriter.chunk("PLTE", palette) }
        if !transparency.isEmpty { bytes += PNGWriter.chunk("tRNS", transparency) }
        bytes += PNGWriter.chunk("IDAT", PNGWriter.stored(rows()))
        for chunk in last { bytes += PNGWriter.chunk(chunk.kind, chunk.data) }
        return bytes + PNGWriter.chunk("IEND", [])
    }

    /// The picture's lines, pass by pass (PNG specification, section 8.2).
    private func rows() -> [UInt8] {
        let passes =
            isInterlaced
            ? [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
            : [(0, 0, 1, 1)]
        var result: [UInt8] = []
        for (left, top, stepX, stepY) in passes where left < width && top < height {
            for y in stride(from: top, to: height, by: stepY) {
                result.append(0)
                var bitsOfRow: [UInt8] = []
                for x in stride(from: left, to: width, by: stepX) {
                    for channel in 0..<channels {
                        let value = sample(x, y, channel)
                        bitsOfRow += (0..<bits).reversed().map { UInt8(value >> $0 & 1) }
                    }
                }
                for first in stride(from: 0, to: bitsOfRow.count, by: 8) {
                    let eight = bitsOfRow[first..<min(first + 8, bitsOfRow.count)]
                    result.append(eight.reduce(0) { $0 << 1 | $1 } << UInt8(8 - eight.count))
                }
            }
        }
        return result
    }

    /// A zlib stream of stored blocks (RFC 1950, RFC 1951).
    static func stored(_ data: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [0x78, 0x01]
        for first in stride(from: 0, to: data.count, by: 65_535) {
            let block = data[first..<min(first + 65_535, data.count)]
            let length = block.count
            let isLast = first + length == data.count
            result += [isLast ? 1 : 0, UInt8(length & 255), UInt8(length >> 8)]
            result += [UInt8(~length & 255), UInt8(~length >> 8 & 255)]
            result += block
        }
        var a = 1
        var b = 0
        for byte in data {
            a = (a + Int(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return result + big(b << 16 | a)
    }

    private func big(_ value: Int) -> [UInt8] { PNGWriter.big(value) }

    static func big(_ value: Int) -> [UInt8] {
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    static func chunk(_ kind: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(kind.utf8) + data
        return big(data.count) + body + big(Int(checksum(body)))
    }

    private static let table: [UInt32] = (0..<256).map { value in
        (0..<8).reduce(UInt32(value)) { sum, _ in sum & 1 == 1 ? 0xEDB8_8320 ^ (sum >> 1) : sum >> 1 }
    }

    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(UInt32.max) { sum, byte in table[Int((sum ^ UInt32(byte)) & 255)] ^ (sum >> 8) }
    }

    /// The same file with the checksums of all its chunks made right again, as far as they can be followed.
    static func repaired(_ file: [UInt8]) -> [UInt8] {
        var file = file
        var offset = 8
        while offset + 12 <= file.count {
            let length = file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length <= file.count - offset - 12 else { break }
            let end = offset + 8 + length
            file.replaceSubrange(end..<end + 4, with: big(Int(checksum(file[offset + 4..<end]))))
            offset = end + 4
        }
        return file
    }

    /// An APNG of two frames, both the picture of a plain PNG.
    static func animated(_ file: [UInt8]) -> [UInt8] {
        var chunks: [(kind: String, data: [UInt8])] = []
        var offset = 8
        while offset + 12 <= file.count {
            let length = file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            let kind = String(decoding: file[offset + 4..<offset + 8], as: UTF8.self)
            chunks.append((kind, Array(file[offset + 8..<offset + 8 + length])))
            offset += 12 + length
        }
        let size = Array(file[16..<24])
        func control(_ sequence: Int) -> [UInt8] { big(sequence) + size + big(0) + big(0) + [0, 1, 0, 2, 0, 0] }
        let picture = chunks.filter { $0.kind == "IDAT" }.flatMap(\.data)
        let header = chunks.prefix { $0.kind != "IDAT" }
        return Array(file[..<8]) + header.prefix(1).flatMap { chunk($0.kind, $0.data) }
            + chunk("acTL", big(2) + big(0)) + header.dropFirst().flatMap { chunk($0.kind, $0.data) }
            + chunk("fcTL", control(0)) + chunk("IDAT", picture) + chunk("fcTL", control(1))
            + chunk("fdAT", big(2) + picture) + chunk("IEND", [])
    }
}
