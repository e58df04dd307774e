import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport
import TemporaryFolders
import Testing

/// What a crop or a size that fills cuts off has no say in the pixels beside it.
@Suite struct CutOffTests {
    static let size = (width: 480, height: 320)
    static let flat: [UInt8] = [200, 120, 60, 255]

    /// One colour within a box of the stored picture, black and white stripes around it.
    func picture(_ box: (x: Int, y: Int, width: Int, height: Int)) -> [UInt8] {
        (0..<Self.size.width * Self.size.height).flatMap { i -> [UInt8] in
            let (x, y) = (i % Self.size.width, i / Self.size.width)
            let isInside = (box.x..<box.x + box.width).contains(x) && (box.y..<box.y + box.height).contains(y)
            let code: UInt8 = (x / 5 + y / 3) % 2 == 0 ? 0 : 255
            return isInside ? Self.flat : [code, code, code, 255]
        }
    }

    func input(_ folder: TemporaryFolder, _ pixels: [UInt8], _ format: ImageFormat, orientation: Int = 1) throws
        -> String
    {
        try folder.write(
            "in-\(format.rawValue)-\(orientation)", pixels,
            EncodeRequest(
                format: format, width: Self.size.width, height: Self.size.height, layout: .rgbx8, quality: 100,
                fullChroma: true, metadata: ImageMetadata(exif: exif(orientation: orientation))))
    }

    func colors(_ folder: TemporaryFolder, _ input: String, _ change: (inout OutputSettings) -> Void) throws -> Set<
        [UInt8]
    > {
        let out = folder.file("out.png")
        var wanted = settings { $0.format = .png }
        change(&wanted)
        let result = export(input, to: [(out, wanted)], mayReplace: true)
        #expect(result.status == .good, "\(result.failure?.reason ?? "")")
        let picture = try Decoded(out)
        return Set(stride(from: 0, to: picture.bytes.count, by: 4).map { Array(picture.bytes[$0..<$0 + 3]) })
    }

    static let sizes: [OutputSize] = [
        .longEdge(100), .longEdge(61), .longEdge(37), .fit(width: 300, height: 44), .megapixels(0.003), .longEdge(700),
    ]

    @Test(arguments: [false, true]) func aCropTakesInNothingOfWhatItCutOff(linear: Bool) throws {
        let folder = try TemporaryFolder()
        let png = try input(folder, picture((101, 53, 203, 155)), .png)
        for size in Self.sizes {
            let found = try colors(folder, png) {
                $0.crop = .box(width: 203, height: 155, x: 101, y: 53)
                $0.size = size
                $0.enlarge = true
                $0.linearLight = linear
            }
            #expect(found == [Array(Self.flat.prefix(3))], "\(size)")
        }
    }

    @Test func aCropOfAReducedDecodeTakesInNothingOfWhatItCutOff() throws {
        let folder = try TemporaryFolder()
        // The colour fills whole blocks of the file; the crop begins and ends within samples of the smaller scales.
        let jpeg = try input(folder, picture((96, 48, 208, 160)), .jpeg)
        for (left, edge) in [(96, 70), (97, 40), (99, 33), (101, 21), (103, 12), (98, 5)] {
            let found = try colors(folder, jpeg) {
                $0.crop = .box(width: 304 - left, height: 160, x: left, y: 48)
                $0.size = .longEdge(edge)
            }
            let worst = found.flatMap { zip($0, Self.flat).map { abs(Int($0) - Int($1)) } }.max()
            #expect(try #require(worst) <= 1, "from column \(left) to \(edge) pixels")
        }
    }

    @Test(arguments: 1...8) func aSizeThatFillsTakesInNothingOfWhatItCutOff(orientation: Int) throws {
        let folder = try TemporaryFolder()
        // A square of the middle.
        let jpeg = try input(folder, picture((80, 0, 320, 320)), .jpeg, orientation: orientation)
        for edge in [320, 200, 97] {
            let found = try colors(folder, jpeg) {
                $0.size = .fill(width: edge, height: edge)
                $0.exact = true
            }
            let worst = found.flatMap { zip($0, Self.flat).map { abs(Int($0) - Int($1)) } }.max()
            #expect(try #require(worst) <= 1, "\(edge) pixels")
        }
    }

