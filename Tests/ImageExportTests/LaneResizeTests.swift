import ChunkedCompute
import Foundation
import ImageExport
import Kernels
import SeededNumbers
import Testing

/// Runs a whole picture through a lane, in chunks of `chunkRows` output rows.
func resized(
    _ pixels: [UInt8], _ plan: ResizePlan, lane: any ImageLane, chunkRows: Int = .max
) throws -> [UInt8] {
    let stride = plan.sourceWidth * (plan.arithmetic == .float ? 8 : 4)
    let outStride = plan.width * (plan.arithmetic == .float ? 8 : 4)
    let source = Scratch()
    let base = source.bytes(stride * (plan.sourceHeight + 1))
    pixels.withUnsafeBytes { base.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(base), byteCount: $0.count) }
    var out = [UInt8]()
    var row = 0
    while row < plan.height {
        let count = min(chunkRows, plan.height - row)
        let needed = plan.sourceRows(for: row..<row + count)
        let band = RowBand(base: base, strideBytes: stride, firstRow: 0, rowCount: plan.sourceHeight)
            .rows(needed.lowerBound, count: needed.count)
        let target = Scratch()
        let output = RowBand(
            base: target.bytes(outStride * count), strideBytes: outStride, firstRow: row, rowCount: count)
        try lane.resize(plan, source: band, output: output)
        out += UnsafeRawBufferPointer(start: output.base, count: outStride * count)
        row += count
    }
    return out
}

func everyCPULane() -> [CPULane] {
    [BG_ISA_BASELINE, BG_ISA_AVX2, BG_ISA_AVX512].compactMap { CPULane(isa: $0) }
}

@Suite struct LaneResizeTests {
    static let sizes = [
        (301, 207, 100, 69), (301, 207, 299, 205), (64, 48, 130, 97), (200, 100, 7, 3), (5, 3, 2, 1), (1, 1, 3, 3),
        (9001, 9, 2, 3),
    ]

    func plan(_ arithmetic: ResizeArithmetic, _ s: (Int, Int, Int, Int), curves: TransferCurves? = nil) -> ResizePlan {
        ResizePlan(
            arithmetic: arithmetic, columns: Resampling(.init(sourceLength: s.0, outputLength: s.2)),
            rows: Resampling(.init(sourceLength: s.1, outputLength: s.3)), curves: curves, matte: nil)
    }

