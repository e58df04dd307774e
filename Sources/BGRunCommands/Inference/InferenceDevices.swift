import Inference
import OpenCLKit

/// The OpenCL devices of one worker, opened when an item first asks for them.
final class InferenceDevices {
    private var devices: [Key: InferenceDevice] = [:]
    private lazy var folder: String? = {
        let folder = CacheFolder.standard()
        CacheFolder.prepareDrivers(folder: folder)
        return folder
    }()

    private struct Key: Hashable {
        var identity: String
        var storage: ElementStorage
    }

    /// The device of an identity as `bgrun devices` prints it, with values kept as said.
    ///
    /// - Throws: `engine` where there is no such device, or it fails.
    func device(_ identity: String, _ storage: ElementStorage) throws(ModelError) -> InferenceDevice {
        let key = Key(identity: identity, storage: storage)
        if let known = devices[key] { return known }
        let device: Device?
        do {
            device = try OpenCLLibrary.open().device(identity: identity)
        } catch {
            throw ModelError.engine("\(error)")
        }
        guard let device else { throw ModelError.engine("no OpenCL device is called \(identity)") }
        let opened = try InferenceDevice(
            device: device, tunings: TuningStore(folder: folder), storage: storage,
            cache: ProgramCache(folder: folder))
        devices[key] = opened
        return opened
    }

    /// Gives up a device after it failed; the next item opens it anew.
    func forget(_ identity: String) { devices = devices.filter { $0.key.identity != identity } }

    /// Gives up every device.
    func forgetAll() { devices = [:] }

    /// Keeps compiled programs for later processes.
    func storePrograms() {
        for device in devices.values { device.storePrograms() }
    }
}
