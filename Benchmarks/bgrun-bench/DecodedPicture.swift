import Foundation
import ImageCodecs

/// A file's picture as it is stored, 8 bits a channel.
struct DecodedPicture {
    let width: Int
    let height: Int
    /// R, G, B and a fourth byte a pixel.
    let pixels: [UInt8]

    /// - Throws: ``ProcessError`` where the file is missing, ends early or is not of 8 bits, or the decoder's error.
    init(_ path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ProcessError(description: "\(path) is missing")
        }
        (width, height, pixels) = try data.withUnsafeBytes { file in
            let decoder = try CodecRegistry.decoder(for: file, limits: DecodeLimits())
            let layout = decoder.header.layout
            guard layout == .rgbx8 || layout == .rgba8 else {
                throw ProcessError(description: "\(path) has more than 8 bits a channel")
            }
            let (width, height) = try decoder.start(scaleEighths: 8)
            let stride = width * 4
            var pixels = [UInt8](repeating: 0, count: stride * height)
            try pixels.withUnsafeMutableBytes { rows in
                guard let base = rows.baseAddress else { return }
                var row = 0
                while row < height {
                    let count = try decoder.readRows(
                        into: base + row * stride, strideBytes: stride, count: height - row)
                    guard count > 0 else { throw ProcessError(description: "\(path) ends early") }
                    row += count
                }
            }
            return (width, height, pixels)
        }
    }
}
