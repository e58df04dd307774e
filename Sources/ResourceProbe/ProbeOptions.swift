import Glibc
import OpenCLKit
import SystemText

/// How to look for devices.
package struct ProbeOptions: Sendable {
    /// The program that answers to ``helperArguments``: `bgrun` itself.
    package var helper: String = "/proc/self/exe"
    package var helperArguments: [String] = ["probe-opencl"]
    package var loader: String = OpenCLLibrary.defaultName
    /// Longest time a driver may take for one step: listing its platforms, its devices, building or running the
    /// known-answer kernel.
    package var stepDeadline: Duration = .seconds(3)
    /// Longest time for all steps of one driver.
    package var totalDeadline: Duration = .seconds(12)
    /// For tests: a healthy CPU device stands for a GPU.
    package var cpuDevicesCountAsGPU = false
    /// Where `/proc`, `/sys`, `/dev` and `/etc` are looked for.
    package var root: String = ""
    package var environment: [String: String]

    package init(environment: [String: String]) {
        self.environment = environment
    }

    /// The options that this process's environment asks for: `BGRUN_TEST_CPU_AS_GPU=1`, `BGRUN_OPENCL_LOADER`, and
    /// `BGRUN_PROBE_DEADLINE` in seconds for a machine so loaded that sound drivers miss theirs.
    package static func standard() -> ProbeOptions {
        var options = ProbeOptions(environment: ProcessTexts.environment)
        options.cpuDevicesCountAsGPU = options.environment["BGRUN_TEST_CPU_AS_GPU"] == "1"
        if let loader = options.environment["BGRUN_OPENCL_LOADER"], !loader.isEmpty { options.loader = loader }
        if let seconds = options.environment["BGRUN_PROBE_DEADLINE"].flatMap(Double.init), seconds > 0, seconds <= 600 {
            options.stepDeadline = .seconds(seconds)
            options.totalDeadline = .seconds(4 * seconds)
        }
        return options
    }
}
