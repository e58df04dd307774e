package import BackgroundTasks
import SchedulingCore
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

/// What a simulated machine offers beyond its CPUs; counts how often it was asked.
package final class SimulatedDevices: CapabilitySource {
    private let gpus: [SimulatedGPU]
    private let asked = Atomic<Int>(0)

    package init(_ gpus: [SimulatedGPU]) {
        self.gpus = gpus
    }

    package var timesAsked: Int { asked.load(ordering: .relaxed) }

    package func capabilities() -> Capabilities {
        asked.add(1, ordering: .relaxed)
        return Capabilities(
            devices: gpus.map { ComputeDevice(id: $0.name, name: $0.name, memoryBytes: $0.memoryBytes) },
            absences: gpus.isEmpty
                ? [
                    ResourceAbsence(
                        resource: .gpu, code: "noPlatform", sentence: "The simulated machine has no GPU.",
                        fix: "Give it one.")
                ] : [])
    }
}
