import CChecksum
import Glibc

/// A program binary on disk: a fixed header with the key and a checksum, then the driver's bytes.
///
/// Drivers accept flipped bits in silence and abort on truncated files, so nothing reaches a driver unverified.
enum BinaryFile {
    /// Names the layout; a new layout gets a new one, so that old files are simply not recognised.
    private static let magic = Array("bgrunCL1".utf8)
    private static let headerByteCount = 8 + 16 + 16 + 8

    static func encode(_ binary: [UInt8], key: [UInt8]) -> [UInt8] {
        let length = UInt64(binary.count)
        let lengthBytes = (0..<8).map { UInt8(truncatingIfNeeded: length >> (8 * UInt64($0))) }
        return magic + key + digest(binary) + lengthBytes + binary
    }

    /// The binary, or nil when the file is not whole, not for `key`, or damaged.
    static func decode(_ file: [UInt8], key: [UInt8]) -> [UInt8]? {
        guard file.count > headerByteCount, Array(file[0..<8]) == magic, Array(file[8..<24]) == key else { return nil }
        let length = (0..<8).reduce(UInt64(0)) { $0 | UInt64(file[40 + $1]) << (8 * UInt64($1)) }
        guard length == UInt64(file.count - headerByteCount) else { return nil }
        let binary = Array(file[headerByteCount...])
        return Array(file[24..<40]) == digest(binary) ? binary : nil
    }

    /// XXH3-128 of `bytes`.
    static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 16)
        bg_xxh3_128(bytes, bytes.count, &digest)
        return digest
    }

    /// The whole file, or nil when it is missing, unreadable or not a plain file.
    static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return nil }
            filled += count
        }
        return bytes
    }

    /// Writes beside the final name, flushes and renames, so that the final name never holds half a file.
    ///
    /// - Returns: Whether the file stands; the cache does without when it does not.
    static func write(_ bytes: [UInt8], to path: String) -> Bool {
        let temporary = "\(path).\(getpid()).tmp"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress.map { $0 + written }, buffer.count - written)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            written += count
        }
        let isFlushed = written == bytes.count && fsync(descriptor) == 0
        close(descriptor)
        guard isFlushed, rename(temporary, path) == 0 else {
            unlink(temporary)
            return false
        }
        return true
    }
}
