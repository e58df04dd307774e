import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport
import OpenCLKit
import SamplePhotos
import TemporaryFolders
import Testing

@Suite struct ExporterTests {
    /// Settings that between them take every path through the pipeline.
    static let variety: [OutputSettings] = [
        settings { $0.size = .longEdge(200) },
        settings {
            $0.size = .fit(width: 120, height: 90)
            $0.exact = true
            $0.sharpening = Sharpening(amount: 0.8, sigma: 1)
        },
        settings {
            $0.size = .fill(width: 100, height: 140)
            $0.linearLight = true
            $0.format = .png
        },
        settings { $0.sharpening = Sharpening(amount: 0.5, sigma: 0.7) },
        settings {
            $0.size = .longEdge(150)
            $0.colorSpace = .displayP3
            $0.format = .webp
        },
        settings {
            $0.colorSpace = .displayP3
            $0.sharpening = Sharpening(amount: 0.5, sigma: 0.7)
        },
    ]

    func photos(_ folder: TemporaryFolder, count: Int = 6) throws -> [String] {
        try SamplePhotos.write(count: count, width: 480, height: 320, seed: 21, to: folder.file("photos")).map(\.path)
    }

    func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    @Test func severalOutputsOfOneDecodeEqualSeparateExports() throws {
        let folder = try TemporaryFolder()
        // One scale for all: exact, so that the shared decode is the one each would have had.
        let wanted = Self.variety.map { each in
            var each = each
            each.exact = true
            return each
        }
        for (index, input) in try photos(folder).enumerated() {
            let together = wanted.indices.map { folder.file("together-\(index)-\($0)") }
            let result = export(input, to: Array(zip(together, wanted)))
            #expect(result.status == .good)
            #expect(result.outputs.map(\.path) == together)
            for (n, each) in wanted.enumerated() {
                let alone = folder.file("alone-\(index)-\(n)")
                #expect(export(input, to: [(alone, each)]).status == .good)
                #expect(try bytes(alone) == bytes(together[n]), "output \(n) of \(input)")
            }
        }
    }

    @Test(arguments: [OutputSize.original, .longEdge(100)])
    func anOpaquePictureOf8BitsBecomesTheSamePictureOf16(size: OutputSize) throws {
        let folder = try TemporaryFolder()
        let input = try photos(folder, count: 1)[0]
        let made = try [8, 16].map { bits in
            let path = folder.file("\(bits)")
            let wanted = settings {
                $0.size = size
                $0.format = .png
                $0.bitsPerChannel = bits
            }
            #expect(export(input, to: [(path, wanted)]).status == .good)
            return try Decoded(path)
        }
        #expect(made[0].header.bitsPerChannel == 8 && made[1].header.bitsPerChannel == 16)
        let farthest = zip(made[0].samples, made[1].samples).map { abs(257 * $0 - $1) }.max() ?? 0
        // A resize has finer steps than those of the input.
        #expect(size == .original ? farthest == 0 : (1...300).contains(farthest), "\(farthest)")
    }

    @Test func theChunkSizeDoesNotChangeAByte() throws {
        let folder = try TemporaryFolder()
        for (index, input) in try photos(folder).enumerated() {
            for (n, each) in Self.variety.enumerated() {
                let whole = folder.file("\(index)-\(n)")
                #expect(export(input, to: [(whole, each)]).status == .good)
                for rows in [1, 5, 8, 100_000] {
                    let other = folder.file("\(index)-\(n)-\(rows)")
                    let result = export(input, to: [(other, each)], exporter: ImageExporter(chunkRows: rows))
                    #expect(result.status == .good)
                    #expect(try bytes(other) == bytes(whole), "\(rows) rows, settings \(n), \(input)")
                }
            }
        }
    }

