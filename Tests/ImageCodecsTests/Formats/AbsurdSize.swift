import ImageCodecs

/// Makes the header of a sound file claim a picture of some 60000 pixels a side.
enum AbsurdSize {
    private static let side = 60_000

    /// nil where the place of the size was not found.
    static func claimed(by file: [UInt8], of format: ImageFormat) -> [UInt8]? {
        switch format {
        case .png: PNGWriter.repaired(replaced(file, at: 16, big(4) + big(4)))
        case .jpeg: place(of: [0xFF, 0xC0], in: file).map { replaced(file, at: $0 + 5, big(2) + big(2)) }
        // The extended header, which 24 bits a side have their place in.
        case .webp:
            Array("RIFF".utf8) + little(30, 4) + Array("WEBPVP8X".utf8) + little(10, 4) + [0, 0, 0, 0]
                + little(side - 1, 3) + little(side - 1, 3) + file.dropFirst(12)
        case .avif, .heic:
            // One of the tile and one of the picture.
            file.ranges(of: Array("ispe".utf8)).reduce(nil) { changed, place in
                replaced(changed ?? file, at: place.lowerBound + 8, big(4) + big(4))
            }
        case .gif: replaced(file, at: 6, little(side, 2) + little(side, 2))
        case .jxl: jxl
        case .jp2:
            place(of: [0xFF, 0x4F, 0xFF, 0x51], in: file).map {
                // Size of the picture, its origin, size of a tile.
                replaced(file, at: $0 + 8, big(4) + big(4) + [UInt8](repeating: 0, count: 8) + big(4) + big(4))
            }
        case .tiff, .raw: tiff(file)
        }
    }

    /// A codestream that says 2^30 pixels a side in 30 bits each, and everything else by default.
    private static var jxl: [UInt8] {
        var bits: [Int] = [0] + [1, 1] + [Int](repeating: 1, count: 30) + [0, 0, 0] + [1, 1]
        bits += [Int](repeating: 1, count: 30) + [1] + [Int](repeating: 0, count: 60)
        let bytes = stride(from: 0, to: bits.count - 7, by: 8).map { start in
            (0..<8).reduce(UInt8(0)) { $0 | UInt8(bits[start + $1] << $1) }
        }
        return [0xFF, 0x0A] + bytes + [UInt8](repeating: 0, count: 64)
    }

    /// Width and height are numbers of 16 or 32 bits in the file's own order.
    private static func tiff(_ file: [UInt8]) -> [UInt8]? {
        var file = file
        for tag in [0, 1] {
            for type in [3, 4] {
                guard let start = place(of: [UInt8(tag), 1, UInt8(type), 0, 1, 0, 0, 0], in: file) else { continue }
                file = replaced(file, at: start + 8, little(side, 4))
            }
        }
        return file
    }

    private static func replaced(_ file: [UInt8], at place: Int, _ bytes: [UInt8]) -> [UInt8] {
        var file = file
        file.replaceSubrange(place..<place + bytes.count, with: bytes)
        return file
    }

    static func place(of bytes: [UInt8], in file: [UInt8]) -> Int? {
        (0..<max(file.count - bytes.count, 0)).first { Array(file[$0..<$0 + bytes.count]) == bytes }
    }

    private static func big(_ count: Int) -> [UInt8] { little(side, count).reversed() }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
