import Glibc

/// Bytes at an address that is a multiple of 64, the length of a cache line and of the widest register.
///
/// The bytes are not set. Not `Sendable`: who shares one sees to it that nobody writes.
package final class AlignedBuffer {
    package let bytes: UnsafeMutableRawBufferPointer

    package init(byteCount: Int) {
        bytes = .allocate(byteCount: max(byteCount, 1), alignment: 64)
    }

    package convenience init(copying values: some Collection<UInt8>) {
        self.init(byteCount: values.count)
        bytes.copyBytes(from: values)
    }

    deinit { bytes.deallocate() }

    package var readOnly: UnsafeRawBufferPointer { UnsafeRawBufferPointer(bytes) }
}
