import COpenCL
import OpenCLKit
import Testing

@Suite struct DeviceTests {
    @Test func aMissingLoaderIsAReasonAndNotACrash() throws {
        let error = try #require(throws: OpenCLUnavailable.self) {
            try OpenCLLibrary.open(name: "libbgrun-no-such-loader.so.1")
        }
        #expect(error.reason.contains("libbgrun-no-such-loader.so.1"))
    }

    @Test func aLibraryThatIsNotOpenCLIsNamedWithTheMissingFunction() throws {
        let error = try #require(throws: OpenCLUnavailable.self) { try OpenCLLibrary.open(name: "libm.so.6") }
        #expect(error.reason == "libm.so.6 has no function clGetPlatformIDs")
    }

    @Test func aDeviceTellsItsTypeMemoryAndLimits() throws {
        let info = try Fixture.device(of: .open()).info
        #expect(info.type == .cpu)
        #expect(info.identity == "\(info.vendor):cpu:\(info.name)")
        #expect(info.globalMemoryBytes >= info.maxAllocationBytes)
        #expect(info.maxAllocationBytes > 1 << 20)
        #expect(info.localMemoryBytes >= 32 << 10, "OpenCL 1.2 requires 32 KiB")
        #expect(info.computeUnits > 0)
        #expect(info.maxWorkGroupSize >= 64)
        #expect(info.isAvailable && info.hasCompiler && info.isLittleEndian && info.hasUnifiedMemory)
        #expect(info.platformVersion.hasPrefix("OpenCL "))
        #expect(info.openCLVersion.hasPrefix("OpenCL "))
        #expect(!info.driverVersion.isEmpty)
    }

    @Test func aDeviceIsFoundByItsIdentityAlone() throws {
        let library = try OpenCLLibrary.open()
        let device = try Fixture.device(of: library)
        #expect(try library.device(identity: device.info.identity)?.info == device.info)
        #expect(try library.device(identity: "0") == nil)
    }

    @Test func theKnownAnswerHoldsOnASoundDevice() throws {
        var steps: [KnownAnswer.Step] = []
        #expect(try KnownAnswer.holds(on: Fixture.device(of: .open())) { steps.append($0) })
        #expect(steps == [.context, .build, .run])
    }
}
