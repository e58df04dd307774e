package import ChunkedCompute
import OpenCLKit

/// The lanes of one worker, opened when an item first asks for them.
package final class Lanes {
    private var cpu: CPULane?
    private var devices: [String: OpenCLLane] = [:]
    private lazy var cache: ProgramCache = {
        let folder = CacheFolder.standard()
        CacheFolder.prepareDrivers(folder: folder)
        return ProgramCache(folder: folder)
    }()

    package init() {}

    package func lane(_ choice: LaneChoice) throws(LaneError) -> any ImageLane {
        switch choice {
        case .cpu:
            guard let lane = cpu ?? CPULane() else { throw LaneError("no kernels for this CPU") }
            cpu = lane
            return lane
        case .openCL(let identity):
            if let lane = devices[identity] { return lane }
            let lane = try open(identity)
            devices[identity] = lane
            return lane
        }
    }

    private func open(_ identity: String) throws(LaneError) -> OpenCLLane {
        let cache = cache
        let device: Device?
        do {
            device = try OpenCLLibrary.open().device(identity: identity)
        } catch {
            throw LaneError("\(error)")
        }
        guard let device else { throw LaneError("no OpenCL device is called \(identity)") }
        return try OpenCLLane(device: device, cache: cache)
    }

    /// Gives up a device after it failed; the next item opens it anew.
    package func forget(_ choice: LaneChoice) {
        if case .openCL(let identity) = choice { devices[identity] = nil }
    }

    /// Gives up every device and what is held there.
    package func forgetDevices() { devices = [:] }

    /// Keeps compiled programs for later processes. Slow on some drivers, so called when the work is done.
    package func storePrograms() {
        for lane in devices.values { lane.storeProgram(in: cache) }
    }
}
