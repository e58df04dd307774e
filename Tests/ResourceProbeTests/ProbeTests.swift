import Foundation
import OpenCLKit
import ResourceProbe
import Testing

/// Every cause, produced by a real loader, a real process and a real library.
@Suite struct ProbeTests {
    /// The one driver's report, with the causes that a GPU job is refused for.
    private func probe(_ name: String, deadline: Duration = .seconds(60)) throws -> (DriverReport, [Cause]) {
        var options = try Fixture.options(vendors: "\(Fixture.drivers())/\(name)")
        options.stepDeadline = deadline
        let report = ResourceProbe.blockingReport(options)
        #expect(report.gpus.isEmpty)
        try #require(report.drivers.count == 1)
        return (report.drivers[0], report.whyNoGPU)
    }

    @Test(arguments: [
        ("crashes-at-load", Cause.Code.driverCrashed, "crashed with SIGSEGV while its library was opened"),
        ("crashes-in-platforms", .driverCrashed, "crashed with SIGSEGV while its platforms were listed"),
        ("crashes-in-devices", .driverCrashed, "crashed with SIGABRT while its devices were listed"),
        ("exits-in-platforms", .driverExited, "ended the process with status 3 while its platforms were listed"),
    ])
    func aDriverThatEndsItsProcessIsNamedWithTheStep(name: String, code: Cause.Code, words: String) throws {
        let (driver, why) = try probe(name)
        #expect(driver.problem?.code == code)
        #expect(driver.problem?.sentence.contains(words) == true, "\(String(describing: driver.problem))")
        #expect(driver.problem?.sentence.contains("lib\(name).so") == true)
        #expect(driver.problem?.fix.contains("\(name).icd") == true)
        #expect(why == [driver.problem])
    }

    @Test(arguments: [
        ("hangs-in-platforms", "while its platforms were listed"),
        ("hangs-in-devices", "while its devices were listed"),
    ])
    func aDriverThatHangsIsNamedAndItsProcessEnded(name: String, words: String) throws {
        // A path of its own, so that its process can be told from those of other tests.
        let library = "\(try TemporaryFolder.make())/libhang.so"
        try FileManager.default.copyItem(atPath: Fixture.library(name), toPath: library)
        var options = try Fixture.options(vendors: library)
        options.stepDeadline = .seconds(3)
        let report = ResourceProbe.blockingReport(options)
        let problem = try #require(report.drivers.first?.problem)
        #expect(problem.code == .driverHung)
        #expect(problem.sentence == "The driver \(library) gave no answer within 3 s \(words).")
        #expect(report.whyNoGPU == [problem])
        #expect(try processes { $0.contains("probe-opencl") && $0.contains(library) }.isEmpty)
    }

