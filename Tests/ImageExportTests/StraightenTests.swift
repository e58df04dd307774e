import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport
import SamplePhotos
import TemporaryFolders
import Testing

/// Small turns of whole exports, against float64 and against exports without them.
@Suite struct StraightenTests {
    let framing = FramingTests()

    /// What is left of a picture of that size, by the export's own geometry.
    func inner(_ width: Int, _ height: Int, _ degrees: Double, crop: Crop? = nil) throws -> OutputGeometry {
        try OutputGeometry(
            width: width, height: height, orientation: Orientation(1), size: .original, enlarge: false,
            straighten: degrees, crop: crop)
    }

    /// How far a part, made larger by `grown` on each side, reaches out of the turned picture, in pixels.
    func excess(_ part: OutputGeometry, _ width: Int, _ height: Int, _ degrees: Double, grown: Double) -> Double {
        let angle = degrees * .pi / 180
        let halves = (part.cropWidth / 2 + grown, part.cropHeight / 2 + grown)
        var worst = -Double.infinity
        for sign in [1.0, -1.0] {
            let across = abs(cos(angle) * halves.0 + sign * sin(angle) * halves.1)
            let down = abs(cos(angle) * halves.1 - sign * sin(angle) * halves.0)
            worst = max(worst, across - Double(width) / 2, down - Double(height) / 2)
        }
        return worst
    }

    @Test(arguments: [0.3, -1.5, 7, -30, 45]) func noCornerIsEmptyAndLittleIsLost(_ degrees: Double) throws {
        for (width, height) in [(6000, 4000), (401, 301), (120, 400)] {
            let part = try inner(width, height, degrees)
            #expect(part.cropX * 2 + part.cropWidth == Double(width))
            #expect(part.cropY * 2 + part.cropHeight == Double(height))
            #expect(excess(part, width, height, degrees, grown: 0) <= 1e-9, "\(width) x \(height)")
            #expect(excess(part, width, height, degrees, grown: 2) > 0, "\(width) x \(height)")
            let shape = part.cropWidth / part.cropHeight * Double(height) / Double(width)
            #expect(abs(shape - 1) < 4 / min(part.cropWidth, part.cropHeight))
        }
    }

    @Test func smallestPicturesKeepAPixel() throws {
        for (width, height) in [(1, 1), (2, 1), (1, 300), (2, 2)] {
            let part = try inner(width, height, 44)
            #expect(part.width >= 1 && part.height >= 1 && part.width <= width && part.height <= height)
        }
    }

    @Test(arguments: 1...8) func everyOrientationIsTurnedAsItIsSeen(_ orientation: Int) throws {
        let folder = try TemporaryFolder()
        let input = try framing.photo(folder, orientation: orientation)
        let plain = try framing.exported(folder, input, "plain") { _ in }
        let turned = try framing.exported(folder, input, "turned") { $0.straighten = 4 }
        let part = try inner(plain.width, plain.height, 4)
        #expect((turned.width, turned.height) == (part.width, part.height))
        var reference = ChainReference(
            width: plain.width, height: plain.height, pixels: plain.bytes.map { Double($0) / 255 })
        reference.rotate(degrees: 4)
        var worst = 0.0
        for y in 0..<turned.height {
            for x in 0..<turned.width {
                let from = ((y + Int(part.cropY)) * plain.width + x + Int(part.cropX)) * 4
                for (c, code) in framing.pixel(turned, x, y).enumerated() {
                    let expected = min(max(reference.pixels[from + c], 0), 1) * 255
                    worst = max(worst, abs(Double(code) - expected))
                }
            }
        }
        // Half a level is lost to rounding.
        #expect(worst <= 0.51, "\(worst)")
    }

    @Test func positiveAnglesTurnClockwise() throws {
        let folder = try TemporaryFolder()
        let (width, height) = (80, 60)
        var pixels = [UInt8](repeating: 255, count: 4 * width * height)
        for i in 0..<width * height where !(28...31).contains(i / width) {
            for c in 0..<3 { pixels[4 * i + c] = 0 }
        }
        let input = try folder.write(
            "line.png", pixels, EncodeRequest(format: .png, width: width, height: height, layout: .rgbx8))
        let turned = try framing.exported(folder, input, "turned") { $0.straighten = 10 }
        func middleOfTheLine(_ x: Int) -> Double {
            let column = (0..<turned.height).map { Double(framing.pixel(turned, x, $0)[0]) }
            let sum = zip(column, 0...).reduce(0) { $0 + $1.0 * Double($1.1) }
            return sum / column.reduce(0, +)
        }
        let (left, right) = (10, turned.width - 11)
        let slope = (middleOfTheLine(right) - middleOfTheLine(left)) / Double(right - left)
        #expect(abs(slope - tan(10 * Double.pi / 180)) < 0.02, "a slope of \(slope)")
    }

