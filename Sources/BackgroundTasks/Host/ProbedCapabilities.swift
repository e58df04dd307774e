import Foundation
import OpenCLKit
package import ResourceProbe
import SchedulingCore
import Locking
import TaskModel

/// Asks the drivers, each in a process of its own: none is ever loaded into this one (rule 31). Their answer is kept for
/// this and later processes until something that it depends on has changed (rule 34).
package final class ProbedCapabilities: CapabilitySource {
    /// Environment variable with the path of `bgrun`, which does the probing.
    static let variable = "BGRUN_PROBE"

    private let options: ProbeOptions
    private let folder: String?
    private let cacheFolder: @Sendable () -> String?
    private let probe: @Sendable (ProbeOptions) -> ProbeReport
    private let turn = Lock(())

    /// - Parameters:
    ///   - options: How to look; the helper in them is replaced.
    ///   - folder: Where `bgrun` is looked for before the path.
    ///   - cacheFolder: Where answers are kept; nil keeps none.
    ///   - probe: Looks.
    package init(
        _ options: ProbeOptions = .standard(), beside folder: String? = ManifestSearch.ownFolder(),
        cacheFolder: @escaping @Sendable () -> String? = { CacheFolder.standard() },
        probe: @escaping @Sendable (ProbeOptions) -> ProbeReport = ResourceProbe.blockingReport
    ) {
        self.options = options
        self.folder = folder
        self.cacheFolder = cacheFolder
        self.probe = probe
    }

    package func capabilities() -> Capabilities {
        // Whoever asks while the first one looks waits for its answer.
        turn.withLock { _ in look() }
    }

    private func look() -> Capabilities {
        var options = options
        guard let helper = helper() else {
            return Capabilities(absences: [
                ResourceAbsence(
                    resource: .gpu, code: "noProbe",
                    sentence: "The program bgrun, which probes GPU drivers safely, was not found.",
                    fix: "Install bgrun in the PATH, or name it in \(Self.variable).")
            ])
        }
        options.helper = helper
        guard let folder = cacheFolder() else { return Capabilities(probe(options)) }
        return Capabilities(ProbeCache(folder: folder).report(options, probe: probe))
    }

    /// `bgrun` as the environment says, beside this program, or in the path. This program itself is never started: it
    /// would not know that it is to probe.
    private func helper() -> String? {
        if let named = options.environment[Self.variable], !named.isEmpty { return named }
        let path = (options.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let folders = [folder].compactMap(\.self) + path
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
