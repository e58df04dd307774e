import SchedulingCore
import TaskModel

/// What this machine offers to an export beyond its CPU lane.
struct ComputeOffer {
    var supported: ComputeResources = []
    /// Identity of the OpenCL device to use; nil is the CPU lane alone.
    var device: String?
    /// Why there is no GPU, when it was looked for.
    var absences: [ResourceAbsence] = []

    static func look(for wanted: LanePolicy.Preference) -> ComputeOffer {
        ComputeOffer()
    }
}

extension ExportCommand {
    var lanePreference: LanePolicy.Preference {
        if gpu { return .requireDevice }
        if preferGpu { return .preferDevice }
        return cpu ? .cpu : .measured
    }

    var wantedDevice: LanePolicy.Preference { lanePreference }
}