    @Test func theOpenCLLaneWritesTheSameFiles() throws {
        let folder = try TemporaryFolder()
        let device = try openCLDevice().info.identity
        let exporter = ImageExporter()
        for (index, input) in try photos(folder, count: 2).enumerated() {
            for (n, each) in Self.variety.enumerated() {
                let (cpu, device_) = (folder.file("cpu-\(index)-\(n)"), folder.file("opencl-\(index)-\(n)"))
                #expect(export(input, to: [(cpu, each)]).status == .good)
                let result = export(input, to: [(device_, each)], exporter: exporter, lane: .openCL(device: device))
                #expect(result.status == .good, "\(result.failure?.reason ?? "")")
                #expect(try bytes(cpu) == bytes(device_), "settings \(n), \(input)")
            }
        }
    }

    @Test func aDeviceThatIsNotThereIsADeviceFailure() throws {
        let folder = try TemporaryFolder()
        let input = try #require(try photos(folder, count: 1).first)
        let result = export(
            input, to: [(folder.file("out.jpg"), OutputSettings())], lane: .openCL(device: "nobody:gpu:nothing"))
        #expect(result.status == .failed)
        #expect(result.failure?.code == "device")
    }

    @Test func aTruncatedPictureIsWrittenAndCalledDamaged() throws {
        let folder = try TemporaryFolder()
        let input = try #require(try photos(folder, count: 1).first)
        let data = try bytes(input)
        let cut = folder.file("cut.jpg")
        try data.prefix(data.count * 2 / 3).write(to: URL(fileURLWithPath: cut))
        let out = folder.file("out.jpg")
        let result = export(cut, to: [(out, settings { $0.size = .longEdge(100) })])
        #expect(result.status == .damaged)
        #expect(!result.notes.isEmpty)
        #expect(try Decoded(out).damage.isEmpty)
    }

    @Test func whatIsNoPictureFailsAndLeavesNothing() throws {
        let folder = try TemporaryFolder()
        let text = folder.file("text.jpg")
        try Data("not a picture".utf8).write(to: URL(fileURLWithPath: text))
        let empty = folder.file("empty.png")
        try Data().write(to: URL(fileURLWithPath: empty))
        for (input, code) in [
            (text, "unknownFormat"), (empty, "unknownFormat"), (folder.file("missing.jpg"), "unreadable"),
            (folder.path, "unreadable"),
        ] {
            let out = folder.file("out/x.jpg")
            let result = export(input, to: [(out, OutputSettings())])
            #expect(result.status == .failed)
            #expect(result.failure?.code == code, "\(input): \(result.failure?.reason ?? "")")
            #expect(!FileManager.default.fileExists(atPath: out))
        }
    }

