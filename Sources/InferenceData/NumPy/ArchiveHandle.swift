import CArchive

/// An open ZIP archive of libzip's, given back with this object.
final class ArchiveHandle {
    let pointer: OpaquePointer

    /// - Throws: `damaged` with libzip's words, or `notReadable` where the library is missing.
    init(reading file: OpenFile) throws(DataError) {
        pointer = try Self.opened(orThrow: DataError.damaged) { reason, size in
            bg_archive_open(file.descriptor, UInt64(file.byteCount), reason, size)
        }
    }

    /// - Throws: `notWritable` with libzip's words.
    init(writingTo descriptor: Int32) throws(DataError) {
        pointer = try Self.opened(orThrow: DataError.notWritable) { reason, size in
            bg_archive_create(descriptor, reason, size)
        }
    }

    deinit { bg_archive_close(pointer) }

    private static func opened(
        orThrow error: (String) -> DataError, _ call: (UnsafeMutablePointer<CChar>?, Int) -> OpaquePointer?
    ) throws(DataError) -> OpaquePointer {
        var pointer: OpaquePointer?
        try archiveCall(orThrow: error) { reason, size in
            pointer = call(reason, size)
            return pointer != nil
        }
        guard let pointer else { preconditionFailure("an archive that opened has no handle") }
        return pointer
    }
}

/// A call of the shim: false leaves a reason, which becomes the sentence of an error.
func archiveCall(
    orThrow error: (String) -> DataError, _ call: (UnsafeMutablePointer<CChar>?, Int) -> Bool
) throws(DataError) {
    var reason = [CChar](repeating: 0, count: 256)
    guard !call(&reason, reason.count) else { return }
    let words = String(decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard !words.hasPrefix("libzip ") else { throw .notReadable("\(words).") }
    throw error("The archive fails: \(words).")
}
