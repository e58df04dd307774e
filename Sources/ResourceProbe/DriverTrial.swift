import OpenCLKit

/// Makes one driver's report from what its probing process said and how it ended. Holds no clock and no process.
package struct DriverTrial: Sendable {
    package enum Ending: Hashable, Sendable {
        /// Said ``ProbeMessage/done``.
        case done
        case signal(Int32)
        case exit(Int32)
        /// Killed: it took longer than this.
        case deadline(Duration)
        /// Could not be started, with the reason.
        case notStarted(String)
    }

    private let icdFile: String?
    private let library: String
    private let cpuDevicesCountAsGPU: Bool
    private let environment: [String: String]
    private var step = ProbeMessage.Step.openLoader
    private var report: DriverReport
    /// A device has been named and its outcome has not.
    private var isDeviceOpen = false

    /// - Parameters:
    ///   - icdFile: The file that names the library.
    ///   - library: The driver's library; empty when the loader is asked for all it has.
    ///   - environment: What confines the loader to this driver.
    ///   - cpuDevicesCountAsGPU: See ``ProbeOptions/cpuDevicesCountAsGPU``.
    package init(icdFile: String?, library: String, environment: [String: String], cpuDevicesCountAsGPU: Bool) {
        self.icdFile = icdFile
        self.library = library
        self.environment = environment
        self.cpuDevicesCountAsGPU = cpuDevicesCountAsGPU
        self.report = DriverReport(icdFile: icdFile, library: library)
    }

    package mutating func received(_ message: ProbeMessage) {
        switch message {
        case .step(let next):
            step = next
        case .noLoader(let reason):
            report.problem = Cause(
                .noLoader, "The OpenCL loader cannot be opened: \(reason).", fix: "Install ocl-icd-libopencl1.")
        case .noLibrary(let reason):
            report.problem = Cause(
                .icdLibraryMissing, "The driver library \(named) cannot be opened: \(reason).",
                fix: DriverTrial.libraryFix(library: library, icdFile: icdFile))
        case .platform(let name, let vendor, let version):
            report.platforms.append(PlatformReport(name: name, vendor: vendor, version: version))
        case .device(let info):
            isDeviceOpen = true
            append(DeviceReport(info: info, health: .unusable, countsAsGPU: false, environment: environment))
        case .outcome(let outcome):
            isDeviceOpen = false
            let trial = self
            updateLastDevice { trial.conclude(&$0, outcome) }
        case .failed(let words):
            put(Cause(.driverFailed, "\(subject) failed while \(step.words): \(words).", fix: reinstall))
        case .done:
            break
        }
    }

    /// The report, once the process is gone.
    package consuming func finished(_ ending: Ending) -> DriverReport {
        switch ending {
        case .done:
            noteWhatIsMissing()
        case .signal(let number):
            put(
                Cause(
                    .driverCrashed, "\(subject) crashed with \(Signal.name(number)) while \(step.words).",
                    fix: reinstall))
        case .exit(let status):
            put(
                Cause(
                    .driverExited, "\(subject) ended the process with status \(status) while \(step.words).",
                    fix: reinstall))
        case .deadline(let limit):
            let seconds = Double(limit.components.seconds) + Double(limit.components.attoseconds) / 1e18
            let words = seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
            put(
                Cause(
                    .driverHung, "\(subject) gave no answer within \(words) s while \(step.words).", fix: reinstall))
        case .notStarted(let reason):
            report.problem = Cause(
                .probeNotStarted, "The process that tries the OpenCL drivers could not be started: \(reason).", fix: "")
        }
        return report
    }

    private mutating func noteWhatIsMissing() {
        guard report.problem == nil else { return }
        if report.platforms.isEmpty && !library.isEmpty {
            report.problem = Cause(
                .noPlatform, "The library \(named) opens but offers no OpenCL platform.",
                fix: "It may not be an OpenCL driver, or its hardware is absent; reinstall or remove it.")
        }
        for index in report.platforms.indices where report.platforms[index].devices.isEmpty {
            guard report.platforms[index].problem == nil else { continue }
            report.platforms[index].problem = Cause(
                .platformWithoutDevices, "The platform \(report.platforms[index].name) has no device.",
                fix: "Its hardware is absent, or this user may not open it.")
        }
    }

    private func conclude(_ device: inout DeviceReport, _ outcome: ProbeMessage.Outcome) {
        let name = device.info.identity
        switch outcome {
        case .healthy:
            device.health = .healthy
            device.countsAsGPU = device.info.type == .gpu || (cpuDevicesCountAsGPU && device.info.type == .cpu)
        case .wrongAnswer:
            device.problem = Cause(.wrongAnswer, "The device \(name) computes wrong results.", fix: reinstall)
        case .unavailable:
            device.problem = Cause(
                .deviceUnavailable, "The device \(name) says that it is not available.",
                fix: "Another process may hold it for itself.")
        case .noCompiler:
            device.problem = Cause(.noCompiler, "The device \(name) has no OpenCL C compiler.", fix: reinstall)
        case .failed(let words):
            device.problem = Cause(
                .driverFailed, "The device \(name) failed while \(step.words): \(words).", fix: reinstall)
        }
    }

    /// Puts a cause where it belongs: to the device being tried, else to the driver.
    private mutating func put(_ cause: Cause) {
        if isDeviceOpen {
            isDeviceOpen = false
            updateLastDevice { $0.problem = cause }
        } else {
            report.problem = cause
        }
    }

    private mutating func append(_ device: DeviceReport) {
        guard !report.platforms.isEmpty else { return }
        report.platforms[report.platforms.count - 1].devices.append(device)
    }

    private mutating func updateLastDevice(_ change: (inout DeviceReport) -> Void) {
        guard var platform = report.platforms.popLast() else { return }
        if var device = platform.devices.popLast() {
            change(&device)
            platform.devices.append(device)
        }
        report.platforms.append(platform)
    }

    /// What a sentence is about.
    private var subject: String {
        if isDeviceOpen, let device = report.platforms.last?.devices.last {
            return "The driver \(library) of the device \(device.info.identity)"
        }
        return library.isEmpty ? "An OpenCL driver" : "The driver \(named)"
    }

    private var named: String { icdFile.map { "\(library) (\($0))" } ?? library }

    private var reinstall: String {
        "Update or remove the driver\(icdFile.map { " (`dpkg -S \($0)` names its package)" } ?? "")."
    }

    private static func libraryFix(library: String, icdFile: String?) -> String {
        let packages = [
            "nvidia-opencl": "nvidia-opencl-icd", "igdrcl": "intel-opencl-icd", "MesaOpenCL": "mesa-opencl-icd",
            "RusticlOpenCL": "mesa-opencl-icd", "pocl": "pocl-opencl-icd",
        ]
        if let package = packages.first(where: { library.contains($0.key) })?.value {
            return "Install \(package) again."
        }
        guard let icdFile else { return "Name another library, or clear OCL_ICD_VENDORS." }
        return "Install the library, or remove \(icdFile) (`dpkg -S \(icdFile)` names its package)."
    }
}