    @Test(arguments: 0..<Self.sizes.count) func codesStayWithinOneLevelOfFloat64(_ index: Int) throws {
        let s = Self.sizes[index]
        let pixels = testPicture(width: s.0, height: s.1)
        let plan = plan(.codes, s)
        let reference = Reference.resize(
            pixels.map { Double($0) }, width: s.0, height: s.1, channels: 4,
            columns: Resampling(.init(sourceLength: s.0, outputLength: s.2)),
            rows: Resampling(.init(sourceLength: s.1, outputLength: s.3))
        ).map { min(max($0, 0), 255) }
        let lane = try #require(CPULane())
        let out = try resized(pixels, plan, lane: lane).map { Double($0) }
        let (psnr, worst) = compare(out, reference, peak: 255)
        #expect(worst <= 1, "\(s)")
        if s.2 * s.3 > 1000 { #expect(psnr >= 58, "\(s): \(psnr) dB") }
    }

    @Test func curvesOfAProfileAreCutOffWhereLightEnds() {
        let curve = TransferCurves.Curve(samples: [-1e22, .nan, 0.5, 1e22])
        _ = TransferCurves(float: false, channels: [curve])
        #expect([0, 1.0 / 3, 2.0 / 3, 1].map(curve.decode) == [0, 0, 0.5, 1])
    }

    @Test(arguments: 0..<Self.sizes.count) func lightStaysWithinOneLevelOfFloat64(_ index: Int) throws {
        let s = Self.sizes[index]
        let pixels = testPicture(width: s.0, height: s.1)
        let reference = Reference.resize(
            pixels.map { srgbToLight(Double($0) / 255) }, width: s.0, height: s.1, channels: 4,
            columns: Resampling(.init(sourceLength: s.0, outputLength: s.2)),
            rows: Resampling(.init(sourceLength: s.1, outputLength: s.3))
        ).map { lightToSRGB(min(max($0, 0), 1)) * 255 }
        let lane = try #require(CPULane())
        let out = try resized(pixels, plan(.light, s, curves: .srgbInteger), lane: lane).map { Double($0) }
        let (psnr, worst) = compare(out, reference, peak: 255)
        #expect(worst <= 1, "\(s)")
        if s.2 * s.3 > 1000 { #expect(psnr >= 58, "\(s): \(psnr) dB") }
    }

    @Test(arguments: [false, true]) func sixteenBitsReachNinetyDecibels(_ linear: Bool) throws {
        let s = (301, 207, 120, 80)
        var random = SeededGenerator(seed: 3)
        let samples = (0..<s.0 * s.1 * 4).map { i in
            i % 4 == 3
                ? UInt16.max
                : UInt16(40_000 + Int(20_000 * sin(Double(i) / 97)) + Int.random(in: 0...2_000, using: &random))
        }
        let pixels = samples.withUnsafeBytes { Array($0) }
        let plan = plan(.float, s, curves: linear ? .srgbFloat : .identity)
        let reference = Reference.resize(
            samples.map { linear ? srgbToLight(Double($0) / 65535) : Double($0) / 65535 }, width: s.0, height: s.1,
            channels: 4, columns: Resampling(.init(sourceLength: s.0, outputLength: s.2)),
            rows: Resampling(.init(sourceLength: s.1, outputLength: s.3))
        ).map { value in
            let value = min(max(value, 0), 1)
            return (linear ? lightToSRGB(value) : value) * 65535
        }
        let lane = try #require(CPULane())
        let bytes = try resized(pixels, plan, lane: lane)
        let out = bytes.withUnsafeBytes { $0.bindMemory(to: UInt16.self).map { Double($0) } }
        let (psnr, worst) = compare(out, reference, peak: 65535)
        #expect(psnr >= 90, "\(psnr) dB, worst \(worst)")
    }

    @Test(arguments: [false, true]) func flatCutOutsStayFlat(_ hasMatte: Bool) throws {
        let side = 120
        let flat: [UInt16] = [200 * 257, 120 * 257, 60 * 257]
        let codes = (0..<side * side).flatMap { i -> [UInt16] in
            let inside = hypot(Double(i % side) - 59.5, Double(i / side) - 59.5) < 40
            return inside ? flat + [65535] : [0, 0, 0, 0]
        }
        let pixels = codes.withUnsafeBytes { Array($0) }
        for (to, curves) in [(47, TransferCurves.identity), (47, .srgbFloat), (300, .identity), (300, .srgbFloat)] {
            let matte: [Float]? = hasMatte ? flat.map { curves.decodeFloat[Int($0)] } : nil
            let plan = ResizePlan(
                arithmetic: .float, columns: Resampling(.init(sourceLength: side, outputLength: to)),
                rows: Resampling(.init(sourceLength: side, outputLength: to)), curves: curves, matte: matte)
            for lane in everyCPULane() {
                let out = try resized(pixels, plan, lane: lane).withUnsafeBytes {
                    Array($0.bindMemory(to: UInt16.self))
                }
                let wrong = out.indices.filter {
                    $0 % 4 < 3 && out[$0 / 4 * 4 + 3] > 500 && abs(Int(out[$0]) - Int(flat[$0 % 4])) > 2
                }
                #expect(wrong.isEmpty, "\(lane.name), to \(to)")
            }
        }
    }

    @Test(arguments: [ResizeArithmetic.codes, .light]) func flatFieldsStayExactAtEveryLevel(
        _ arithmetic: ResizeArithmetic
    ) throws {
        let lane = try #require(CPULane())
        let plan = plan(arithmetic, (61, 47, 23, 31), curves: .srgbInteger)
        for level in 0...255 {
            let out = try resized(
                [UInt8](repeating: UInt8(level), count: 61 * 47 * 4), plan, lane: lane)
            let wrong = out.indices.filter { $0 % 4 < 3 && out[$0] != UInt8(level) }
            #expect(wrong.isEmpty, "level \(level)")
        }
    }

    @Test func aCheckerboardAveragesToTheRightGray() throws {
        let lane = try #require(CPULane())
        let side = 256
        var pixels = [UInt8](repeating: 255, count: side * side * 4)
        for i in 0..<side * side where (i % side + i / side) % 2 == 0 {
            for c in 0..<3 { pixels[4 * i + c] = 0 }
        }
        for (arithmetic, expected) in [(ResizeArithmetic.codes, 127.5), (.light, 188)] {
            let out = try resized(pixels, plan(arithmetic, (side, side, 64, 64), curves: .srgbInteger), lane: lane)
            let values = out.indices.filter { $0 % 4 < 3 }.map { Double(out[$0]) }
            let mean = values.reduce(0, +) / Double(values.count)
            #expect(abs(mean - expected) <= 1, "\(arithmetic): \(mean)")
        }
    }

    @Test(arguments: [ResizeArithmetic.codes, .light, .float])
    func theChunkSizeDoesNotChangeAByte(_ arithmetic: ResizeArithmetic) throws {
        let lane = try #require(CPULane())
        let s = (301, 207, 120, 83)
        let curves: TransferCurves = arithmetic == .float ? .srgbFloat : .srgbInteger
        let plan = plan(arithmetic, s, curves: curves)
        let pixels = testPicture(width: s.0 * (arithmetic == .float ? 2 : 1), height: s.1)
        let whole = try resized(pixels, plan, lane: lane)
        for rows in [1, 3, 8, 11, 64] {
            #expect(try resized(pixels, plan, lane: lane, chunkRows: rows) == whole, "\(rows) rows")
        }
    }

    @Test func everyInstructionSetGivesTheSameBytes() throws {
        let lanes = everyCPULane()
        #expect(lanes.count >= 1)
        for s in Self.sizes {
            for arithmetic in [ResizeArithmetic.codes, .light, .float] {
                let curves: TransferCurves = arithmetic == .float ? .srgbFloat : .srgbInteger
                let pixels = testPicture(width: s.0 * (arithmetic == .float ? 2 : 1), height: s.1)
                let outputs = try lanes.map { try resized(pixels, plan(arithmetic, s, curves: curves), lane: $0) }
                for (lane, out) in zip(lanes, outputs) {
                    #expect(out == outputs[0], "\(lane.name), \(arithmetic), \(s)")
                }
            }
        }
    }
}

@Suite struct LaneSharpenTests {
    @Test(arguments: [(0.5, 0.6), (1.0, 1.0), (2.0, 2.5)])
    func sharpeningMatchesFloat64(_ amount: Double, _ sigma: Double) throws {
        for (width, height) in [(203, 131), (16, 16), (5, 3), (1, 1)] {
            let pixels = testPicture(width: width, height: height)
            let reference = Reference.sharpen(
                pixels.map { Double($0) }, width: width, height: height, amount: amount, sigma: sigma)
            for lane in everyCPULane() {
                for chunk in [7, 1000] {
                    let out = try sharpened(
                        pixels, SharpenPlan(width: width, height: height, Sharpening(amount: amount, sigma: sigma)),
                        lane: lane, chunkRows: chunk)
                    let (psnr, worst) = compare(out.map { Double($0) }, reference, peak: 255)
                    #expect(worst <= 1.01, "\(lane.name) \(width)x\(height)")
                    if width > 100 { #expect(psnr >= 55, "\(lane.name): \(psnr) dB") }
                }
            }
        }
    }
}

func sharpened(_ pixels: [UInt8], _ plan: SharpenPlan, lane: any ImageLane, chunkRows: Int) throws -> [UInt8] {
    let stride = plan.width * 4
    let source = Scratch()
    let base = source.bytes(pixels.count)
    pixels.withUnsafeBytes { base.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(base), byteCount: $0.count) }
    let all = RowBand(base: base, strideBytes: stride, firstRow: 0, rowCount: plan.height)
    var out = [UInt8]()
    var row = 0
    while row < plan.height {
        let count = min(chunkRows, plan.height - row)
        let first = max(0, row - plan.radius)
        let target = Scratch()
        let output = RowBand(base: target.bytes(stride * count), strideBytes: stride, firstRow: row, rowCount: count)
        try lane.sharpen(
            plan, source: all.rows(first, count: min(plan.height, row + count + plan.radius) - first), output: output)
        out += UnsafeRawBufferPointer(start: output.base, count: stride * count)
        row += count
    }
    return out
}

@Suite struct WideSharpeningTests {
    func wide<Sample: FixedWidthInteger & UnsignedInteger>(
        _ samples: [Sample], _ plan: SharpenPlan
    ) -> [Sample] {
        var (source, out) = (samples, samples)
        let stride = plan.width * 4 * MemoryLayout<Sample>.stride
        source.withUnsafeMutableBytes { from in
            out.withUnsafeMutableBytes { to in
                guard let from = from.baseAddress, let to = to.baseAddress else { return }
                WideSharpening.apply(
                    Sample.self, plan,
                    source: RowBand(base: from, strideBytes: stride, firstRow: 0, rowCount: plan.height),
                    output: RowBand(base: to, strideBytes: stride, firstRow: 0, rowCount: plan.height),
                    scratch: Scratch())
            }
        }
        return out
    }

    @Test func opaquePicturesMatchFloat64InBothDepths() {
        let (width, height) = (97, 61)
        let pixels = testPicture(width: width, height: height)
        let plan = SharpenPlan(width: width, height: height, Sharpening(amount: 1, sigma: 1))
        let reference = Reference.sharpen(
            pixels.map { Double($0) }, width: width, height: height, amount: 1, sigma: 1)
        #expect(compare(wide(pixels, plan).map { Double($0) }, reference, peak: 255).psnr >= 55)
        let deep = wide(pixels.map { UInt16($0) * 257 }, plan).map { Double($0) / 257 }
        #expect(compare(deep, reference, peak: 255).worst <= 0.2)
    }

    @Test func coloursHiddenUnderClearPartsHaveNoSay() {
        let (width, height) = (32, 8)
        func picture(hidden: UInt8) -> [UInt8] {
            (0..<width * height * 4).map { i in
                let clear = (i / 4) % width >= width / 2
                return i % 4 == 3 ? (clear ? 0 : 255) : clear ? hidden : 120
            }
        }
        let plan = SharpenPlan(width: width, height: height, Sharpening(amount: 2, sigma: 1.5))
        for hidden in [0, 255] as [UInt8] {
            let out = wide(picture(hidden: hidden), plan)
            let visible = out.indices.filter { ($0 / 4) % width < width / 2 && $0 % 4 < 3 }
            #expect(visible.allSatisfy { out[$0] == 120 })
        }
    }
}
