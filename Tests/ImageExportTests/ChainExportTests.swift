import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport
import OpenCLKit
import SamplePhotos
import TemporaryFolders
import Testing

/// Chains on their way through a whole export.
@Suite(.serialized) struct ChainExportTests {
    static let look: [ImageOperation] = [
        .denoise(Denoising(luma: 0.1, chroma: 0.1)), .exposure(0.4),
        .localContrast(LocalContrast(amount: 0.5, reach: 1)),
        .contrast(0.3), .saturation(0.2),
    ]

    /// Settings that between them take every path of a chain through the pipeline.
    static let variety: [OutputSettings] = [
        settings { $0.operations = look },
        settings {
            $0.operations = look
            $0.size = .longEdge(150)
            $0.sharpening = Sharpening(amount: 0.5, sigma: 0.7)
        },
        settings {
            $0.operations = [.exposure(-0.5), .saturation(-1), .grain(Grain(amount: 0.2, size: 1.5, seed: 3))]
            $0.size = .longEdge(200)
        },
        settings {
            $0.operations = look + [.grain(Grain(amount: 0.1, size: 1, seed: 0))]
            $0.size = .fill(width: 90, height: 130)
            $0.colorSpace = .displayP3
            $0.linearLight = true
            $0.format = .png
        },
    ]

    func photos(_ folder: TemporaryFolder, count: Int = 4) throws -> [String] {
        try SamplePhotos.write(count: count, width: 480, height: 320, seed: 21, to: folder.file("photos")).map(\.path)
    }

    func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    @Test func theChunkSizeDoesNotChangeAByte() throws {
        let folder = try TemporaryFolder()
        for (index, input) in try photos(folder).enumerated() {
            for (n, each) in Self.variety.enumerated() {
                let whole = folder.file("\(index)-\(n)")
                #expect(export(input, to: [(whole, each)]).status == .good)
                for rows in [5, 64, 100_000] {
                    let other = folder.file("\(index)-\(n)-\(rows)")
                    let result = export(input, to: [(other, each)], exporter: ImageExporter(chunkRows: rows))
                    #expect(result.status == .good)
                    #expect(try bytes(other) == bytes(whole), "\(rows) rows, settings \(n), \(input)")
                }
            }
        }
    }

    @Test func severalOutputsOfOneDecodeEqualSeparateExports() throws {
        let folder = try TemporaryFolder()
        // Between them they need every scale of a JPEG's decoding, with and without a chain before the resize.
        let small = [240, 150, 100, 64, 40, 24].flatMap { edge in
            [false, true].map { linear in
                settings {
                    $0.size = .longEdge(edge)
                    $0.linearLight = linear
                }
            }
        }
        let turned = [30, 80].map { edge in
            settings {
                $0.size = .longEdge(edge)
                $0.straighten = 3
            }
        }
        let wanted = Self.variety + small + turned
        for (index, input) in try photos(folder, count: 2).enumerated() {
            let together = wanted.indices.map { folder.file("together-\(index)-\($0)") }
            let result = export(input, to: Array(zip(together, wanted)))
            #expect(result.status == .good, "\(result.failure?.reason ?? "")")
            for (n, each) in wanted.enumerated() {
                let alone = folder.file("alone-\(index)-\(n)")
                #expect(export(input, to: [(alone, each)]).status == .good)
                #expect(try bytes(alone) == bytes(together[n]), "output \(n) of \(input)")
            }
        }
    }

    @Test func theOpenCLLaneGivesTheSamePictures() throws {
        let folder = try TemporaryFolder()
        let device = try openCLDevice().info.identity
        let exporter = ImageExporter()
        let input = try #require(try photos(folder, count: 1).first)
        for (n, each) in Self.variety.enumerated() {
            var each = each
            each.format = .png
            let (cpu, there) = (folder.file("cpu-\(n)"), folder.file("opencl-\(n)"))
            #expect(export(input, to: [(cpu, each)]).status == .good)
            let result = export(input, to: [(there, each)], exporter: exporter, lane: .openCL(device: device))
            #expect(result.status == .good, "\(result.failure?.reason ?? "")")
            let worst = compare(try Decoded(cpu).samples, try Decoded(there).samples, peak: 255).worst
            #expect(worst <= 2, "settings \(n)")
        }
    }

    @Test func anExportIsTheReferencesPicture() throws {
        let folder = try TemporaryFolder()
        let (width, height) = (120, 80)
        let pixels = SamplePhotos.pixels(seed: 3, width: width, height: height)
        let input = try folder.write(
            "in.png", pixels, EncodeRequest(format: .png, width: width, height: height, layout: .rgbx8))
        let out = folder.file("out.png")
        #expect(export(input, to: [(out, settings { $0.operations = Self.look })]).status == .good)
        var reference = ChainReference(width: width, height: height, pixels: pixels.map { Double($0) / 255 })
        for operation in Self.look { reference.apply(operation) }
        let expected = reference.pixels.map { min(max($0, 0), 1) * 255 }
        #expect(compare(try Decoded(out).samples, expected, peak: 255).worst <= 0.51)
    }