    @Test func anExistingFileIsKeptUnlessItMayBeReplaced() throws {
        let folder = try TemporaryFolder()
        let input = try #require(try photos(folder, count: 1).first)
        let out = folder.file("out.jpg")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: out))
        let refused = export(input, to: [(out, OutputSettings())])
        #expect(refused.failure?.code == "outputExists")
        #expect(try bytes(out) == Data("mine".utf8))
        #expect(export(input, to: [(out, OutputSettings())], mayReplace: true).status == .good)
        #expect(try Decoded(out).width > 0)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!left.contains { $0.hasPrefix(".bgrun-") })
    }

    @Test func aStopBetweenBandsLeavesNothing() throws {
        let folder = try TemporaryFolder()
        let input = try #require(try photos(folder, count: 1).first)
        let out = folder.file("out.jpg")
        let item = ExportItem(
            input: input, outputs: [.init(settings: OutputSettings(), path: out, mayReplace: false)], lane: .cpu,
            limits: DecodeLimits())
        var calls = 0
        let result = ImageExporter().export(item) { progress in
            calls += 1
            #expect(progress.done <= progress.total)
            return calls < 3
        }
        #expect(result.status == .stopped)
        #expect(calls == 3)
        #expect(!FileManager.default.fileExists(atPath: out))
    }

    @Test func aPictureThatNeedsMoreThanItsShareOfMemoryIsHandedBack() throws {
        let folder = try TemporaryFolder()
        let input = try #require(try photos(folder, count: 1).first)
        var limits = DecodeLimits()
        limits.maxWorkingBytes = 1 << 20
        let out = folder.file("out.jpg")
        let result = export(input, to: [(out, OutputSettings())], limits: limits)
        #expect(result.failure?.code == "memoryShare", "\(result.failure?.reason ?? "")")
        limits.maxWorkingBytes = 1 << 30
        let again = export(input, to: [(out, OutputSettings())], limits: limits)
        #expect(again.status == .good)
        #expect(again.workingBytes > 1 << 20 && again.workingBytes < 1 << 30)
    }

    @Test(arguments: [
        (OutputSize.longEdge(100), false, (100, 67)), (.longEdge(1000), false, (480, 320)),
        (.longEdge(960), true, (960, 640)), (.fit(width: 90, height: 90), false, (90, 60)),
        (.fill(width: 90, height: 90), false, (90, 90)), (.fill(width: 1000, height: 500), false, (480, 240)),
        (.original, false, (480, 320)),
    ])
    func sizesComeOutAsAskedFor(_ size: OutputSize, _ enlarge: Bool, _ expected: (Int, Int)) throws {
        for orientation in [1, 6] {
            let transposed = orientation >= 5
            let geometry = try OutputGeometry(
                width: transposed ? 320 : 480, height: transposed ? 480 : 320, orientation: Orientation(orientation),
                size: size,
                enlarge: enlarge)
            #expect((geometry.uprightWidth, geometry.uprightHeight) == expected, "orientation \(orientation)")
        }
    }

    @Test func whatStandsInPlaceIsListedWhenALaterOutputFails() throws {
        let folder = try TemporaryFolder()
        let input = try #require(try photos(folder, count: 1).first)
        let (first, second) = (folder.file("a.jpg"), folder.file(String(repeating: "n", count: 300) + ".jpg"))
        let small = settings { $0.size = .longEdge(50) }
        let result = export(input, to: [(first, small), (second, small)])
        #expect(result.status == .failed)
        #expect(result.failure?.code == "outputRefused", "\(result.failure?.reason ?? "")")
        #expect(result.outputs.map(\.path) == [first])
        #expect(try Decoded(first).width == 50)
    }

    @Test func turningAndEncodingReportOnTheirWay() throws {
        let folder = try TemporaryFolder()
        let pixels = SamplePhotos.pixels(seed: 3, width: 200, height: 300)
        let input = try folder.write(
            "in.jpg", pixels,
            EncodeRequest(
                format: .jpeg, width: 200, height: 300, layout: .rgbx8,
                metadata: ImageMetadata(exif: exif(orientation: 6))))
        let item = ExportItem(
            input: input,
            outputs: [.init(settings: OutputSettings(), path: folder.file("out.jpg"), mayReplace: false)], lane: .cpu,
            limits: DecodeLimits())
        var afterDecoding = 0
        var encodings: [Double] = []
        var encode: ItemProgress.Encode?
        let result = ImageExporter().export(item) { progress in
            if progress.done == progress.total { afterDecoding += 1 }
            if let seconds = progress.silentSeconds { encodings.append(seconds) }
            encode = progress.encode ?? encode
            return true
        }
        #expect(result.status == .good)
        #expect(afterDecoding > 200 / 32)
        #expect(encodings == [CodecCost.encoding(.jpeg) * 0.06])
        #expect(encode == .init(seconds: CodecCost.encoding(.jpeg) * 0.06, hearsStop: true))
    }

    @Test func anItemWithoutOutputsFails() throws {
        let folder = try TemporaryFolder()
        let pixels = SamplePhotos.pixels(seed: 3, width: 20, height: 10)
        let input = try folder.write(
            "in.jpg", pixels, EncodeRequest(format: .jpeg, width: 20, height: 10, layout: .rgbx8))
        let result = export(input, to: [])
        #expect(result.status == .failed && result.failure?.code == "internal")
    }

    @Test func anEncodeIsExpectedToTakeAsLongAsTheLastOne() throws {
        let folder = try TemporaryFolder()
        var numbers = SystemRandomNumberGenerator()
        let pixels = (0..<4 * 1200 * 800).map { _ in UInt8.random(in: 0...255, using: &numbers) }
        let input = try folder.write(
            "in.png", pixels, EncodeRequest(format: .png, width: 1200, height: 800, layout: .rgbx8))
        let exporter = ImageExporter()
        func exported(_ name: String, size: Int = 1200) throws -> (told: Double, took: Double) {
            let wanted = settings { ($0.format, $0.size) = (.avif, .longEdge(size)) }
            let item = ExportItem(
                input: input, outputs: [.init(settings: wanted, path: folder.file(name), mayReplace: false)],
                lane: .cpu, limits: DecodeLimits())
            var told: Double?
            let result = exporter.export(item) { progress in
                told = progress.encode?.seconds ?? told
                return true
            }
            return (try #require(told), result.times.encode)
        }
        let expected = CodecCost.encoding(.avif) * 1200 * 800 / 1e6
        let first = try exported("1.avif")
        #expect(first.told == expected)
        // Small ones teach nothing.
        _ = try exported("small.avif", size: 60)
        let second = try exported("2.avif")
        let learnt = min(max(first.took, expected / 4), expected * 30)
        #expect(second.told != expected && (0.5...1.1).contains(second.told / learnt))
    }

    /// Cameras mark Adobe RGB in EXIF alone: no colour space of their own, and an interoperability index of R03.
    @Test func adobeRGBMarkedInEXIFAloneIsConverted() throws {
        let folder = try TemporaryFolder()
        func directory(_ entries: [[UInt8]]) -> [UInt8] {
            [UInt8(entries.count), 0] + entries.flatMap { $0 } + [0, 0, 0, 0]
        }
        let marked: [UInt8] =
            [0x49, 0x49, 42, 0, 8, 0, 0, 0]
            + directory([[0x69, 0x87, 4, 0, 1, 0, 0, 0, 26, 0, 0, 0]])
            + directory([
                [0x01, 0xA0, 3, 0, 1, 0, 0, 0, 0xFF, 0xFF, 0, 0], [0x05, 0xA0, 4, 0, 1, 0, 0, 0, 56, 0, 0, 0],
            ])
            + directory([[1, 0, 2, 0, 4, 0, 0, 0, 0x52, 0x30, 0x33, 0]])
        let pixels = (0..<64 * 64).flatMap { i -> [UInt8] in [UInt8(60 + i % 64), 180, 90, 255] }
        func exported(_ name: String, _ metadata: ImageMetadata) throws -> Decoded {
            let input = try folder.write(
                "\(name).jpg", pixels,
                EncodeRequest(
                    format: .jpeg, width: 64, height: 64, layout: .rgbx8, quality: 100, fullChroma: true,
                    metadata: metadata))
            let out = folder.file("\(name).png")
            #expect(export(input, to: [(out, settings { $0.format = .png })]).status == .good)
            return try Decoded(out)
        }
        let plain = try exported("plain", ImageMetadata())
        let byEXIF = try exported("exif", ImageMetadata(exif: marked))
        let byProfile = try exported("icc", ImageMetadata(icc: CameraProfile.adobeRGB.data()))
        #expect(compare(byEXIF.samples, byProfile.samples, peak: 255).worst <= 1)
        #expect(compare(byEXIF.samples, plain.samples, peak: 255).worst > 20)
        let written = try #require(byEXIF.header.metadata.exif)
        #expect(!ImageMetadata(exif: written).isMarkedAdobeRGB, "what was converted does not say Adobe RGB any more")
        let wide = folder.file("wide.jpg")
        let toP3 = settings { $0.colorSpace = .displayP3 }
        #expect(export(folder.file("exif.jpg"), to: [(wide, toP3)]).status == .good)
        let exif = try #require(try Decoded(wide).header.metadata.exif)
        #expect(!ImageMetadata(exif: exif).isMarkedAdobeRGB)
        #expect(exif.firstRange(of: Array("R98".utf8)) == nil)
    }

    @Test func theResolutionOnPaperIsKeptAndTurnsWithThePicture() throws {
        let folder = try TemporaryFolder()
        let pixels = SamplePhotos.pixels(seed: 5, width: 60, height: 40)
        let input = try folder.write(
            "in.jpg", pixels,
            EncodeRequest(
                format: .jpeg, width: 60, height: 40, layout: .rgbx8,
                metadata: ImageMetadata(exif: exif(orientation: 6), resolution: Resolution(x: 300, y: 150))))
        for format in [ImageFormat.jpeg, .png, .tiff] {
            let (turned, lying) = (folder.file("turned.\(format)"), folder.file("lying.\(format)"))
            let result = export(
                input,
                to: [
                    (turned, settings { ($0.format, $0.size, $0.metadata) = (format, .longEdge(30), .strip) }),
                    (lying, settings { ($0.format, $0.turns) = (format, 1) }),
                ])
            #expect(result.status == .good)
            #expect(try Decoded(turned).header.metadata.resolution == Resolution(x: 150, y: 300))
            #expect(try Decoded(lying).header.metadata.resolution == Resolution(x: 300, y: 150))
        }
    }

    @Test func whatIsKeptOfThePicturesBeforeChangesNoByte() throws {
        let folder = try TemporaryFolder()
        let profiles = [nil, CameraProfile.adobeRGB.data(), CameraProfile.displayP3.data()]
        var inputs: [String] = []
        for (width, height) in [(300, 200), (201, 300)] {
            for (index, profile) in profiles.enumerated() {
                let pixels = (0..<width * height).flatMap { i -> [UInt8] in [UInt8(i % 251), UInt8(i % 83), 90, 255] }
                inputs.append(
                    try folder.write(
                        "\(width)-\(index).png", pixels,
                        EncodeRequest(
                            format: .png, width: width, height: height, layout: .rgbx8,
                            metadata: ImageMetadata(icc: profile))))
            }
        }
        let shared = ImageExporter()
        // The second time all is known, but for what had to go.
        for round in 0..<2 {
            for (n, input) in inputs.enumerated() {
                for (place, each) in Self.variety.enumerated() {
                    let (own, other) = ("own-\(round)-\(n)-\(place)", "other-\(round)-\(n)-\(place)")
                    #expect(export(input, to: [(folder.file(own), each)]).status == .good)
                    #expect(export(input, to: [(folder.file(other), each)], exporter: shared).status == .good)
                    #expect(try bytes(folder.file(own)) == bytes(folder.file(other)), "\(input), settings \(place)")
                }
            }
        }
    }

    @Test func tablesOfTheSameResizeAreMadeOnce() {
        let tables = KeptTables()
        func resize(to width: Int, _ matte: [Float]? = nil) -> ResizePlan {
            tables.resize(
                arithmetic: .codes, columns: .init(sourceLength: 64, outputLength: width),
                rows: .init(sourceLength: 48, outputLength: 24), matte: matte)
        }
        let first = resize(to: 32)
        #expect(resize(to: 32) === first)
        #expect(resize(to: 31) !== first)
        #expect(resize(to: 32, [0, 0, 0]) !== first)
        #expect(resize(to: 32) === first)
        for width in 1...8 { _ = resize(to: width) }
        #expect(resize(to: 32) !== first, "no more are kept than a few")
        #expect(resize(to: 1 << 16) !== resize(to: 1 << 16), "and none that is large")
    }
}
