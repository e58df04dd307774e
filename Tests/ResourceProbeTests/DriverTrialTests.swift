import OpenCLKit
import ResourceProbe
import Testing

@Suite struct DriverTrialTests {
    private let environment = ["OCL_ICD_VENDORS": "libx.so"]

    private func trial(cpuCounts: Bool = false) -> DriverTrial {
        DriverTrial(
            icdFile: "/v/x.icd", library: "libx.so", environment: environment, cpuDevicesCountAsGPU: cpuCounts)
    }

    private func device(_ name: String, _ type: DeviceType = .gpu) -> DeviceInfo {
        DeviceInfo(
            identity: "V:\(type.rawValue):\(name)", type: type, name: name, vendor: "V", driverVersion: "1",
            openCLVersion: "OpenCL 1.2", platformName: "P", platformVersion: "OpenCL 1.2", globalMemoryBytes: 1 << 30,
            maxAllocationBytes: 1 << 28, localMemoryBytes: 1 << 15, computeUnits: 8, maxWorkGroupSize: 256,
            maxClockMHz: 1_000, hasUnifiedMemory: false, isLittleEndian: true, isAvailable: true, hasCompiler: true)
    }

    private let platform = ProbeMessage.platform(name: "P", vendor: "V", version: "OpenCL 1.2")

    @Test func aHealthyGPUCountsAndCarriesWhatConfinesTheLoaderToIt() {
        var trial = trial()
        for message in [platform, .device(device("a")), .outcome(.healthy)] { trial.received(message) }
        let report = trial.finished(.done)
        let found = report.platforms.first?.devices.first
        #expect(found?.health == .healthy)
        #expect(found?.countsAsGPU == true)
        #expect(found?.environment == environment)
        #expect(report.problem == nil)
    }

    @Test func aCPUDeviceCountsOnlyUnderTheTestOption() {
        for counts in [false, true] {
            var trial = trial(cpuCounts: counts)
            for message in [platform, .device(device("a", .cpu)), .outcome(.healthy)] { trial.received(message) }
            #expect(trial.finished(.done).platforms.first?.devices.first?.countsAsGPU == counts)
        }
    }

    @Test func aCrashOnTheSecondDeviceLeavesTheFirstUsable() {
        var trial = trial()
        trial.received(platform)
        trial.received(.device(device("a")))
        trial.received(.outcome(.healthy))
        trial.received(.device(device("b")))
        trial.received(.step(.build))
        let report = trial.finished(.signal(11))
        let devices = report.platforms.first?.devices ?? []
        #expect(devices.map(\.health) == [.healthy, .unusable])
        #expect(devices.map(\.countsAsGPU) == [true, false])
        #expect(devices.last?.problem?.code == .driverCrashed)
        #expect(
            devices.last?.problem?.sentence
                == "The driver libx.so of the device V:gpu:b crashed with SIGSEGV while the known-answer kernel was built."
        )
    }

    @Test func aCrashAfterTheLastOutcomeIsTheDrivers() {
        var trial = trial()
        for message in [platform, .device(device("a")), .outcome(.healthy)] { trial.received(message) }
        let report = trial.finished(.signal(6))
        #expect(report.problem?.code == .driverCrashed)
        #expect(report.platforms.first?.devices.first?.countsAsGPU == true)
    }

    @Test(arguments: [
        (ProbeMessage.Outcome.wrongAnswer, Cause.Code.wrongAnswer), (.unavailable, .deviceUnavailable),
        (.noCompiler, .noCompiler), (.failed("clX failed"), .driverFailed),
    ])
    func anUnusableDeviceIsNamedWithItsCause(outcome: ProbeMessage.Outcome, code: Cause.Code) {
        var trial = trial()
        for message in [platform, .device(device("a")), .outcome(outcome)] { trial.received(message) }
        let found = trial.finished(.done).platforms.first?.devices.first
        #expect(found?.health == .unusable)
        #expect(found?.countsAsGPU == false)
        #expect(found?.problem?.code == code)
        #expect(found?.problem?.sentence.contains("V:gpu:a") == true)
    }

    @Test func aDeviceBeforeAnyPlatformIsNotTaken() {
        var trial = trial()
        trial.received(.device(device("a")))
        trial.received(.outcome(.healthy))
        let report = trial.finished(.done)
        #expect(report.platforms.isEmpty)
        #expect(report.problem?.code == .noPlatform)
    }
}
