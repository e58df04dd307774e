package import COpenCL
import Locking

/// OpenCL is not installed, or what is installed is not OpenCL.
package struct OpenCLUnavailable: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the dynamic linker said.
    package let reason: String

    package var description: String { "OpenCL could not be opened: \(reason)" }
}

/// The loader's functions, and the way to platforms and devices.
///
/// Opening it loads nothing but the loader; the first ``platforms()`` loads every driver into this process. A driver may
/// crash or hang doing so, so only a helper or worker process calls it.
package struct OpenCLLibrary {
    package static let defaultName = "libOpenCL.so.1"

    /// What every wrapper calls through; tests replace entries to fail on demand and to count what is held.
    let functions: bg_opencl_functions

    package init(functions: bg_opencl_functions) {
        self.functions = functions
    }

    /// Opens the loader. It stays open for the life of the process.
    package static func open(name: String = defaultName) throws(OpenCLUnavailable) -> OpenCLLibrary {
        OpenCLLibrary(functions: try loadFunctions(name: name))
    }

    /// The loader's own functions, for a test to wrap.
    package static func loadFunctions(name: String = defaultName) throws(OpenCLUnavailable) -> bg_opencl_functions {
        var functions = bg_opencl_functions()
        var reason = [CChar](repeating: 0, count: 512)
        switch bg_opencl_load(name, &functions, &reason, reason.count) {
        case BG_OPENCL_LOADED: return functions
        case BG_OPENCL_NO_SYMBOL: throw OpenCLUnavailable(reason: "\(name) has no function \(text(reason))")
        default: throw OpenCLUnavailable(reason: text(reason))
        }
    }

    /// Tries to open a driver's library, running its constructors in this process.
    ///
    /// - Returns: nil if it opens, else what the dynamic linker said.
    package static func reasonNotLoadable(library: String) -> String? {
        var reason = [CChar](repeating: 0, count: 512)
        return bg_opencl_try_library(library, &reason, reason.count) == 0 ? nil : text(reason)
    }

    /// Every platform, in the loader's order; empty when the loader finds no driver.
    package func platforms() throws(OpenCLError) -> [Platform] {
        var platforms: [Platform] = []
        for identifier in try platformIdentifiers() {
            platforms.append(try Platform(identifier, in: self))
        }
        return platforms
    }

    /// The device with that identity, as ``DeviceInfo/identity`` gives it; nil when no platform has it.
    ///
    /// A platform or device that cannot be asked is passed over: one broken driver must not hide a good one.
    package func device(identity: String) throws(OpenCLError) -> Device? {
        try device { $0.identity == identity }
    }

    /// The first device that is wanted, likewise.
    package func device(where isWanted: (DeviceInfo) -> Bool) throws(OpenCLError) -> Device? {
        for identifier in try platformIdentifiers() {
            guard let devices = try? Platform(identifier, in: self).devices() else { continue }
            if let device = devices.first(where: { isWanted($0.info) }) { return device }
        }
        return nil
    }

    private func platformIdentifiers() throws(OpenCLError) -> [cl_platform_id] {
        var count: cl_uint = 0
        let status = listing { functions.clGetPlatformIDs(0, nil, &count) }
        if status == OpenCLError.platformNotFound || (status == CL_SUCCESS && count == 0) { return [] }
        try check(status, "clGetPlatformIDs")
        var identifiers = [cl_platform_id?](repeating: nil, count: Int(count))
        try check(listing { functions.clGetPlatformIDs(count, &identifiers, nil) }, "clGetPlatformIDs")
        return identifiers.compactMap(\.self)
    }

    /// Makes a call that lists platforms or devices, one thread at a time: the first such call sets the drivers up, and
    /// PoCL 3.1 shows half-made devices to another thread that asks meanwhile.
    func listing(_ call: () -> cl_int) -> cl_int {
        listingLock.withLock { _ in call() }
    }
}

private let listingLock = Lock(())

/// A C string in an array as text.
func text(_ bytes: [CChar]) -> String {
    String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
