import Foundation

/// The luma of a picture as it is stored, by ITU-T T.871 (0.299, 0.587, 0.114).
struct LumaPlane {
    let path: String
    /// 0 ... 255.
    let samples: [Float]

    /// - Throws: As ``DecodedPicture/init(_:)`` does.
    init(_ path: String) throws {
        let picture = try DecodedPicture(path)
        self.path = path
        samples = (0..<picture.width * picture.height).map { i in
            let (red, green, blue) = (picture.pixels[4 * i], picture.pixels[4 * i + 1], picture.pixels[4 * i + 2])
            return 0.299 * Float(red) + 0.587 * Float(green) + 0.114 * Float(blue)
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
