import BackgroundTasks
import Dispatch
import Foundation
import Glibc
import JobLink
import OpenCLKit
import ResourceProbe
import SchedulingCore
import Locking
import TaskModel

/// What this machine offers to a job beyond its CPU lane.
struct ComputeOffer: Sendable {
    /// An OpenCL device that may run kernels.
    struct Device: Hashable, Sendable {
        var identity: String
        /// What its process sets before the first OpenCL call.
        var environment: [String: String]
        /// It is no GPU; a test's option lets it stand for one.
        var standsForGPU: Bool
        var memoryBytes: Int

        var shownName: String { standsForGPU ? "\(identity) (standing for a GPU)" : identity }
    }

    var device: Device?
    /// Why there is no GPU, when it was looked for.
    var absences: [ResourceAbsence] = []

    /// As a scheduler knows it.
    var capabilities: Capabilities {
        Capabilities(
            devices: [device].compactMap(\.self).map {
                ComputeDevice(id: $0.identity, name: $0.shownName, memoryBytes: $0.memoryBytes)
            }, absences: absences)
    }

    var standsForGPU: Bool { device?.standsForGPU ?? false }

    static let testNotice = "bgrun: BGRUN_TEST_CPU_AS_GPU is set: an OpenCL CPU device stands for a GPU."

    /// Looks for a GPU where the person asked for one; returns when every driver has answered or missed its deadline.
    static func look(
        for wanted: LanePolicy.Preference,
        assigned: AssignedDevice = AssignedDevice(ProcessInfo.processInfo.environment)
    ) -> ComputeOffer {
        guard wanted.asksForDevice else { return ComputeOffer() }
        switch assigned {
        case .any: return ComputeOffer(probe()) { _ in true }
        case .identity(let identity): return ComputeOffer(probe()) { $0 == identity }
        case .nothing: return .withoutDevice
        }
    }

    /// The scheduler gave the job none.
    static var withoutDevice: ComputeOffer {
        ComputeOffer(absences: [
            ResourceAbsence(
                resource: .gpu, code: "deviceNotGiven",
                sentence: "There is no GPU for it now: none at all, none with room, or one that is left alone.",
                fix: "bgrun devices tells which there are, bgrun doctor which of them failed.")
        ])
    }

    private static var cache: ProbeCache? { CacheFolder.standard().map { ProbeCache(folder: $0) } }

    /// What the drivers of this machine offer, from an earlier probe where nothing has changed since.
    fileprivate static func probe() -> ProbeReport {
        cache?.report(.standard()) ?? ResourceProbe.blockingReport(.standard())
    }

    /// A device failed at its work: the next job looks anew.
    static func deviceFailed() {
        cache?.forget()
    }
}

/// What was found before a job was submitted; later questions look anew.
final class OfferedCapabilities: CapabilitySource {
    private let wanted: LanePolicy.Preference
    private let found: Lock<ComputeOffer?>

    init(_ found: ComputeOffer, wanted: LanePolicy.Preference) {
        self.wanted = wanted
        self.found = Lock(found)
    }

    func capabilities() -> Capabilities {
        (found.withLock { $0.take() } ?? ComputeOffer.look(for: wanted)).capabilities
    }
}

extension ComputeOffer {
    fileprivate init(_ report: ProbeReport, where isWanted: (String) -> Bool) {
        device = report.gpus.first { isWanted($0.info.identity) }.map {
            Device(
                identity: $0.info.identity, environment: $0.environment, standsForGPU: $0.info.type != .gpu,
                memoryBytes: $0.info.globalMemoryBytes)
        }
        absences = report.whyNoGPU.map {
            ResourceAbsence(resource: .gpu, code: $0.code.rawValue, sentence: $0.sentence, fix: $0.fix)
        }
    }
}

/// Looks for a device beside the first items of a job, so that nobody waits for a driver that was not asked for.
final class DeviceSearch: Sendable {
    /// A job this small is over before a device could be measured.
    private static let fewestItems = 24

    private let device = Lock<ComputeOffer.Device?>(nil)

    var found: ComputeOffer.Device? { device.withLock { $0 } }

    /// - Returns: nil where there is nothing worth looking for.
    static func start(items: Int) -> DeviceSearch? {
        guard items >= fewestItems, hasGraphicsHardware else { return nil }
        let search = DeviceSearch()
        DispatchQueue.global(qos: .userInitiated).async {
            let offer = ComputeOffer(ComputeOffer.probe()) { _ in true }
            search.device.withLock { $0 = offer.device }
            StopSignals.wakeUp()
        }
        return search
    }

    /// Without a node of a graphics driver no GPU answers, and trying the drivers would only take time from the work.
    private static var hasGraphicsHardware: Bool {
        ["/dev/dri", "/dev/nvidiactl", "/dev/kfd", "/dev/dxg"].contains { (node: String) in access(node, F_OK) == 0 }
            || getenv("BGRUN_TEST_CPU_AS_GPU") != nil || getenv("OPENCL_LAYERS") != nil
    }
}

extension LanePolicy.Preference {
    /// The person wants a device, whether it is faster or not.
    var asksForDevice: Bool {
        switch self {
        case .cpu, .measured: false
        case .requireDevice, .preferDevice: true
        }
    }
}
