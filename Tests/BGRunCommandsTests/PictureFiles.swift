import Foundation
import ImageCodecs
import Testing

/// Pictures that a test looks into or makes itself.
struct PictureFile {
    var header: ImageHeader
    /// 8 bits a channel, four channels.
    var pixels: [UInt8]

    init(_ path: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        (header, pixels) = try data.withUnsafeBytes { file in
            let decoder = try CodecRegistry.decoder(for: file, limits: DecodeLimits())
            let (width, height) = try decoder.start(scaleEighths: 8)
            try #require(decoder.header.layout.bytesPerPixel == 4)
            var pixels = [UInt8](repeating: 0, count: 4 * width * height)
            var row = 0
            try pixels.withUnsafeMutableBytes { rows in
                let base = try #require(rows.baseAddress)
                while row < height {
                    row += try decoder.readRows(
                        into: base + row * 4 * width, strideBytes: 4 * width, count: height - row)
                }
            }
            return (decoder.header, pixels)
        }
    }

    func pixel(_ x: Int, _ y: Int) -> [Int] {
        let place = 4 * (y * header.width + x)
        return pixels[place..<place + 3].map { Int($0) }
    }

    /// The smallest rectangle around all pixels in which two pictures of one size differ; nil where none does.
    func difference(from other: PictureFile) -> (x: ClosedRange<Int>, y: ClosedRange<Int>)? {
        var (left, right, top, bottom) = (Int.max, -1, Int.max, -1)
        for y in 0..<header.height {
            for x in 0..<header.width where pixel(x, y) != other.pixel(x, y) {
                (left, right, top, bottom) = (min(left, x), max(right, x), min(top, y), max(bottom, y))
            }
        }
        return right < 0 ? nil : (left...right, top...bottom)
    }

    /// Writes a picture of one colour: 8-bit R, G, B and alpha.
    static func write(_ color: [UInt8], width: Int, height: Int, to path: String) throws {
        let request = EncodeRequest(format: .png, width: width, height: height, layout: .rgba8)
        let encoder = try CodecRegistry.encoder(for: request)
        let row = Array(repeatElement(color, count: width).joined())
        for _ in 0..<height { try encoder.writeRows(row, strideBytes: row.count, count: 1) }
        try encoder.finish { try Data($0).write(to: URL(fileURLWithPath: path)) }
    }
}

/// Another program that reads and writes metadata.
enum ExifTool {
    @discardableResult
    static func run(_ arguments: [String], in place: TestPlace) throws -> String {
        let ended = try CommandRun(arguments, in: place, program: "/usr/bin/exiftool").end()
        #expect(ended.status == 0, "\(ended.errors)")
        return ended.output
    }

    /// Lines such as `[EXIF] Make : Maker` of a file.
    static func lines(_ path: String, in place: TestPlace) throws -> [String] {
        // Columns are padded with spaces.
        try run(["-a", "-s", "-n", "-G", path], in: place).split(separator: "\n").map {
            $0.split(separator: " ").joined(separator: " ")
        }
    }
}
