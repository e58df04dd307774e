/// Bytes at an address that is a multiple of 64, the length of a cache line and of the widest register.
///
/// Not `Sendable`: who shares one sees to it that nobody writes.
package final class AlignedBuffer {
    /// To be used while the buffer is held only; others have ``withUnsafeMutableBytes(_:)``.
    let bytes: UnsafeMutableRawBufferPointer
    /// Whose bytes they are; nil for own ones.
    private let owner: AnyObject?

    /// The bytes are not set.
    package init(byteCount: Int) {
        bytes = .allocate(byteCount: max(byteCount, 1), alignment: 64)
        owner = nil
    }

    /// Bytes of `owner`'s that are only read.
    ///
    /// - Returns: nil where they lie at another address than such a multiple.
    init?(lying bytes: UnsafeRawBufferPointer, in owner: AnyObject) {
        guard UInt(bitPattern: bytes.baseAddress) % 64 == 0 else { return nil }
        self.bytes = UnsafeMutableRawBufferPointer(mutating: bytes)
        self.owner = owner
    }

    package convenience init(copying values: some Collection<UInt8>) {
        self.init(byteCount: values.count)
        bytes.copyBytes(from: values)
    }

    deinit { if owner == nil { bytes.deallocate() } }

    package var byteCount: Int { bytes.count }

    package func withUnsafeMutableBytes<Answer, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        defer { withExtendedLifetime(self) {} }
        return try body(bytes)
    }

    package func withUnsafeBytes<Answer, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        defer { withExtendedLifetime(self) {} }
        return try body(UnsafeRawBufferPointer(bytes))
    }
}
