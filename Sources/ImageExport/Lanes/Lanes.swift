/// The lanes of one worker, opened when an item first asks for them.
package final class Lanes {
    private var cpu: CPULane?

    package init() {}

    package func lane(_ choice: LaneChoice) throws(LaneError) -> any ImageLane {
        switch choice {
        case .cpu:
            guard let lane = cpu ?? CPULane() else { throw LaneError("no kernels for this CPU") }
            cpu = lane
            return lane
        case .openCL(let device):
            throw LaneError("no OpenCL lane for \(device)")
        }
    }
}
