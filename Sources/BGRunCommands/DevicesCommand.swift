import ArgumentParser
import Confinement
import FoundationEssentials
import ResourceProbe

struct DevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List what kernels can run on, and why the rest cannot be used.",
        discussion: """
            Every OpenCL driver is tried in a process of its own with a kernel whose result is known. \
            A driver that crashes, hangs or computes wrongly is named and harms nothing.

            ENVIRONMENT
              OCL_ICD_VENDORS       a folder of driver files, one such file, or the name of a driver library
              BGRUN_OPENCL_LOADER   the OpenCL loader's library instead of libOpenCL.so.1
              BGRUN_PROBE_DEADLINE  seconds that a driver may take for one step instead of 3
              BGRUN_UNCONFINED      set: workers keep every right, for a driver that needs more than they are left
            """
    )

    @Flag(help: "Print JSON.")
    var json = false

    @Option(help: .hidden)
    var root = ""

    func run() async throws {
        var options = ProbeOptions.standard()
        options.root = root
        let report = await ResourceProbe.report(options)
        guard json else {
            return try StandardOutput.print(DeviceListing(report).text + Confinement.status.sentence + "\n")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try StandardOutput.print(String(decoding: try encoder.encode(DevicesDocument(report)), as: UTF8.self) + "\n")
    }
}

/// The JSON form: the report, and the answers that follow from it.
struct DevicesDocument: Encodable {
    /// Raised when a field changes its meaning or goes away.
    let version = 1
    let cpu: CPULane
    let drivers: [DriverReport]
    /// A job that requires a GPU would be admitted.
    let gpuSupported: Bool
    let whyNoGPU: [Cause]
    /// A test's option: a CPU device stands for a GPU.
    let cpuDevicesCountAsGPU: Bool
    /// What this kernel keeps from workers, in a sentence.
    let confinement = Confinement.status.sentence

    init(_ report: ProbeReport) {
        cpu = report.cpu
        drivers = report.drivers
        gpuSupported = !report.gpus.isEmpty
        whyNoGPU = report.whyNoGPU
        cpuDevicesCountAsGPU = report.cpuDevicesCountAsGPU
    }
}
