package import OpenCLKit

/// What this machine can run kernels on, and why not on the rest.
package struct ProbeReport: Codable, Hashable, Sendable {
    package var cpu: CPULane
    package var drivers: [DriverReport]
    /// Empty when there is a GPU; else every reason, the most telling first.
    package var whyNoGPU: [Cause]
    /// CPU devices were counted as GPUs, for a test. Whatever is printed with such a report has to say so.
    package var cpuDevicesCountAsGPU: Bool

    package init(cpu: CPULane, drivers: [DriverReport], whyNoGPU: [Cause], cpuDevicesCountAsGPU: Bool) {
        self.cpu = cpu
        self.drivers = drivers
        self.whyNoGPU = whyNoGPU
        self.cpuDevicesCountAsGPU = cpuDevicesCountAsGPU
    }

    /// Every device of every driver, in the loader's order.
    package var devices: [DeviceReport] {
        drivers.flatMap { driver in driver.platforms.flatMap(\.devices) }
    }

    /// The devices a GPU job may run on: the type is right and the known answer came out.
    package var gpus: [DeviceReport] {
        devices.filter(\.countsAsGPU)
    }
}

/// The lane that is always there.
package struct CPULane: Codable, Hashable, Sendable {
    /// The widest instructions that the CPU lane's kernels are compiled for and this CPU has.
    package enum InstructionSet: String, Codable, Hashable, Sendable {
        case baseline, avx2, avx512, neon
    }

    package var name: String
    /// Cores this process may use.
    package var cores: Int
    package var instructionSet: InstructionSet

    package init(name: String, cores: Int, instructionSet: InstructionSet) {
        self.name = name
        self.cores = cores
        self.instructionSet = instructionSet
    }
}

/// One driver, found through its `.icd` file.
package struct DriverReport: Codable, Hashable, Sendable {
    /// nil when the loader was asked directly.
    package var icdFile: String?
    /// As the file names it; empty when the file names none.
    package var library: String
    package var platforms: [PlatformReport]
    /// Why the driver, or the rest of it after ``platforms``, cannot be used.
    package var problem: Cause?

    package init(icdFile: String?, library: String, platforms: [PlatformReport] = [], problem: Cause? = nil) {
        self.icdFile = icdFile
        self.library = library
        self.platforms = platforms
        self.problem = problem
    }
}

package struct PlatformReport: Codable, Hashable, Sendable {
    package var name: String
    package var vendor: String
    package var version: String
    package var devices: [DeviceReport]
    package var problem: Cause?

    package init(
        name: String, vendor: String, version: String, devices: [DeviceReport] = [], problem: Cause? = nil
    ) {
        self.name = name
        self.vendor = vendor
        self.version = version
        self.devices = devices
        self.problem = problem
    }
}

package struct DeviceReport: Codable, Hashable, Sendable {
    package enum Health: String, Codable, Hashable, Sendable {
        /// The known-answer kernel gave its answer.
        case healthy
        /// See ``DeviceReport/problem``.
        case unusable
    }

    package var info: DeviceInfo
    package var health: Health
    package var problem: Cause?
    /// Healthy and a GPU, or a CPU device that a test lets stand for one.
    package var countsAsGPU: Bool
    /// What a process that uses this device sets before its first OpenCL call, so that no other driver is loaded.
    package var environment: [String: String]

    package init(
        info: DeviceInfo, health: Health, problem: Cause? = nil, countsAsGPU: Bool, environment: [String: String]
    ) {
        self.info = info
        self.health = health
        self.problem = problem
        self.countsAsGPU = countsAsGPU
        self.environment = environment
    }
}
