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

    static let around: [ChainCase] = [
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

    /// The same with much of it clear: all but a disc with soft edges, and many pixels of that.
    func cutOut(_ size: (Int, Int), hidden: UInt16) -> [UInt8] {
        var codes = samples(picture(size))
        for i in 0..<size.0 * size.1 {
            let (x, y) = (i % size.0, i / size.0)
            let distance = hypot(Double(2 * x + 1 - size.0), Double(2 * y + 1 - size.1)) / 2
            let alpha = min(max((0.4 * Double(min(size.0, size.1)) - distance) / 3, 0), 1)
            codes[4 * i + 3] = x < size.0 / 2 && (7 * x + 13 * y) % 11 < 3 ? 0 : UInt16(alpha * 65535)
            if codes[4 * i + 3] == 0 {
                for c in 0..<3 { codes[4 * i + c] = hidden }
            }
        }
        return codes.withUnsafeBytes { Array($0) }
    }

    /// Samples with colours of 0 where pixels are clear.
    func visible(_ values: [Double]) -> [Double] {
        values.indices.map { values[$0 / 4 * 4 + 3] > 0 ? values[$0] : 0 }
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

    @Test(arguments: ChainCase.around) func cutOutsStayWithinTheToleranceOfFloat64(_ chain: ChainCase) throws {
        let lanes: [any ImageLane] = try everyCPULane() + everyDeviceLane()
        for size in Self.sizes {
            let pixels = cutOut(size, hidden: 50_000)
            let expected = visible(reference(pixels, chain, size))
            for lane in lanes {
                let out = visible(samples(try developed(pixels, plan(chain, size), lane: lane)).map { Double($0) })
                let worst = compare(out, expected, peak: 65535, channels: 4).worst
                let form = (lane as? OpenCLLane).map { "\($0.form) on " } ?? ""
                #expect(worst <= chain.tolerance, "\(form)\(lane.name), \(size)")
            }
        }
    }

    @Test(arguments: ChainCase.around) func coloursHiddenUnderClearPixelsHaveNoSay(_ chain: ChainCase) throws {
        let lanes: [any ImageLane] = try everyCPULane() + everyDeviceLane()
        let size = (203, 90)
        for lane in lanes {
            let outputs = try [UInt16(0), 65535].map { hidden in
                let out = try developed(cutOut(size, hidden: hidden), plan(chain, size), lane: lane)
                return visible(samples(out).map { Double($0) })
            }
            #expect(outputs[0] == outputs[1], "\(lane.name)")
        }
    }

    @Test(arguments: [
        ImageOperation.denoise(Denoising(luma: 0.5, chroma: 0.5)),
        .localContrast(LocalContrast(amount: 1, reach: 2)),
        .deconvolve(Deconvolution(amount: 1, sigma: 1.2, rounds: 8)),
    ])
    func evenCutOutsStayEven(_ operation: ImageOperation) throws {
        let lanes: [any ImageLane] = try everyCPULane() + everyDeviceLane()
        let size = (200, 200)
        for hidden in [UInt16(0), 65535] {
            let codes = (0..<size.0 * size.1).flatMap { i -> [UInt16] in
                let inside = hypot(Double(i % size.0) - 99.5, Double(i / size.0) - 99.5) < 70
                return [UInt16](repeating: inside ? 128 * 257 : hidden, count: 3) + [inside ? 65535 : 0]
            }
            let pixels = codes.withUnsafeBytes { Array($0) }
            for lane in lanes {
                let out = samples(try developed(pixels, plan([operation], size), lane: lane, chunkRows: 64))
                let wrong = out.indices.filter {
                    $0 % 4 < 3 && codes[$0 / 4 * 4 + 3] > 0 && abs(Int(out[$0]) - 128 * 257) > 1
                }
                #expect(wrong.isEmpty, "\(lane.name), \(hidden)")
                #expect(out.indices.allSatisfy { $0 % 4 < 3 || out[$0] == codes[$0] })
            }
        }
    }

    @Test(arguments: ChainCase.around) func clearPixelsChangeNothingFarAway(_ chain: ChainCase) throws {
        let size = (64, 700)
        let opaque = picture(size)
        var holed = opaque
        for i in 0..<8 { holed[8 * 64 * 8 + 8 * 20 + i] = 0 }
        // The reach of a wide local contrast is a third of the picture and more.
        let first = 650 * 64 * 8
        for lane in try everyCPULane() as [any ImageLane] + everyDeviceLane() {
            let (a, b) = try (
                developed(opaque, plan(chain, size), lane: lane), developed(holed, plan(chain, size), lane: lane)
            )
            #expect(a != b)
            #expect(a[first...] == b[first...], "\(lane.name)")
        }
    }

    @Test(arguments: ChainCase.around) func theChunkSizeDoesNotChangeAByteOfACutOut(_ chain: ChainCase) throws {
        let devices = try everyDeviceLane()
        let cpu = try #require(CPULane())
        let size = (530, 300)
        let pixels = cutOut(size, hidden: 65535)
        let plan = plan(chain, size)
        let whole = try developed(pixels, plan, lane: cpu)
        for rows in [1, 37, 128, 299] {
            #expect(try developed(pixels, plan, lane: cpu, chunkRows: rows) == whole, "\(rows) rows")
        }
        for rows in [37, 299] {
            for device in devices {
                let there = try developed(pixels, plan, lane: device, chunkRows: rows)
                let worst = zip(samples(there), samples(whole)).map { abs(Int($0) - Int($1)) }.max()
                #expect(try #require(worst) <= 1, "\(rows) rows, \(device.form) on \(device.name)")
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