    @Test func cropSizeAndBorderAreOfTheTurnedPicture() throws {
        let folder = try TemporaryFolder()
        let input = try framing.photo(folder, orientation: 6)
        let turned = try framing.exported(folder, input, "turned") {
            $0.turns = 1
            $0.straighten = -3
        }
        let framed = try framing.exported(folder, input, "framed") {
            $0.turns = 1
            $0.straighten = -3
            $0.crop = .box(width: 20, height: 15, x: 5, y: 4)
            $0.border = Border(pixels: 2, color: [1, 2, 3])
        }
        #expect((framed.width, framed.height) == (24, 19))
        for y in 0..<15 {
            for x in 0..<20 where framing.pixel(framed, x + 2, y + 2) != framing.pixel(turned, x + 5, y + 4) {
                Issue.record("a wrong pixel at \(x), \(y)")
            }
        }
        let small = try framing.exported(folder, input, "small") {
            $0.turns = 1
            $0.straighten = -3
            $0.size = .fill(width: 16, height: 16)
        }
        #expect((small.width, small.height) == (16, 16))
    }

    @Test(arguments: [(1200, 800), (1201, 803)])
    func reducedDecodingTurnsTheSamePicture(width: Int, height: Int) throws {
        let folder = try TemporaryFolder()
        let pixels = SamplePhotos.pixels(seed: 2, width: width, height: height)
        let input = try folder.write(
            "large.jpg", pixels, EncodeRequest(format: .jpeg, width: width, height: height, layout: .rgbx8))
        func turned(_ name: String, exact: Bool) throws -> Decoded {
            try framing.exported(folder, input, name) {
                $0.straighten = -2.5
                $0.size = .longEdge(300)
                $0.exact = exact
            }
        }
        let (exact, reduced) = (try turned("exact", exact: true), try turned("reduced", exact: false))
        #expect((exact.width, exact.height) == (reduced.width, reduced.height))
        #expect(exact.bytes != reduced.bytes)
        // What ends within a pixel of the smaller scales is decoded in full.
        #expect(compare(exact.samples, reduced.samples, peak: 255).psnr > (width % 8 == 0 ? 45 : 55))
    }

    @Test func memoryGrowsWithTheAngleAndNotWithTheHeight() {
        func bytes(_ degrees: Double, height: Int) -> Int {
            ChainPlan([], width: 6000, height: height, isWide: false, content: 0, rotation: degrees)
                .workingBytes(rows: 128, tilesAtOnce: false)
        }
        #expect(bytes(1, height: 20_000) < bytes(1, height: 2_000) * 2)
        #expect(bytes(1, height: 20_000) < 6000 * 20_000 * 12 / 8)
        #expect(bytes(3, height: 20_000) > bytes(1, height: 20_000))
    }

    @Test func aCropOutsideOfWhatIsLeftIsItsFailure() throws {
        #expect(throws: ExportFailure.self) { try inner(60, 40, 5, crop: .box(width: 5, height: 5, x: 58, y: 0)) }
        let part = try inner(60, 40, 5, crop: .aspect(width: 1, height: 1))
        #expect(part.cropWidth == part.cropHeight)
    }

    @Test func chunksAndOutputsBesideItDoNotChangeAByte() throws {
        let folder = try TemporaryFolder()
        let input = try framing.photo(folder, orientation: 3)
        let wanted = settings {
            $0.format = .png
            $0.straighten = 2
            $0.size = .longEdge(40)
        }
        let plain = settings { $0.format = .png }
        #expect(export(input, to: [(folder.file("a"), wanted)]).status == .good)
        let exporter = ImageExporter(chunkRows: 3)
        #expect(
            export(input, to: [(folder.file("b"), wanted), (folder.file("c"), plain)], exporter: exporter).status
                == .good)
        #expect(
            try Data(contentsOf: URL(filePath: folder.file("a"))) == Data(contentsOf: URL(filePath: folder.file("b"))))
    }
}
