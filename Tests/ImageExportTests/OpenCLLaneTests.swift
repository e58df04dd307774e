import Foundation
import ImageExport
import OpenCLKit
import Testing

/// The CPU device of the OpenCL runtime that tests use (PoCL). Its absence is a failure.
func openCLDevice() throws -> Device {
    CacheFolder.prepareDrivers(folder: FileManager.default.temporaryDirectory.path + "/bgrun-test-cache")
    let devices = try OpenCLLibrary.open().platforms().flatMap { try $0.devices() }
    return try #require(devices.first, "no OpenCL device: install pocl-opencl-icd")
}

@Suite(.serialized) struct OpenCLLaneTests {
    static let forms: [OpenCLLane.Form] = [.strips, .pixels]
    let cache = ProgramCache(folder: FileManager.default.temporaryDirectory.path + "/bgrun-test-cache")

    func plan(_ arithmetic: ResizeArithmetic, _ s: (Int, Int, Int, Int), matte: [Float]? = nil) -> ResizePlan {
        ResizePlan(
            arithmetic: arithmetic, columns: Resampling(.init(sourceLength: s.0, outputLength: s.2)),
            rows: Resampling(.init(sourceLength: s.1, outputLength: s.3)),
            curves: arithmetic == .float ? .srgbFloat : .srgbInteger, matte: matte)
    }

    @Test(arguments: forms) func integerResizesEqualTheCPULaneBitForBit(_ form: OpenCLLane.Form) throws {
        let lane = try OpenCLLane(device: openCLDevice(), form: form, cache: cache)
        let cpu = try #require(CPULane())
        for s in LaneResizeTests.sizes {
            let pixels = testPicture(width: s.0, height: s.1)
            for arithmetic in [ResizeArithmetic.codes, .light] {
                let plan = plan(arithmetic, s)
                let expected = try resized(pixels, plan, lane: cpu)
                #expect(try resized(pixels, plan, lane: lane) == expected, "\(arithmetic) \(s)")
                #expect(
                    try resized(pixels, plan, lane: lane, chunkRows: 13) == expected, "\(arithmetic) \(s) in chunks")
            }
        }
    }

    @Test(arguments: forms) func floatResizesDifferByAtMostOneLevelOf65535(_ form: OpenCLLane.Form) throws {
        let lane = try OpenCLLane(device: openCLDevice(), form: form, cache: cache)
        let cpu = try #require(CPULane())
        for matte in [nil, [0.1, 0.5, 0.9] as [Float]] {
            for s in LaneResizeTests.sizes {
                let pixels = testPicture(width: s.0 * 2, height: s.1)
                let plan = plan(.float, s, matte: matte)
                func samples(_ lane: any ImageLane) throws -> [Int] {
                    try resized(pixels, plan, lane: lane).withUnsafeBytes {
                        $0.bindMemory(to: UInt16.self).map { Int($0) }
                    }
                }
                let worst = zip(try samples(lane), try samples(cpu)).map { abs($0 - $1) }.max()
                #expect(try #require(worst) <= 1, "\(s)")
            }
        }
    }

    @Test(arguments: forms) func sharpeningEqualsTheCPULaneBitForBit(_ form: OpenCLLane.Form) throws {
        let lane = try OpenCLLane(device: openCLDevice(), form: form, cache: cache)
        let cpu = try #require(CPULane())
        for (width, height) in [(203, 131), (16, 16), (5, 3), (1, 1)] {
            let pixels = testPicture(width: width, height: height)
            let plan = SharpenPlan(width: width, height: height, Sharpening(amount: 1.2, sigma: 1.1))
            let expected = try sharpened(pixels, plan, lane: cpu, chunkRows: 1000)
            for chunk in [9, 1000] {
                #expect(try sharpened(pixels, plan, lane: lane, chunkRows: chunk) == expected, "\(width)x\(height)")
            }
        }
    }
}
