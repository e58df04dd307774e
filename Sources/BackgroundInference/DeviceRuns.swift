import Inference
import OpenCLKit

/// Runs on one device of OpenCL, one after the other.
final class DeviceRuns: SessionRuns, @unchecked Sendable {
    // Unchecked: the session's queue, which alone calls this, has one operation at a time.
    private let session: SessionModel
    private let device: InferenceDevice
    private var prepared: [(types: [String: TensorType], model: OpenCLModel)] = []

    /// - Throws: `noDevice`, and `engine` where the device fails.
    init(_ session: SessionModel, on choice: InferenceSession.Device) throws(InferenceError) {
        self.session = session
        let folder = CacheFolder.standard()
        CacheFolder.prepareDrivers(folder: folder)
        let found = try Self.find(choice)
        do throws(ModelError) {
            device = try InferenceDevice(
                device: found, tunings: TuningStore(folder: folder),
                storage: session.precision == .float16 ? .float16 : .float32, cache: ProgramCache(folder: folder))
        } catch {
            throw InferenceError(error)
        }
    }

    /// Later programs find compiled kernels.
    deinit { device.storePrograms() }

    private static func find(_ choice: InferenceSession.Device) throws(InferenceError) -> Device {
        let found: Device?
        do {
            found = try OpenCLLibrary.open().device { info in
                switch choice {
                case .cpu: false
                case .gpu: info.type == .gpu && info.isAvailable && info.hasCompiler
                case .openCL(let identity): info.identity == identity
                }
            }
        } catch {
            throw InferenceError(.noDevice, "OpenCL cannot be used: \(error)")
        }
        guard let found else {
            let name = if case .openCL(let identity) = choice { "device \"\(identity)\"" } else { "GPU" }
            throw InferenceError(.noDevice, "OpenCL has no \(name) here; bgrun devices shows what it has")
        }
        return found
    }

    func execute(_ inputs: [String: Tensor], _ shouldStop: () -> Bool) throws(ModelError) -> [String: Tensor] {
        let types = SessionModel.types(of: inputs)
        if let known = prepared.first(where: { $0.types == types }) {
            return try known.model.execute(inputs, shouldStop: shouldStop)
        }
        let model = try OpenCLModel(session.model, on: device, extents: session.extents(for: types), inputs: types)
        prepared.append((types, model))
        if prepared.count > SessionModel.keptCount { prepared.removeFirst() }
        return try model.execute(inputs, shouldStop: shouldStop)
    }
}
