import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport
import SamplePhotos
import SeededNumbers
import TemporaryFolders
import Testing

/// The quality bars, against float64 arithmetic on what the decoder itself delivers.
@Suite struct ExportQualityTests {
    /// The reference for an output of `width` x `height`: the file decoded in full, resampled in float64, in codes or in light.
    func reference(_ input: String, width: Int, height: Int, linear: Bool = false) throws -> [Double] {
        let source = try Decoded(input)
        let samples = source.samples.map { linear ? srgbToLight($0 / 255) : $0 }
        let out = Reference.resize(
            samples, width: source.width, height: source.height, channels: 4,
            columns: Resampling(.init(sourceLength: source.width, outputLength: width)),
            rows: Resampling(.init(sourceLength: source.height, outputLength: height)))
        return out.map { linear ? lightToSRGB(min(max($0, 0), 1)) * 255 : min(max($0, 0), 255) }
    }

    /// Upright photographs with no profile that would change their values.
    func plainPhotos(_ folder: TemporaryFolder, width: Int, height: Int, count: Int) throws -> [String] {
        let photos = try SamplePhotos.write(
            count: 12, width: width, height: height, seed: 11, to: folder.file("photos"))
        let plain = photos.filter { $0.orientation == 1 && ($0.profile == nil || $0.profile == .srgb) }
        #expect(plain.count >= count)
        return plain.prefix(count).map(\.path)
    }

    @Test func exactResizesReach58DecibelsAndOneLevel() throws {
        let folder = try TemporaryFolder()
        for (index, input) in try plainPhotos(folder, width: 1200, height: 800, count: 2).enumerated() {
            for linear in [false, true] {
                let out = folder.file("\(index)-\(linear).png")
                let result = export(
                    input,
                    to: [
                        (
                            out,
                            settings {
                                $0.size = .longEdge(410)
                                $0.format = .png
                                $0.exact = true
                                $0.linearLight = linear
                            }
                        )
                    ])
                #expect(result.status == .good, "\(result.failure?.reason ?? "")")
                let made = try Decoded(out)
                let expected = try reference(input, width: made.width, height: made.height, linear: linear)
                let (psnr, worst) = compare(made.samples, expected, peak: 255)
                #expect(psnr >= 58, "linear \(linear): \(psnr) dB")
                #expect(worst <= 1, "linear \(linear)")
            }
        }
    }

    /// What an export of the same picture in 16 bits makes, which is within 4 of 65535 of float64.
    @Test(arguments: [nil, BuiltInProfile.adobeRGB], [[], [ImageOperation.exposure(3)], [.saturation(4)]])
    func exactOutputsAreWithinOneLevelOfThoseOfWiderPictures(
        profile: BuiltInProfile?, operations: [ImageOperation]
    ) throws {
        let folder = try TemporaryFolder()
        let (width, height) = (300, 200)
        let metadata = ImageMetadata(icc: profile?.bytes)
        let pixels = SamplePhotos.pixels(seed: 6, width: width, height: height)
        let narrow = try folder.write(
            "narrow.png", pixels,
            EncodeRequest(format: .png, width: width, height: height, layout: .rgbx8, metadata: metadata))
        let deep = pixels.map { UInt16($0) * 257 }.withUnsafeBytes { Array($0) }
        let wide = try folder.write(
            "wide.png", deep,
            EncodeRequest(
                format: .png, width: width, height: height, layout: .rgba16, isOpaque: true, metadata: metadata))
        func exported(_ input: String, _ name: String, bits: Int, exact: Bool = true) throws -> Decoded {
            let wanted = settings {
                $0.format = .png
                $0.size = .longEdge(150)
                $0.exact = exact
                $0.operations = operations
                $0.bitsPerChannel = bits
            }
            #expect(export(input, to: [(folder.file(name), wanted)]).status == .good)
            return try Decoded(folder.file(name))
        }
        let expected = try exported(wide, "expected.png", bits: 16).samples
        let made = try exported(narrow, "made.png", bits: 8)
        #expect(made.header.bitsPerChannel == 8)
        let (_, worst) = compare(made.samples, expected.map { $0 / 257 }, peak: 255)
        #expect(worst <= 0.51, "\(worst)")
        // Nothing is lost on the way to 16 bits either, exact or not.
        #expect(try exported(narrow, "deep.png", bits: 16, exact: false).samples == expected)
    }

