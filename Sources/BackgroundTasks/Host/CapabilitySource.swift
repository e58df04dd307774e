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
    /// As it is now. Blocks the calling thread, for as long as drivers take to answer where they have to be asked.
    func capabilities() -> Capabilities
}
