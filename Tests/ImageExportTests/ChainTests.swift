import ChunkedCompute
import Foundation
import ImageExport
import OpenCLKit
import SamplePhotos
import SeededNumbers
import Testing

/// Runs a whole picture of 8 or 16 bits through a lane, in chunks of `chunkRows` rows.
func developed(_ pixels: [UInt8], _ plan: ChainPlan, lane: any ImageLane, chunkRows: Int = .max) throws -> [UInt8] {
    let stride = plan.width * (plan.isWide ? 8 : 4)
    let source = Scratch()
    let base = source.bytes(pixels.count)
    pixels.withUnsafeBytes { base.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(base), byteCount: $0.count) }
    let all = RowBand(base: base, strideBytes: stride, firstRow: 0, rowCount: plan.height)
    var out: [UInt8] = []
    var row = 0
    while row < plan.height {
        let count = min(chunkRows, plan.height - row)
        let needed = plan.sourceRows(for: row..<row + count)
        let target = Scratch()
        let output = RowBand(base: target.bytes(stride * count), strideBytes: stride, firstRow: row, rowCount: count)
        try lane.develop(plan, source: all.rows(needed.lowerBound, count: needed.count), output: output)
        out += UnsafeRawBufferPointer(start: output.base, count: stride * count)
        row += count
    }
    return out
}

/// The samples of pictures of 16 bits.
func samples(_ bytes: [UInt8]) -> [UInt16] {
    bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt16.self)) }
}

/// A chain with what its results may differ from float64, in levels of 65535.
struct ChainCase: Sendable, CustomTestStringConvertible {
    var name: String
    var operations: [ImageOperation]
    var rotation: Double?
    var tolerance: Double

    var testDescription: String { name }

    init(_ name: String, _ operations: [ImageOperation], rotated rotation: Double? = nil, within tolerance: Double) {
        self.name = name
        self.operations = operations
        self.rotation = rotation
        self.tolerance = tolerance
    }

    static let curve = ToneCurve([.init(0, 0.02), .init(0.3, 0.2), .init(0.6, 0.7), .init(1, 0.97)])
    private static let bent: [ImageOperation] = curve.map { [.curve($0)] } ?? []
    private static let look: [ImageOperation] = [.exposure(0.4), .contrast(0.3), .saturation(0.3)]
    private static let everything: [ImageOperation] = [
        .exposure(0.3), .denoise(Denoising(luma: 0.1, chroma: 0.2)), .saturation(0.2),
        .localContrast(LocalContrast(amount: 0.5, reach: 3)), .contrast(0.2),
        .deconvolve(Deconvolution(amount: 0.8, sigma: 0.7, rounds: 2)), .grain(Grain(amount: 0.2, size: 1, seed: 1)),
        .exposure(-0.2),
    ]

    static let all: [ChainCase] = points + around + rotations

    private static let points: [ChainCase] = [
        ChainCase("exposure", [.exposure(0.7)], within: 3),
        ChainCase("exposure back and forth", [.exposure(1.5), .exposure(-1.2)], within: 2),
        ChainCase("white balance", [.whiteBalance(WhiteBalance(temperature: 0.6, tint: -0.3))], within: 3),
        ChainCase("contrast", [.contrast(0.5), .contrast(-0.8)], within: 2),
        ChainCase("saturation", [.saturation(0.4)], within: 1),
        ChainCase("curve", bent, within: 2),
        ChainCase("look", look + bent, within: 6),
    ]

    private static let around: [ChainCase] = [
        ChainCase("denoise", [.denoise(Denoising(luma: 0.3, chroma: 0.5))], within: 2),
        ChainCase("local contrast", [.localContrast(LocalContrast(amount: 0.8, reach: 2))], within: 2),
        ChainCase("wide local contrast", [.localContrast(LocalContrast(amount: -0.5, reach: 20))], within: 2),
        ChainCase("deconvolve", [.deconvolve(Deconvolution(amount: 1, sigma: 0.8, rounds: 5))], within: 2),
        ChainCase("deconvolve far", [.deconvolve(Deconvolution(amount: 0.7, sigma: 1.5, rounds: 3))], within: 2),
        ChainCase("grain", [.grain(Grain(amount: 0.4, size: 1.7, seed: 5))], within: 2),
        ChainCase("denoise within a look", look + [.denoise(Denoising(luma: 0.2, chroma: 0.3))] + look, within: 16),
        ChainCase(
            "local contrast within a look", look + [.localContrast(LocalContrast(amount: 0.5, reach: 4))] + look,
            within: 16),
        ChainCase(
            "denoise and local contrast",
            [.denoise(Denoising(luma: 0.2, chroma: 0.3)), .localContrast(LocalContrast(amount: 0.5, reach: 4))],
            within: 4),
        ChainCase("everything", everything, within: 16),
    ]

