import Kernels
package import OpenCLKit

/// The kernels of inference on one OpenCL device, through one queue. Used by one thread at a time.
package final class InferenceDevice {
    package let tuning: KernelTuning
    package let storage: ElementStorage
    let context: Context
    let queue: CommandQueue
    private let cache: ProgramCache
    private var programs: [KernelTuning.Tile: Program] = [:]
    private var kernels: [KernelName: Kernel] = [:]
    /// Floats that are being converted.
    var staging: Buffer?

    /// A kernel, compiled for tiles of one size.
    struct KernelName: Hashable, Sendable {
        var name: String
        var tile: KernelTuning.Tile
    }

    /// - Parameters:
    ///   - device: Any device with a compiler.
    ///   - tuning: Where nil, what was measured on this device, else the defaults of its class.
    ///   - tunings: What was measured.
    ///   - storage: How values and weights are kept.
    ///   - cache: Where compiled programs are kept.
    /// - Throws: `engine`.
    package init(
        device: Device, tuning: KernelTuning? = nil, tunings: TuningStore = TuningStore(folder: nil),
        storage: ElementStorage = .float32, cache: ProgramCache
    ) throws(ModelError) {
        self.tuning = tuning ?? tunings.tuning(for: device.info) ?? KernelTuning.standard(for: device.info)
        precondition(self.tuning.isSound, "the kernels cannot be compiled with \(self.tuning)")
        self.storage = storage
        self.cache = cache
        let context = try onDevice { () throws(OpenCLError) in try Context(device: device) }
        self.context = context
        queue = try onDevice { () throws(OpenCLError) in try CommandQueue(context: context) }
    }

    package var name: String { context.device.info.name }
    var computeUnits: Int { context.device.info.computeUnits }

    /// Keeps compiled programs for later processes; slow on some drivers, so called when there is nothing else to do.
    package func storePrograms() {
        for program in programs.values { cache.store(program) }
    }

    /// Compiles every program now rather than at the first launch of one of its kernels.
    ///
    /// - Throws: `engine` with the compiler's log.
    package func compileAll() throws(ModelError) {
        try onDevice { () throws(OpenCLError) in
            for tile in Set(tuning.tiles.values) {
                _ = try kernel(KernelName(name: "product", tile: tile))
                _ = try kernel(KernelName(name: "convolution", tile: tile))
            }
        }
    }

    func kernel(_ name: KernelName) throws(OpenCLError) -> Kernel {
        if let known = kernels[name] { return known }
        let program: Program
        if let known = programs[name.tile] {
            program = known
        } else {
            var length = 0
            let source = String(cString: bg_inference_kernels_source(&length))
            program = try cache.program(
                source: source, options: tuning.options(name.tile) + storage.options, in: context)
            programs[name.tile] = program
        }
        let kernel = try Kernel(name.name, in: program)
        kernels[name] = kernel
        return kernel
    }

    /// A work-group that no tile is shared in: neighbours of element-wise kernels.
    var smallGroup: Int { tuning.width == 1 ? 64 : 1 }

    /// Elements that a work-item of element-wise kernels computes.
    var run: Int { tuning.width == 1 ? 1 : 16 * tuning.width }
}
