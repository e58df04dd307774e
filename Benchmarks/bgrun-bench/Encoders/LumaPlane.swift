import Foundation
import ImageCodecs

/// The luma of a picture as it is stored, by ITU-T T.871 (0.299, 0.587, 0.114).
struct LumaPlane {
    let path: String
    /// 0 ... 255.
    let samples: [Float]

    /// - Throws: ``ProcessError`` where the file is missing or not of 8 bits, or the decoder's error.
    init(_ path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ProcessError(description: "\(path) is missing")
        }
        self.path = path
        samples = try data.withUnsafeBytes { file in
            let decoder = try CodecRegistry.decoder(for: file, limits: DecodeLimits())
            let layout = decoder.header.layout
            guard layout == .rgbx8 || layout == .rgba8 else {
                throw ProcessError(description: "\(path) has more than 8 bits a channel")
            }
            let (width, height) = try decoder.start(scaleEighths: 8)
            var pixels = [UInt8](repeating: 0, count: width * height * 4)
            try pixels.withUnsafeMutableBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                var row = 0
                while row < height {
                    let stride = width * 4
                    let count = try decoder.readRows(
                        into: base + row * stride, strideBytes: stride, count: height - row)
                    guard count > 0 else { throw ProcessError(description: "\(path) ends early") }
                    row += count
                }
            }
            return (0..<width * height).map { i in
                let (red, green, blue) = (Float(pixels[4 * i]), Float(pixels[4 * i + 1]), Float(pixels[4 * i + 2]))
                return 0.299 * red + 0.587 * green + 0.114 * blue
            }
        }
    }

    /// Ratio in decibels between the range and the difference of another picture; infinite for the same samples. Pictures of
    /// different sizes are an error.
    func psnr(of other: LumaPlane) throws -> Double {
        guard samples.count == other.samples.count else {
            throw ProcessError(description: "\(other.path) has another size")
        }
        var sum = 0.0
        for (a, b) in zip(samples, other.samples) { sum += Double((a - b) * (a - b)) }
        return 10 * log10(255 * 255 * Double(samples.count) / sum)
    }
}