    private static let rotations: [ChainCase] = [
        ChainCase("rotation", [], rotated: 1.5, within: 2),
        ChainCase("rotation to the left", [], rotated: -12.25, within: 2),
        ChainCase("rotation by half a quarter", [], rotated: 45, within: 2),
        ChainCase("rotation of a look", look + [.denoise(Denoising(luma: 0.2, chroma: 0.3))], rotated: 3, within: 12),
    ]
}

@Suite(.serialized) struct ChainTests {
    static let sizes = [(101, 67), (16, 40), (5, 3), (1, 1)]
    static let content: UInt32 = 77

    func plan(_ operations: [ImageOperation], _ size: (Int, Int), isWide: Bool = true) -> ChainPlan {
        plan(ChainCase("", operations, within: 0), size, isWide: isWide)
    }

    func plan(_ chain: ChainCase, _ size: (Int, Int), isWide: Bool = true) -> ChainPlan {
        ChainPlan(
            chain.operations, width: size.0, height: size.1, isWide: isWide, content: Self.content,
            rotation: chain.rotation)
    }

    /// The device in each form of the kernels.
    func everyDeviceLane() throws -> [OpenCLLane] {
        try OpenCLLaneTests.forms.map {
            try OpenCLLane(device: openCLDevice(), form: $0, cache: OpenCLLaneTests().cache)
        }
    }

    /// RGBA of 16 bits with some alpha.
    func picture(_ size: (Int, Int)) -> [UInt8] {
        var random = SeededGenerator(seed: 9)
        let codes = testPicture(width: size.0, height: size.1, seed: 4).map { code in
            UInt16(Int(code) * 257 * 9 / 10 + Int.random(in: 0...200, using: &random))
        }
        return codes.withUnsafeBytes { Array($0) }
    }

    func reference(_ pixels: [UInt8], _ chain: ChainCase, _ size: (Int, Int)) -> [Double] {
        var reference = ChainReference(
            width: size.0, height: size.1, pixels: samples(pixels).map { Double($0) / 65535 })
        for operation in chain.operations { reference.apply(operation, content: Self.content) }
        if let rotation = chain.rotation { reference.rotate(degrees: rotation) }
        return reference.pixels.map { min(max($0, 0), 1) * 65535 }
    }

    @Test(arguments: ChainCase.all) func everyLaneStaysWithinTheToleranceOfFloat64(_ chain: ChainCase) throws {
        let devices = try everyDeviceLane()
        for size in Self.sizes {
            let pixels = picture(size)
            let expected = reference(pixels, chain, size)
            let lanes: [any ImageLane] = everyCPULane() + devices
            for lane in lanes {
                let out = samples(try developed(pixels, plan(chain, size), lane: lane)).map { Double($0) }
                let worst = compare(out, expected, peak: 65535, channels: 4).worst
                let form = (lane as? OpenCLLane).map { "\($0.form) on " } ?? ""
                #expect(worst <= chain.tolerance, "\(form)\(lane.name), \(size)")
            }
        }
    }