    @Test func aCropAloneAndWithASizeThatKeepsItIsTheSame() throws {
        let folder = try TemporaryFolder()
        let png = try input(folder, testPicture(width: Self.size.width, height: Self.size.height), .png)
        func exported(_ change: (inout OutputSettings) -> Void) throws -> [UInt8] {
            var wanted = settings {
                $0.format = .png
                $0.crop = .box(width: 91, height: 77, x: 33, y: 21)
            }
            change(&wanted)
            #expect(export(png, to: [(folder.file("out.png"), wanted)], mayReplace: true).status == .good)
            return try Decoded(folder.file("out.png")).bytes
        }
        // A crop, and then a resize of the file with it.
        let plain = try exported { _ in }
        let cut = try folder.write(
            "cut.png", plain, EncodeRequest(format: .png, width: 91, height: 77, layout: .rgbx8))
        for size in Self.sizes {
            let out = folder.file("resized.png")
            let wanted = settings {
                $0.format = .png
                $0.size = size
                $0.enlarge = true
            }
            #expect(export(cut, to: [(out, wanted)], mayReplace: true).status == .good)
            #expect(
                try Decoded(out).bytes
                    == exported {
                        $0.size = size; $0.enlarge = true
                    }, "\(size)")
        }
    }

    @Test func aCropWithoutASizeMovesPixelsAsTheyAre() throws {
        let folder = try TemporaryFolder()
        var pixels = testPicture(width: 40, height: 30)
        for i in pixels.indices where i % 4 < 3 { pixels[i] /= 16 }
        for profile in [BuiltInProfile.adobeRGB, .displayP3] {
            for isWide in [false, true] {
                let wide = pixels.map { UInt16($0) * 257 }.withUnsafeBytes { Array($0) }
                let input = try folder.write(
                    "in-\(profile.rawValue)-\(isWide).png", isWide ? wide : pixels,
                    EncodeRequest(
                        format: .png, width: 40, height: 30, layout: isWide ? .rgba16 : .rgbx8, isOpaque: true,
                        metadata: ImageMetadata(icc: profile.bytes)))
                let wanted = settings {
                    $0.format = .png
                    $0.linearLight = true
                    $0.colorSpace = .keep
                    $0.crop = .box(width: 20, height: 10, x: 7, y: 9)
                }
                #expect(export(input, to: [(folder.file("out.png"), wanted)], mayReplace: true).status == .good)
                let out = try Decoded(folder.file("out.png")).samples
                let scale: Double = isWide ? 257 : 1
                var expected: [Double] = []
                for y in 9..<19 {
                    let row = 4 * 40 * y
                    for sample in pixels[row + 4 * 7..<row + 4 * 27] { expected.append(Double(sample) * scale) }
                }
                #expect(compare(out, expected, peak: 255).worst == 0, "\(profile), \(isWide)")
            }
        }
    }

    @Test func samplesThatShowWhatWasCutOffAreNotRead() {
        func samples(_ start: Double, _ length: Double, pixels: Int, _ pixelsPerSample: Double) -> Range<Int> {
            let count = Int((Double(pixels) / pixelsPerSample).rounded(.up))
            return Resampling.Part.samples(
                showing: start, length, pixels: pixels, samples: count, pixelsPerSample: pixelsPerSample)
        }
        #expect(samples(0, 101, pixels: 101, 1) == 0..<101)
        #expect(samples(0, 101, pixels: 101, 8) == 0..<13)
        #expect(samples(10, 20, pixels: 101, 1) == 10..<30)
        #expect(samples(10, 20, pixels: 101, 2) == 5..<15)
        #expect(samples(11, 20, pixels: 101, 2) == 6..<15)
        #expect(samples(9, 92, pixels: 101, 8) == 2..<13)
        // Pixels of which a part is shown.
        #expect(samples(10.4, 20, pixels: 101, 1) == 10..<31)
        #expect(samples(10.6, 0.3, pixels: 101, 1) == 10..<11)
        #expect(samples(10.6, 20, pixels: 101, 2) == 5..<15)
        // Never none.
        #expect(samples(11, 3, pixels: 101, 8) == 1..<2)
        #expect(samples(100, 1, pixels: 101, 8) == 12..<13)
    }
}
