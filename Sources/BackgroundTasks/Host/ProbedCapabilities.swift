import Foundation
import OpenCLKit
import ResourceProbe
import SchedulingCore
import Synchronization
import TaskModel

/// Asks the drivers once, each in a process of its own: none is ever loaded into this one (rule 31).
package final class ProbedCapabilities: CapabilitySource {
    /// Environment variable with the path of `bgrun`, which does the probing.
    static let variable = "BGRUN_PROBE"

    private let found = Mutex<Capabilities?>(nil)

    package init() {}

    package func capabilities() -> Capabilities {
        // Whoever asks while the first one looks waits for its answer.
        found.withLock { found in
            if let found { return found }
            let capabilities = Self.look()
            found = capabilities
            return capabilities
        }
    }

    private static func look() -> Capabilities {
        var options = ProbeOptions.standard()
        guard let helper = helper(environment: options.environment) else {
            return Capabilities(absences: [
                ResourceAbsence(
                    resource: .gpu, code: "noProbe",
                    sentence: "The program bgrun, which probes GPU drivers safely, was not found.",
                    fix: "Install bgrun in the PATH, or name it in \(variable).")
            ])
        }
        options.helper = helper
        return Capabilities(ResourceProbe.blockingReport(options))
    }

    /// `bgrun` as the environment says, beside this program, or in the path. This program itself is never started: it
    /// would not know that it is to probe.
    private static func helper(environment: [String: String]) -> String? {
        if let named = environment[variable], !named.isEmpty { return named }
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let folders =
            [(own as NSString).deletingLastPathComponent]
            + (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return folders.map { "\($0)/bgrun" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

extension Capabilities {
    init(_ report: ProbeReport) {
        self.init(
            devices: report.gpus.map {
                ComputeDevice(id: $0.info.identity, name: $0.info.name, memoryBytes: Int($0.info.globalMemoryBytes))
            },
            absences: report.whyNoGPU.map {
                ResourceAbsence(resource: .gpu, code: $0.code.rawValue, sentence: $0.sentence, fix: $0.fix)
            })
    }
}