    @Test(arguments: [(3000, 2000, 1024), (3000, 2000, 512), (2048, 1365, 256)])
    func fastResizesReach50Decibels(_ width: Int, _ height: Int, _ edge: Int) throws {
        let folder = try TemporaryFolder()
        var all: [Double] = []
        for (index, input) in try plainPhotos(folder, width: width, height: height, count: 3).enumerated() {
            let out = folder.file("\(index).png")
            let fast = settings {
                $0.size = .longEdge(edge)
                $0.format = .png
            }
            let result = export(input, to: [(out, fast)])
            #expect(result.status == .good)
            let made = try Decoded(out)
            let psnr = compare(
                made.samples, try reference(input, width: made.width, height: made.height), peak: 255
            ).psnr
            #expect(psnr >= 45, "\(input): \(psnr) dB")
            #expect(psnr < 58.5, "decoded at a reduced scale")
            all.append(psnr)
        }
        let mean = all.reduce(0, +) / Double(all.count)
        #expect(mean >= 50, "\(all)")
    }

    @Test func sixteenBitOutputReaches90Decibels() throws {
        let folder = try TemporaryFolder()
        let (width, height) = (240, 160)
        var random = SeededGenerator(seed: 4)
        let samples = (0..<width * height * 4).map { i in
            i % 4 == 3
                ? UInt16.max
                : UInt16(30_000 + Int(25_000 * sin(Double(i / 4) / 37)) + Int.random(in: 0...5_000, using: &random))
        }
        let input = try folder.write(
            "in.png", samples.withUnsafeBytes { Array($0) },
            EncodeRequest(format: .png, width: width, height: height, layout: .rgba16, isOpaque: true))
        let out = folder.file("out.png")
        let result = export(input, to: [(out, settings { $0.size = .longEdge(100) })])
        #expect(result.status == .good, "\(result.failure?.reason ?? "")")
        let made = try Decoded(out)
        #expect(made.header.bitsPerChannel == 16)
        let expected = Reference.resize(
            samples.map { Double($0) }, width: width, height: height, channels: 4,
            columns: Resampling(.init(sourceLength: width, outputLength: made.width)),
            rows: Resampling(.init(sourceLength: height, outputLength: made.height))
        ).map { min(max($0, 0), 65535) }
        let (psnr, worst) = compare(made.samples, expected, peak: 65535)
        #expect(psnr >= 90, "\(psnr) dB, worst \(worst)")
    }

    /// Opaque discs on clear ground, with a strong colour hidden under the ground.
    func discs(side: Int) -> [UInt8] {
        (0..<side * side).flatMap { i -> [UInt8] in
            let (x, y) = (Double(i % side % 200) - 99.5, Double(i / side % 200) - 99.5)
            let inside = x * x + y * y < 80 * 80
            return inside ? [200, 160, 40, 255] : [255, 0, 255, 0]
        }
    }

    func resizedDiscs(_ folder: TemporaryFolder, side: Int, to edge: Int, linear: Bool) throws -> Decoded {
        let input = try folder.write(
            "in.png", discs(side: side), EncodeRequest(format: .png, width: side, height: side, layout: .rgba8))
        let out = folder.file("out-\(linear).png")
        let wanted = settings {
            $0.size = .longEdge(edge)
            $0.linearLight = linear
        }
        let result = export(input, to: [(out, wanted)])
        #expect(result.status == .good, "\(result.failure?.reason ?? "")")
        let made = try Decoded(out)
        #expect(made.header.hasAlpha)
        return made
    }

    @Test func alphaEdgesReach38DecibelsOverEveryGround() throws {
        let (side, edge) = (400, 110)
        let made = try resizedDiscs(try TemporaryFolder(), side: side, to: edge, linear: false)
        let pixels = discs(side: side)
        let table = Resampling(.init(sourceLength: side, outputLength: edge))
        func over(_ ground: [Double], _ bytes: [UInt8]) -> [Double] {
            bytes.indices.map { i in
                let alpha = Double(bytes[i | 3]) / 255
                return i % 4 == 3 ? 255 : Double(bytes[i]) * alpha + ground[i % 4] * (1 - alpha)
            }
        }
        for ground in [[255.0, 255, 255], [0, 0, 0], [0, 255, 0]] {
            // Compositing first and resampling then is what the eye sees of the original over that ground.
            let expected = Reference.resize(
                over(ground, pixels), width: side, height: side, channels: 4, columns: table, rows: table
            ).map { min(max($0, 0), 255) }
            let psnr = compare(over(ground, made.bytes), expected, peak: 255).psnr
            #expect(psnr >= 38, "over \(ground): \(psnr) dB")
        }
    }

