import COneDNN

/// oneDNN refused something, or was asked for something that cannot be.
package struct OneDNNError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable {
        /// oneDNN is not installed; Debian's package is `libdnnl2`.
        case libraryMissing
        /// The processor lacks AVX2 (x86-64).
        case processorUnsupported
        case outOfMemory
        /// Shapes, types or parameters contradict each other.
        case invalidArguments
        /// oneDNN has no implementation for this combination; another layout or type may have one.
        case unimplemented
        /// oneDNN failed while it computed.
        case runtimeError
        /// A buffer that the primitive needs was not passed.
        case operandMissing
        /// A buffer was passed twice, or the primitive has no use for it.
        case operandUnexpected
        /// A buffer is smaller than its descriptor says, or the destination was passed to be read only.
        case operandUnsuitable
        /// Not the bytes that the primitive wants: pack anew.
        case weightsForeign
    }

    package let code: Code
    /// What was asked for, with shapes.
    package let request: String
    /// oneDNN's own name of the status, where it was asked at all.
    package let status: String?

    init(_ code: Code, _ request: String, status: String? = nil) {
        self.code = code
        self.request = request
        self.status = status
    }

    package var description: String {
        "\(request): \(code.rawValue)" + (status.map { " (\($0))" } ?? "")
    }
}

/// Turns a status into an error.
///
/// - Parameters:
///   - status: What a function of oneDNN returned.
///   - request: What it was asked for.
/// - Throws: ``OneDNNError`` unless the status is `dnnl_success`.
func check(_ status: dnnl_status_t, _ request: @autoclosure () -> String) throws(OneDNNError) {
    let (code, name): (OneDNNError.Code, String)
    switch status {
    case dnnl_success: return
    case dnnl_out_of_memory: (code, name) = (.outOfMemory, "dnnl_out_of_memory")
    case dnnl_invalid_arguments: (code, name) = (.invalidArguments, "dnnl_invalid_arguments")
    case dnnl_unimplemented: (code, name) = (.unimplemented, "dnnl_unimplemented")
    case dnnl_iterator_ends: (code, name) = (.unimplemented, "dnnl_iterator_ends")
    case dnnl_not_required: (code, name) = (.invalidArguments, "dnnl_not_required")
    case dnnl_runtime_error: (code, name) = (.runtimeError, "dnnl_runtime_error")
    default: (code, name) = (.runtimeError, "status \(status.rawValue)")
    }
    throw OneDNNError(code, request(), status: name)
}

/// A handle that a successful call has made.
func made(_ handle: OpaquePointer?, _ request: @autoclosure () -> String) throws(OneDNNError) -> OpaquePointer {
    guard let handle else { throw OneDNNError(.runtimeError, request(), status: "no handle") }
    return handle
}
