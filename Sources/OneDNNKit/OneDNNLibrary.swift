import COneDNN

/// oneDNN's functions and its engine, opened once for the life of the process.
///
/// `@unchecked Sendable` is true because nothing of it changes: oneDNN's engines do not once they are made.
struct OneDNNLibrary: @unchecked Sendable {
    /// The name in Debian's package `libdnnl2`; the interface of version 2 is what the table is declared with.
    static let name = "libdnnl.so.2"

    let functions: bg_dnnl_functions
    /// Release and commit as the library tells them, e.g. `2.6.3 N/A`.
    let version: String
    /// A `dnnl_engine_t`. It is not given back: oneDNN's cache of primitives goes on to use the engine that the first of
    /// equal primitives was made with.
    let engine: OpaquePointer

    /// - Throws: ``OneDNNError/Code/libraryMissing``.
    static func open() throws(OneDNNError) -> OneDNNLibrary { try shared.get() }

    private static let shared: Result<OneDNNLibrary, OneDNNError> = {
        var functions = bg_dnnl_functions()
        var reason = [CChar](repeating: 0, count: 512)
        guard bg_dnnl_load(name, &functions, &reason, reason.count) == BG_DNNL_LOADED else {
            let words = String(decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return .failure(OneDNNError(.libraryMissing, "opening \(name): \(words)"))
        }
        guard let version = functions.dnnl_version()?.pointee, version.major == 2, version.minor >= 6 else {
            return .failure(OneDNNError(.libraryMissing, "opening \(name): it is older than 2.6"))
        }
        let hash = version.hash.map { String(cString: $0) } ?? ""
        let text = "\(version.major).\(version.minor).\(version.patch) \(hash)"
        do throws(OneDNNError) {
            var raw: OpaquePointer?
            try check(functions.dnnl_engine_create(&raw, dnnl_cpu, 0), "an engine for the CPU")
            let engine = try made(raw, "an engine for the CPU")
            return .success(OneDNNLibrary(functions: functions, version: text, engine: engine))
        } catch {
            return .failure(error)
        }
    }()
}