    /// Command lines of this machine's processes that `matches` picks.
    private func processes(_ matches: (String) -> Bool) throws -> [String] {
        let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int($0) != nil }
        // A process may end between the two calls.
        return numbers.compactMap { try? String(contentsOfFile: "/proc/\($0)/cmdline", encoding: .utf8) }
            .filter(matches)
    }

    @Test("rule 31: a kernel that never ends costs its device, not the process that asks")
    func aKernelThatNeverEndsIsItsDevicesFault() throws {
        let (driver, why) = try probe("hangs-in-run", deadline: .seconds(5))
        let device = try #require(driver.platforms.first?.devices.first)
        #expect(device.problem?.code == .driverHung)
        #expect(device.problem?.sentence.hasSuffix("while the known-answer kernel ran.") == true)
        #expect(why.map(\.code) == [.driverHung])
    }

    @Test(arguments: [
        ("computes-wrongly", Cause.Code.wrongAnswer, "computes wrong results"),
        ("refuses-build", .driverFailed, "clBuildProgram failed with OpenCL status -11"),
        ("crashes-in-build", .driverCrashed, "crashed with SIGABRT while the known-answer kernel was built"),
    ])
    func aDeviceThatCannotBeTrustedIsNamed(name: String, code: Cause.Code, words: String) throws {
        let (driver, why) = try probe(name)
        let device = try #require(driver.platforms.first?.devices.first)
        #expect(device.health == .unusable)
        #expect(device.problem?.code == code)
        #expect(device.problem?.sentence.contains(words) == true, "\(String(describing: device.problem))")
        #expect(device.problem?.sentence.contains(device.info.identity) == true)
        #expect(why.map(\.code) == [code], "a device that fails is not listed as merely no GPU")
    }

    @Test("rule 33, rule 20: a platform without devices is told from a crash")
    func aPlatformWithoutDevicesIsToldFromACrash() throws {
        let (driver, why) = try probe("no-devices")
        #expect(driver.problem == nil)
        #expect(driver.platforms.map(\.problem?.code) == [.platformWithoutDevices])
        #expect(why.map(\.sentence) == ["The platform Broken Platform has no device."])
    }

    @Test("rule 20: a missing loader is told from missing drivers")
    func aMissingLoaderIsToldFromMissingDrivers() throws {
        var options = try Fixture.options(vendors: TemporaryFolder.make())
        let why = ResourceProbe.blockingReport(options).whyNoGPU
        #expect(why.map(\.code) == [.noICD])
        options.loader = "libbgrun-no-such-loader.so.1"
        let withoutLoader = ResourceProbe.blockingReport(options).whyNoGPU
        #expect(withoutLoader.map(\.code) == [.noLoader])
        #expect(withoutLoader.first?.sentence.contains("libbgrun-no-such-loader.so.1") == true)
        #expect(withoutLoader.first?.fix == "Install ocl-icd-libopencl1.")
    }

    @Test func theLibraryThatADriverFileNamesInVainIsNamed() throws {
        let folder = try TemporaryFolder.make(["nvidia.icd": "libnvidia-opencl.so.77\n"])
        let report = ResourceProbe.blockingReport(try Fixture.options(vendors: folder))
        #expect(report.whyNoGPU.map(\.code) == [.icdLibraryMissing])
        #expect(report.whyNoGPU.first?.sentence.contains("libnvidia-opencl.so.77 (\(folder)/nvidia.icd)") == true)
        #expect(report.whyNoGPU.first?.fix == "Install nvidia-opencl-icd again.")
    }

    @Test func aLibraryThatIsNoDriverIsNamed() throws {
        let report = ResourceProbe.blockingReport(try Fixture.options(vendors: "libm.so.6"))
        #expect(report.whyNoGPU.map(\.code) == [.noPlatform])
    }

    @Test("rule 32, rule 20: a machine with only a CPU device has no GPU, and says so")
    func aMachineWithOnlyACPUDeviceSaysSo() throws {
        let report = ResourceProbe.blockingReport(try Fixture.options(vendors: "/etc/OpenCL/vendors/pocl.icd"))
        try #require(report.devices.map(\.health) == [.healthy], "PoCL is missing or broken: \(report.whyNoGPU)")
        #expect(report.whyNoGPU.map(\.code) == [.onlyCPUDevices])
        #expect(report.whyNoGPU.first?.sentence.contains(report.devices[0].info.identity) == true)
    }

    @Test("rule 32: the test option lets a healthy CPU device stand for a GPU")
    func theTestOptionLetsAHealthyCPUDeviceStandForAGPU() throws {
        var options = try Fixture.options(vendors: "/etc/OpenCL/vendors/pocl.icd")
        options.cpuDevicesCountAsGPU = true
        let report = ResourceProbe.blockingReport(options)
        #expect(report.gpus.map(\.info.type) == [.cpu])
        #expect(report.whyNoGPU.isEmpty)
        #expect(report.cpuDevicesCountAsGPU)
    }

    @Test func theTestLayerMakesPoCLAnswerAsAGPUWhoseNameTellsTheTruth() throws {
        let layer = try Fixture.library("gpu-layer")
        let options = try Fixture.options(vendors: "/etc/OpenCL/vendors/pocl.icd", more: ["OPENCL_LAYERS": layer])
        let report = ResourceProbe.blockingReport(options)
        #expect(report.gpus.map(\.info.type) == [.gpu])
        #expect(report.gpus.first?.info.name.hasPrefix("Test GPU on ") == true)
        #expect(report.whyNoGPU.isEmpty)
        #expect(!report.cpuDevicesCountAsGPU)
    }

    @Test("rule 31, rule 33: one good driver works among all the broken ones")
    func oneGoodDriverWorksAmongAllTheBrokenOnes() throws {
        let names = ["crashes-at-load", "crashes-in-devices", "hangs-in-platforms", "no-devices", "computes-wrongly"]
        var files = ["pocl.icd": try String(contentsOfFile: "/etc/OpenCL/vendors/pocl.icd", encoding: .utf8)]
        for name in names { files["\(name).icd"] = try Fixture.library(name) }
        files["empty.icd"] = ""
        files["missing.icd"] = "libbgrun-missing.so"
        var options = try Fixture.options(vendors: TemporaryFolder.make(files))
        options.stepDeadline = .seconds(10)
        options.cpuDevicesCountAsGPU = true
        let report = ResourceProbe.blockingReport(options)
        var codes: [String: Cause.Code] = [:]
        for driver in report.drivers {
            let device = driver.platforms.first?.devices.first
            let file = URL(fileURLWithPath: driver.icdFile ?? "").deletingPathExtension().lastPathComponent
            codes[file] = driver.problem?.code ?? driver.platforms.first?.problem?.code ?? device?.problem?.code
        }
        #expect(
            codes == [
                "crashes-at-load": .driverCrashed, "crashes-in-devices": .driverCrashed,
                "hangs-in-platforms": .driverHung, "no-devices": .platformWithoutDevices,
                "computes-wrongly": .wrongAnswer, "empty": .icdFileUnreadable, "missing": .icdLibraryMissing,
            ])
        #expect(report.gpus.count == 1)
        #expect(report.whyNoGPU.isEmpty)
    }

    @Test("rule 31: no driver is loaded into the process that asks")
    func noDriverIsLoadedIntoTheProcessThatAsks() throws {
        _ = try probe("no-devices")
        let file = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
        let maps = String(decoding: file.readDataToEndOfFile(), as: UTF8.self)
        #expect(maps.contains("libc.so.6"))
        #expect(!maps.contains("libno-devices.so"))
    }

    @Test func aProbeThatCannotStartSaysSoAndBlamesNoDriver() async throws {
        var options = try Fixture.options(vendors: "libm.so.6")
        options.helper = "/nowhere/bgrun"
        let report = await ResourceProbe.report(options)
        #expect(report.whyNoGPU.map(\.code) == [.probeNotStarted])
        #expect(report.whyNoGPU.first?.sentence.contains("No such file or directory") == true)
    }
}
