import OpenCLKit
import ResourceProbe

/// `bgrun devices` for people.
struct DeviceListing {
    private(set) var text = ""

    init(_ report: ProbeReport) {
        line("CPU lane")
        let cores = report.cpu.cores == 1 ? "1 core" : "\(report.cpu.cores) cores"
        line("  \(report.cpu.name), \(cores), \(DeviceListing.words(report.cpu.instructionSet))")
        line("")
        line("OpenCL")
        let drivers = report.drivers.filter { !$0.platforms.isEmpty || $0.problem != nil }
        if drivers.isEmpty { line("  no driver") }
        for driver in drivers { add(driver) }
        line("")
        addVerdict(report)
    }

    private mutating func add(_ driver: DriverReport) {
        let name = driver.library.isEmpty ? "drivers known to the loader" : driver.library
        line("  \(name)\(driver.icdFile.map { ", from \($0)" } ?? "")")
        for platform in driver.platforms {
            line("    \(platform.name) (\(platform.vendor)), \(platform.version)")
            for device in platform.devices { add(device) }
            if let problem = platform.problem { add(problem, indent: "      ") }
        }
        if let problem = driver.problem { add(problem, indent: "    ") }
    }

    private mutating func add(_ device: DeviceReport) {
        let info = device.info
        line("      \(info.identity)")
        line(
            "        \(info.type.rawValue.uppercased()), \(info.computeUnits) compute units,"
                + " memory \(DeviceListing.bytes(info.globalMemoryBytes)),"
                + " largest buffer \(DeviceListing.bytes(info.maxAllocationBytes)),"
                + " local memory \(DeviceListing.bytes(info.localMemoryBytes)),"
                + " work-groups up to \(info.maxWorkGroupSize)")
        line("        driver \(info.driverVersion), \(info.openCLVersion)")
        if let problem = device.problem {
            add(problem, indent: "        ")
        } else {
            let use = device.countsAsGPU ? "usable with --gpu" : "not a GPU"
            line("        healthy, \(use)")
        }
    }

    private mutating func add(_ problem: Cause, indent: String) {
        line("\(indent)rejected: \(problem.sentence) [\(problem.code.rawValue)]")
        if !problem.fix.isEmpty { line("\(indent)  what helps: \(problem.fix)") }
    }

    private mutating func addVerdict(_ report: ProbeReport) {
        if report.cpuDevicesCountAsGPU {
            line("TEST OPTION: CPU devices count as GPUs (BGRUN_TEST_CPU_AS_GPU).")
        }
        guard report.gpus.isEmpty else {
            line("GPU jobs run on \(report.gpus.map(\.info.identity).joined(separator: ", ")).")
            return
        }
        line("GPU jobs are refused:")
        for cause in report.whyNoGPU {
            line("  \(cause.sentence) [\(cause.code.rawValue)]")
            if !cause.fix.isEmpty { line("    what helps: \(cause.fix)") }
        }
    }

    private mutating func line(_ content: String) {
        text += content + "\n"
    }

    private static func words(_ set: CPULane.InstructionSet) -> String {
        switch set {
        case .baseline: "baseline instructions"
        case .avx2: "AVX2"
        case .avx512: "AVX-512"
        case .neon: "NEON"
        }
    }

    /// One decimal in the largest fitting unit of 1024, e.g. `22.1 GiB`.
    static func bytes(_ count: Int) -> String {
        var value = Double(count)
        var unit = 0
        let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
        while value >= 1024 && unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10) \(units[unit])" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}
