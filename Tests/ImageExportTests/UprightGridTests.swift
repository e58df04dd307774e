import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport
import TemporaryFolders
import Testing

/// Operations on a grid give the same upright picture however it is stored.
@Suite(.serialized) struct UprightGridTests {
    static let operations: [ChainCase] = [
        ChainCase("denoise", [.denoise(Denoising(luma: 0.3, chroma: 0.5))], within: 1),
        ChainCase("local contrast", [.localContrast(LocalContrast(amount: 1.5, reach: 2))], within: 2),
        ChainCase("wide local contrast", [.localContrast(LocalContrast(amount: -0.5, reach: 20))], within: 2),
        ChainCase(
            "both within a look",
            [
                .exposure(0.4), .denoise(Denoising(luma: 0.2, chroma: 0.3)), .saturation(0.2),
                .localContrast(LocalContrast(amount: 0.5, reach: 4)), .contrast(0.2),
            ], within: 4),
        ChainCase("deconvolve", [.deconvolve(Deconvolution(amount: 1, sigma: 0.8, rounds: 5))], within: 2),
    ]

    private let chains = ChainTests()

    /// Pixels of 8 bytes rearranged as an orientation does.
    func turned(_ pixels: [UInt8], _ size: (Int, Int), _ orientation: Orientation) -> [UInt8] {
        let (width, height) = orientation.isTransposed ? (size.1, size.0) : size
        var pixels = pixels
        var out = [UInt8](repeating: 0, count: pixels.count)
        pixels.withUnsafeMutableBytes { from in
            out.withUnsafeMutableBytes { to in
                guard let from = from.baseAddress, let to = to.baseAddress else { return }
                orientation.upright(
                    from: RowBand(base: from, strideBytes: 8 * size.0, firstRow: 0, rowCount: size.1), width: size.0,
                    pixelBytes: 8,
                    into: RowBand(base: to, strideBytes: 8 * width, firstRow: 0, rowCount: height))
            }
        }
        return out
    }

    /// A picture is stored by this, if the orientation makes it upright.
    func inverse(_ orientation: Int) -> Orientation {
        Orientation(orientation == 6 ? 8 : orientation == 8 ? 6 : orientation)
    }

    @Test(arguments: operations) func aGridBeginsAtTheUprightPicturesFirstCorner(_ chain: ChainCase) throws {
        // Instruction sets give the same bytes, which another test shows.
        let lanes: [any ImageLane] = try [#require(CPULane())] + chains.everyDeviceLane()
        for size in [(75, 142), (16, 5), (1, 3)] {
            for isCutOut in [false, true] {
                let pixels = isCutOut ? chains.cutOut(size, hidden: 50_000) : chains.picture(size)
                for lane in lanes {
                    let wanted = chains.visible(
                        samples(try developed(pixels, chains.plan(chain, size), lane: lane)).map { Double($0) })
                    for value in 2...8 {
                        let orientation = Orientation(value)
                        let stored = turned(pixels, size, inverse(value))
                        let storedSize = orientation.isTransposed ? (size.1, size.0) : size
                        let plan = ChainPlan(
                            chain.operations, width: storedSize.0, height: storedSize.1, isWide: true,
                            content: ChainTests.content, orientation: orientation)
                        let made = turned(
                            try developed(stored, plan, lane: lane, chunkRows: 41), storedSize, orientation)
                        let out = chains.visible(samples(made).map { Double($0) })
                        let worst = compare(out, wanted, peak: 65535, channels: 4).worst
                        let form = (lane as? OpenCLLane).map { "\($0.form) on " } ?? ""
                        #expect(worst <= chain.tolerance, "\(form)\(lane.name), \(size), orientation \(value)")
                    }
                }
            }
        }
    }

    @Test(arguments: operations.prefix(2)) func theChunkSizeDoesNotChangeAByteOfATurnedPicture(_ chain: ChainCase)
        throws
    {
        let cpu = try #require(CPULane())
        let size = (203, 150)
        for isWide in [true, false] {
            let pixels = isWide ? chains.picture(size) : testPicture(width: size.0, height: size.1)
            for value in 2...8 {
                let plan = ChainPlan(
                    chain.operations, width: size.0, height: size.1, isWide: isWide, content: ChainTests.content,
                    orientation: Orientation(value))
                let whole = try developed(pixels, plan, lane: cpu)
                for rows in [37, 128] {
                    #expect(try developed(pixels, plan, lane: cpu, chunkRows: rows) == whole, "\(value), \(rows) rows")
                }
            }
        }
    }

    @Test(arguments: 2...8) func anExportOfTheSameUprightPixelsIsTheSame(_ orientation: Int) throws {
        let folder = try TemporaryFolder()
        let size = (123, 86)
        let pixels = testPicture(width: size.0, height: size.1)
        let bytes = pixels.map { UInt16($0) * 257 }.withUnsafeBytes { Array($0) }
        func exported(_ value: Int) throws -> [Double] {
            let swaps = value >= 5
            let stored = samples(turned(bytes, size, inverse(value))).map { UInt8($0 >> 8) }
            let input = try folder.write(
                "in-\(value).webp", stored,
                EncodeRequest(
                    format: .webp, width: swaps ? size.1 : size.0, height: swaps ? size.0 : size.1, layout: .rgbx8,
                    lossless: true, metadata: ImageMetadata(exif: exif(orientation: value))))
            let wanted = settings {
                $0.format = .png
                $0.bitsPerChannel = 8
                $0.operations = [
                    .denoise(Denoising(luma: 0.4, chroma: 0.4)), .localContrast(LocalContrast(amount: 1, reach: 2)),
                ]
            }
            let out = folder.file("out-\(value).png")
            #expect(export(input, to: [(out, wanted)]).status == .good)
            let made = try Decoded(out)
            #expect((made.width, made.height) == size)
            return made.samples
        }
        #expect(compare(try exported(orientation), try exported(1), peak: 255).worst <= 1)
    }
}
