import CImageCodecs

extension CodecError {
    init(_ error: ic_error) {
        let code: Code =
            switch error.status {
            case IC_UNSUPPORTED: .unsupported
            case IC_LIMIT: .limit
            case IC_OUT_OF_MEMORY: .outOfMemory
            case IC_ENCODE: .encode
            case IC_STOPPED: .stopped
            case IC_MISSING_LIBRARY: .libraryMissing
            default: .damaged
            }
        let reason = withUnsafeBytes(of: error.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        self.init(code, reason)
    }
}

/// Turns the status of a C call into a Swift error.
func checked(_ call: (inout ic_error) -> ic_status) throws(CodecError) {
    var error = ic_error()
    if call(&error) != IC_OK { throw CodecError(error) }
}

/// Turns a NULL handle into a Swift error.
func opened(_ call: (inout ic_error) -> OpaquePointer?) throws(CodecError) -> OpaquePointer {
    var error = ic_error()
    guard let handle = call(&error) else { throw CodecError(error) }
    return handle
}
