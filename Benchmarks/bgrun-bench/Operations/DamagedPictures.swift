import Foundation
import ImageCodecs
import SamplePhotos
import SeededNumbers

/// Clean pictures, and files of what noise or blur makes of them: JPEGs of quality 100 with full chroma.
struct DamagedPictures {
    let width: Int
    let height: Int
    /// R, G, B and one unused byte a pixel.
    let clean: [[UInt8]]

    init(count: Int, width: Int, height: Int) {
        self.width = width
        self.height = height
        clean = (0..<count).map { SamplePhotos.pixels(seed: UInt64($0 + 1), width: width, height: height) }
    }

    /// Writes the damaged pictures; the same seed gives the same files.
    ///
    /// - Parameters:
    ///   - damage: What is done to them.
    ///   - folder: Where they go; made when missing.
    /// - Returns: Their paths.
    /// - Throws: When one cannot be encoded or written.
    func write(_ damage: OperationCase.Damage, to folder: String) throws -> [String] {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return try clean.enumerated().map { index, pixels in
            let damaged =
                switch damage {
                case .noise(let sigma): noisy(pixels, sigma: sigma, seed: UInt64(index + 100))
                case .blur(let sigma): blurred(pixels, sigma: sigma)
                case .none: pixels
                }
            let encoder = try CodecRegistry.encoder(
                for: EncodeRequest(
                    format: .jpeg, width: width, height: height, layout: .rgbx8, quality: 100, fullChroma: true))
            try damaged.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                try encoder.writeRows(base, strideBytes: width * 4, count: height)
            }
            let path = "\(folder)/picture-\(index + 1).jpg"
            try encoder.finish { try Data($0).write(to: URL(fileURLWithPath: path)) }
            return path
        }
    }

    /// Mean over the pictures of the ratio in decibels between the range and what is left of the damage.
    func psnr(of files: [String]) throws -> Double {
        let ratios = try zip(files, clean).map { path, clean -> Double in
            let pixels = try DecodedPicture(path).pixels
            guard pixels.count == clean.count else { throw ProcessError(description: "\(path) has another size") }
            var sum = 0.0
            for i in clean.indices where i % 4 < 3 {
                let d = Double(Int(pixels[i]) - Int(clean[i]))
                sum += d * d
            }
            return 10 * log10(255 * 255 * Double(clean.count / 4 * 3) / sum)
        }
        return ratios.reduce(0, +) / Double(ratios.count)
    }

    private func noisy(_ pixels: [UInt8], sigma: Double, seed: UInt64) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        return pixels.enumerated().map { i, code in
            guard i % 4 < 3 else { return code }
            // Box and Muller, one of the pair.
            let radius = (-2 * log(Double.random(in: Double.leastNormalMagnitude...1, using: &random))).squareRoot()
            let noise = sigma * radius * cos(2 * .pi * Double.random(in: 0..<1, using: &random))
            return UInt8(min(max((Double(code) + noise).rounded(), 0), 255))
        }
    }

    private func blurred(_ pixels: [UInt8], sigma: Double) -> [UInt8] {
        let radius = Int((4 * sigma).rounded(.up))
        let bell = (-radius...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = bell.reduce(0, +)
        func pass(_ from: [Double], dx: Int, dy: Int) -> [Double] {
            var out = [Double](repeating: 0, count: from.count)
            for (k, weight) in bell.enumerated() {
                for y in 0..<height {
                    let row = min(max(y + (k - radius) * dy, 0), height - 1) * width
                    for x in 0..<width {
                        let i = (row + min(max(x + (k - radius) * dx, 0), width - 1)) * 4
                        for c in 0..<4 { out[(y * width + x) * 4 + c] += weight / sum * from[i + c] }
                    }
                }
            }
            return out
        }
        return pass(pass(pixels.map { Double($0) }, dx: 1, dy: 0), dx: 0, dy: 1).map { UInt8(min($0 + 0.5, 255)) }
    }
}
