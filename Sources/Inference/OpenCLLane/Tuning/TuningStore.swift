import FoundationEssentials
import Kernels
package import OpenCLKit

/// Tunings that were measured, a file for each device, driver and version of the kernels.
package struct TuningStore: Sendable {
    private let notes: DeviceNotes

    /// - Parameter folder: Of caches; without one nothing is found, and nothing kept.
    package init(folder: String?) { notes = DeviceNotes(folder: folder, subject: "tunings") }

    /// What was measured on the device with these kernels; nil where nothing was, or it is damaged.
    package func tuning(for device: DeviceInfo) -> KernelTuning? {
        guard let bytes = notes.read(about: device, version: Self.kernels),
            let tuning = try? JSONDecoder().decode(KernelTuning.self, from: Data(bytes)), tuning.isSound
        else { return nil }
        return tuning
    }

    /// - Returns: Whether the file stands.
    package func store(_ tuning: KernelTuning, for device: DeviceInfo) -> Bool {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let data = try? encoder.encode(tuning) else { return false }
        return notes.write(Array(data), about: device, version: Self.kernels)
    }

    private static var kernels: String {
        var length = 0
        return String(cString: bg_inference_kernels_source(&length))
    }
}