    @Test func whatIsHiddenAroundACutOutStaysHidden() throws {
        let folder = try TemporaryFolder()
        let side = 120
        func isInside(_ i: Int) -> Bool { hypot(Double(i % side) - 59.5, Double(i / side) - 59.5) < 40 }
        for hidden in [0, 255] as [UInt8] {
            let pixels = (0..<side * side).flatMap { i -> [UInt8] in
                isInside(i) ? [128, 128, 128, 255] : [hidden, hidden, hidden, 0]
            }
            let input = try folder.write(
                "in-\(hidden).png", pixels, EncodeRequest(format: .png, width: side, height: side, layout: .rgba8))
            let wanted = settings {
                $0.format = .png
                $0.operations = [
                    .denoise(Denoising(luma: 0.5, chroma: 0.5)), .localContrast(LocalContrast(amount: 1, reach: 2)),
                    .deconvolve(Deconvolution(amount: 1, sigma: 1.2, rounds: 8)),
                ]
            }
            let out = folder.file("out-\(hidden).png")
            #expect(export(input, to: [(out, wanted)], exporter: ImageExporter(chunkRows: 32)).status == .good)
            let samples = try Decoded(out).samples
            let even: Set = [samples[4 * (60 * side + 60)]]
            #expect(Set((0..<side * side).filter(isInside).flatMap { samples[4 * $0..<4 * $0 + 3] }) == even)
        }
    }

    @Test func aChainStopsBetweenItsChunks() throws {
        let folder = try TemporaryFolder()
        let input = try #require(try photos(folder, count: 1).first)
        let out = folder.file("out.jpg")
        let item = ExportItem(
            input: input, outputs: [.init(settings: Self.variety[1], path: out, mayReplace: false)], lane: .cpu,
            limits: DecodeLimits())
        var calls = 0
        let whole = ImageExporter(chunkRows: 16).export(item) { _ in
            calls += 1
            return true
        }
        #expect(whole.status == .good)
        try FileManager.default.removeItem(atPath: out)
        for last in [3, calls / 2, calls - 1] {
            var seen = 0
            let result = ImageExporter(chunkRows: 16).export(item) { _ in
                seen += 1
                return seen < last
            }
            #expect(result.status == .stopped)
            #expect(seen == last)
            #expect(!FileManager.default.fileExists(atPath: out))
        }
    }

    @Test func aChainsMemoryCountsInTheClaim() throws {
        let folder = try TemporaryFolder()
        let input = try #require(try photos(folder, count: 1).first)
        let plain = export(input, to: [(folder.file("plain.jpg"), OutputSettings())])
        let chain = export(input, to: [(folder.file("chain.jpg"), Self.variety[0])])
        // Two levels of 320 rows of three planes of 480 floats.
        #expect(chain.workingBytes > plain.workingBytes + 2 * 320 * 3 * 480 * 4)
        var limits = DecodeLimits()
        limits.maxWorkingBytes = chain.workingBytes - 1
        let refused = export(input, to: [(folder.file("refused.jpg"), Self.variety[0])], limits: limits)
        #expect(refused.failure?.code == "memoryShare")
    }

    @Test func operationsOfNoEffectHaveNone() throws {
        let folder = try TemporaryFolder()
        let input = try #require(try photos(folder, count: 1).first)
        let nothing: [ImageOperation] = [
            .denoise(Denoising(luma: 0, chroma: 0)), .saturation(0), .contrast(0),
            .whiteBalance(WhiteBalance(temperature: 0, tint: 0)), .localContrast(LocalContrast(amount: 0, reach: 1)),
            .deconvolve(Deconvolution(amount: 0, sigma: 1, rounds: 3)), .grain(Grain(amount: 0, size: 1, seed: 1)),
            .curve(try #require(ToneCurve([.init(0, 0), .init(0.4, 0.4), .init(1, 1)]))),
        ]
        func exported(_ name: String, _ operations: [ImageOperation]) throws -> Data {
            let wanted = settings {
                $0.format = .png
                $0.size = .longEdge(200)
                $0.operations = operations
            }
            #expect(export(input, to: [(folder.file(name), wanted)]).status == .good)
            return try bytes(folder.file(name))
        }
        let plain = try exported("plain.png", [.exposure(3), .exposure(-3)])
        #expect(try exported("more.png", [.exposure(3)] + nothing + [.exposure(-3)]) == plain)
    }

    @Test func settingsWithoutAChainKeepTheirIdentity() throws {
        let encoder = JSONEncoder()
        let plain = try #require(String(data: try encoder.encode(OutputSettings()), encoding: .utf8))
        #expect(!plain.contains("operations"))
        let chain = try #require(String(data: try encoder.encode(Self.variety[0]), encoding: .utf8))
        #expect(chain.contains("operations"))
    }
}
