package import SchedulingCore
package import TaskModel

/// What a machine offers beyond its CPUs, and why it does not offer more.
package struct Capabilities: Hashable, Sendable {
    package var devices: [ComputeDevice]
    package var absences: [ResourceAbsence]

    package init(devices: [ComputeDevice] = [], absences: [ResourceAbsence] = []) {
        self.devices = devices
        self.absences = absences
    }
}

/// Finds out what a machine offers.
package protocol CapabilitySource: Sendable {
    /// Blocks the calling thread, the first time for as long as drivers take to answer.
    func capabilities() -> Capabilities
}
