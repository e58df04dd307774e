package import BackgroundTasks
import SchedulingCore
import Locking
import Synchronization
import TaskModel

/// A GPU that a test makes up.
public struct SimulatedGPU: Hashable, Sendable {
    /// Its identity.
    public var name: String
    public var memoryBytes: Int

    public init(name: String = "Simulated GPU", memoryBytes: Int = 8 << 30) {
        self.name = name
        self.memoryBytes = memoryBytes
    }
}

/// How a simulated GPU driver fails; the scheduler learns of it as of a real one, which is only ever tried in a process
/// of its own (rule 31).
public enum SimulatedDriverFault: Hashable, Sendable {
    /// The process that asks the driver crashes.
    case crash
    /// The driver does not answer before the probe's deadline.
    case hang
}

/// What a simulated machine offers beyond its CPUs; counts how often it was asked.
package final class SimulatedDevices: CapabilitySource {
    private let gpus: [SimulatedGPU]
    private let fault = Lock<SimulatedDriverFault?>(nil)
    private let asked = Atomic<Int>(0)

    package init(_ gpus: [SimulatedGPU]) {
        self.gpus = gpus
    }

    package var timesAsked: Int { asked.load(ordering: .relaxed) }

    package func capabilities() -> Capabilities {
        asked.add(1, ordering: .relaxed)
        return offered
    }

    package func fail(_ fault: SimulatedDriverFault?) {
        self.fault.withLock { $0 = fault }
    }

    /// What ``capabilities()`` answers, without counting the question.
    package var offered: Capabilities {
        switch fault.withLock(\.self) {
        case .crash:
            Self.none(
                "driverCrashed", "The simulated driver crashed with SIGSEGV while its platforms were listed.",
                fix: "Call repairDriver().")
        case .hang:
            Self.none(
                "driverHung", "The simulated driver did not answer within 3 seconds.", fix: "Call repairDriver().")
        case nil where gpus.isEmpty:
            Self.none("noPlatform", "The simulated machine has no GPU.", fix: "Give it one.")
        case nil:
            Capabilities(
                devices: gpus.map { ComputeDevice(id: $0.name, name: $0.name, memoryBytes: $0.memoryBytes) })
        }
    }

    private static func none(_ code: String, _ sentence: String, fix: String) -> Capabilities {
        Capabilities(absences: [ResourceAbsence(resource: .gpu, code: code, sentence: sentence, fix: fix)])
    }
}