    @Test(arguments: [false, true]) func coloursHiddenUnderClearPartsDoNotBleed(_ linear: Bool) throws {
        let made = try resizedDiscs(try TemporaryFolder(), side: 400, to: 110, linear: linear)
        let visible = stride(from: 0, to: made.bytes.count, by: 4).filter { made.bytes[$0 + 3] >= 8 }
        #expect(visible.count > 1000 && visible.count < 110 * 110)
        for i in visible {
            // The filter rings within the discs; the hidden magenta would lift blue and lower green instead.
            let (r, g, b) = (Int(made.bytes[i]), Int(made.bytes[i + 1]), Int(made.bytes[i + 2]))
            #expect(abs(g * 200 - r * 160) <= 400 && abs(b * 200 - r * 40) <= 400, "\(r) \(g) \(b)")
        }
    }

    @Test func aMatteReplacesAlphaInJPEG() throws {
        let folder = try TemporaryFolder()
        let input = try folder.write(
            "in.png", discs(side: 200), EncodeRequest(format: .png, width: 200, height: 200, layout: .rgba8))
        let out = folder.file("out.jpg")
        let result = export(
            input,
            to: [
                (
                    out,
                    settings {
                        $0.format = .jpeg
                        $0.matte = [0, 128, 255]
                        $0.quality = 95
                    }
                )
            ])
        #expect(result.status == .good, "\(result.failure?.reason ?? "")")
        let made = try Decoded(out)
        #expect(
            abs(Int(made.bytes[0]) - 0) <= 4 && abs(Int(made.bytes[1]) - 128) <= 4 && abs(Int(made.bytes[2]) - 255) <= 4
        )
        let centre = (100 * 200 + 100) * 4
        #expect(abs(Int(made.bytes[centre]) - 200) <= 4 && abs(Int(made.bytes[centre + 2]) - 40) <= 6)
    }

    @Test func theEightOrientationsGiveTheSamePicture() throws {
        let folder = try TemporaryFolder()
        let (width, height) = (180, 120)
        let upright = SamplePhotos.pixels(seed: 5, width: width, height: height)
        var pictures: [[Double]] = []
        for value in 1...8 {
            // Stored pixels that the orientation turns into the upright picture.
            let transposed = value >= 5
            let (w, h) = transposed ? (height, width) : (width, height)
            var stored = [UInt8](repeating: 0, count: w * h * 4)
            for y in 0..<h {
                for x in 0..<w {
                    let (ux, uy) =
                        switch value {
                        case 2: (width - 1 - x, y)
                        case 3: (width - 1 - x, height - 1 - y)
                        case 4: (x, height - 1 - y)
                        case 5: (y, x)
                        case 6: (width - 1 - y, x)
                        case 7: (width - 1 - y, height - 1 - x)
                        case 8: (y, height - 1 - x)
                        default: (x, y)
                        }
                    for c in 0..<4 { stored[(y * w + x) * 4 + c] = upright[(uy * width + ux) * 4 + c] }
                }
            }
            let input = try folder.write(
                "in-\(value).jpg", stored,
                EncodeRequest(
                    format: .jpeg, width: w, height: h, layout: .rgbx8, quality: 100, fullChroma: true,
                    metadata: ImageMetadata(exif: exif(orientation: value))))
            let out = folder.file("out-\(value).png")
            let result = export(
                input,
                to: [
                    (
                        out,
                        settings {
                            $0.size = .fill(width: 70, height: 60)
                            $0.format = .png
                            $0.sharpening = Sharpening(amount: 0.5, sigma: 1)
                        }
                    )
                ])
            #expect(result.status == .good)
            let made = try Decoded(out)
            #expect(made.header.orientation == 1)
            #expect((made.width, made.height) == (70, 60))
            pictures.append(made.samples)
        }
        for (index, picture) in pictures.enumerated() {
            let psnr = compare(picture, pictures[0], peak: 255).psnr
            #expect(psnr >= 45, "orientation \(index + 1): \(psnr) dB")
        }
    }
}