    @Test(arguments: ChainCase.all) func theChunkSizeDoesNotChangeAByte(_ chain: ChainCase) throws {
        let devices = try everyDeviceLane()
        let cpu = try #require(CPULane())
        let size = (530, 300)
        for isWide in [true, false] {
            let pixels = isWide ? picture(size) : testPicture(width: size.0, height: size.1)
            let plan = plan(chain, size, isWide: isWide)
            let whole = try developed(pixels, plan, lane: cpu)
            #expect(whole != pixels)
            for rows in [37, 128, 299] {
                #expect(try developed(pixels, plan, lane: cpu, chunkRows: rows) == whole, "\(rows) rows")
                for device in devices {
                    let there = try developed(pixels, plan, lane: device, chunkRows: rows)
                    let worst =
                        isWide
                        ? zip(samples(there), samples(whole)).map { abs(Int($0) - Int($1)) }.max()
                        : zip(there, whole).map { abs(Int($0) - Int($1)) }.max()
                    #expect(try #require(worst) <= 1, "\(rows) rows, \(device.form) on \(device.name)")
                }
            }
        }
    }

    @Test(arguments: ChainCase.all) func everyInstructionSetGivesTheSameBytes(_ chain: ChainCase) throws {
        let size = (203, 90)
        let pixels = picture(size)
        let outputs = try everyCPULane().map { try developed(pixels, plan(chain, size), lane: $0) }
        #expect(!outputs.isEmpty)
        for out in outputs { #expect(out == outputs[0]) }
    }

    @Test func denoisingBringsNoisyPicturesNearerToTheCleanOnes() throws {
        let cpu = try #require(CPULane())
        let size = (384, 256)
        let clean = SamplePhotos.pixels(seed: 3, width: size.0, height: size.1)
        var random = SeededGenerator(seed: 1)
        let noisy = clean.enumerated().map { i, code -> UInt8 in
            guard i % 4 < 3 else { return code }
            // A sum of uniform values of deviation 10.
            let noise = (0..<12).reduce(0.0) { sum, _ in sum + Double.random(in: -5...5, using: &random) }
            return UInt8(min(max(Double(code) + noise, 0), 255))
        }
        let strength = 10.0 / 255 / Denoising.strongest
        let chain = plan([.denoise(Denoising(luma: strength, chroma: strength))], size, isWide: false)
        func psnr(_ pixels: [UInt8]) -> Double {
            compare(pixels.map { Double($0) }, clean.map { Double($0) }, peak: 255).psnr
        }
        let (before, after) = (psnr(noisy), psnr(try developed(noisy, chain, lane: cpu)))
        #expect(after > before + 5, "\(before) dB before, \(after) dB after")
    }

    @Test func fusionKeepsTheOrder() throws {
        let cpu = try #require(CPULane())
        let size = (64, 40)
        let pixels = picture(size)
        let one: [ImageOperation] = [.saturation(0.5), .exposure(0.5)]
        let there = samples(try developed(pixels, plan(one, size), lane: cpu))
        let back = samples(try developed(pixels, plan(one.reversed(), size), lane: cpu))
        #expect(zip(there, back).contains { abs(Int($0) - Int($1)) > 500 })
    }

    @Test func grainFollowsContentAndSeed() throws {
        let cpu = try #require(CPULane())
        let size = (64, 40)
        let pixels = picture(size)
        func grained(seed: UInt32, content: UInt32) throws -> [UInt8] {
            let chain = ChainPlan(
                [.grain(Grain(amount: 0.3, size: 1, seed: seed))], width: size.0, height: size.1, isWide: true,
                content: content)
            return try developed(pixels, chain, lane: cpu)
        }
        let one = try grained(seed: 1, content: 1)
        #expect(try grained(seed: 1, content: 1) == one)
        #expect(try grained(seed: 2, content: 1) != one)
        #expect(try grained(seed: 1, content: 2) != one)
    }

    @Test func curvesThatCannotBeAreRefused() {
        #expect(ToneCurve([.init(0, 0)]) == nil)
        #expect(ToneCurve([.init(0, 0), .init(0, 1)]) == nil)
        #expect(ToneCurve([.init(0, 0), .init(1, 1.1)]) == nil)
    }

    @Test func curvesGoThroughTheirPointsAndNeverTurn() throws {
        let curve = try #require(ChainCase.curve)
        let function = curve.function
        for point in curve.points { #expect(abs(function(point.x) - point.y) < 1e-12) }
        let values = (0...1000).map { function(Double($0) / 1000) }
        #expect(zip(values, values.dropFirst()).allSatisfy { $0 <= $1 + 1e-12 })
    }
}
