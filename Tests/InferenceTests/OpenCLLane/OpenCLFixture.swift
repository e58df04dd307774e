import Foundation
import Inference
import OpenCLKit
import Testing

/// The CPU device of the OpenCL runtime that tests use (PoCL), which runs the kernels in both of their forms. Its absence is
/// a failure.
enum OpenCLFixture {
    enum Form: CaseIterable, Sendable {
        /// For CPU devices.
        case vectors
        /// For GPUs.
        case groups
    }

    private static let folder = FileManager.default.temporaryDirectory.path + "/bgrun-test-cache"

    static func device(
        _ form: Form, tuning: KernelTuning? = nil, storage: ElementStorage = .float32, library: OpenCLLibrary? = nil
    ) throws -> InferenceDevice {
        let device = try openCLDevice(library)
        return try InferenceDevice(
            device: device, tuning: tuning ?? (form == .vectors ? .vectors : .groups(for: device.info)),
            storage: storage, cache: ProgramCache(folder: folder))
    }

    static func openCLDevice(_ library: OpenCLLibrary? = nil) throws -> Device {
        CacheFolder.prepareDrivers(folder: folder)
        let devices = try (library ?? OpenCLLibrary.open()).platforms().flatMap { try $0.devices() }
        return try #require(devices.first, "no OpenCL device: install pocl-opencl-icd")
    }
}
