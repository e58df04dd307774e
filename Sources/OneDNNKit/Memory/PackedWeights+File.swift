import COneDNN
import Glibc

/// The file: a fixed header of 8 bytes magic, then the lengths of key and bytes and the XXH3-64 of the bytes as 64-bit
/// little-endian numbers; the key; the bytes. oneDNN does not verify what it is given, so nothing gets there unverified.
extension PackedWeights {
    /// Names the layout of the file; a new layout gets a new one.
    private static let magic = Array("bgrunDW1".utf8)
    private static let headerByteCount = 8 + 3 * 8

    /// Writes beside the final name, flushes and renames, so that the final name never holds half a file.
    ///
    /// - Throws: ``OneDNNError/Code/fileInaccessible``.
    package func write(to path: String) throws(OneDNNError) {
        let key = Array(key.utf8)
        var header = PackedWeights.magic
        // Held by `self`.
        let payload = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer.bytes).prefix(byteCount))
        for number in [UInt64(key.count), UInt64(payload.count), bg_dnnl_xxh3_64(payload.baseAddress, payload.count)] {
            withUnsafeBytes(of: number.littleEndian) { header += $0 }
        }
        header += key
        let temporary = "\(path).\(getpid()).tmp"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw fileError(temporary) }
        do throws(OneDNNError) {
            defer { close(descriptor) }
            try AlignedBuffer(copying: header).withUnsafeBytes { (bytes) throws(OneDNNError) in
                try writeAll(bytes, descriptor, temporary)
            }
            try writeAll(payload, descriptor, temporary)
            guard fsync(descriptor) == 0 else { throw fileError(temporary) }
        } catch {
            unlink(temporary)
            throw error
        }
        guard rename(temporary, path) == 0 else {
            let error = fileError(path)
            unlink(temporary)
            throw error
        }
    }

    /// Reads what ``write(to:)`` has written.
    ///
    /// - Parameters:
    ///   - path: A plain file, not a link.
    ///   - primitive: What the weights are for; its key has to be the file's.
    ///   - argument: The part they play there.
    /// - Throws: ``OneDNNError/Code/weightsForeign``, ``OneDNNError/Code/weightsDamaged``,
    ///   ``OneDNNError/Code/fileInaccessible``.
    package init(
        contentsOf path: String, for primitive: Primitive, as argument: Argument = .weights
    ) throws(OneDNNError) {
        let target = try PackedWeights.descriptor(primitive, argument)
        let expected = Array(PackedWeights.key(target, on: primitive.engine).utf8)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw fileError(path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw fileError(path) }
        let damaged = OneDNNError(.weightsDamaged, path)
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size >= PackedWeights.headerByteCount else { throw damaged }

        let header = try readAll(PackedWeights.headerByteCount, descriptor, path)
        guard header.withUnsafeBytes({ $0.prefix(8).elementsEqual(PackedWeights.magic) }) else { throw damaged }
        func number(_ position: Int) -> UInt64 {
            header.withUnsafeBytes {
                UInt64(littleEndian: $0.load(fromByteOffset: 8 + 8 * position, as: UInt64.self))
            }
        }
        let foreign = OneDNNError(.weightsForeign, path)
        guard number(0) == UInt64(expected.count) else { throw foreign }
        let key = try readAll(expected.count, descriptor, path)
        guard key.withUnsafeBytes({ $0.elementsEqual(expected) }) else { throw foreign }
        let byteCount = target.byteCount
        guard number(1) == UInt64(byteCount),
            Int(status.st_size) == PackedWeights.headerByteCount + expected.count + byteCount
        else { throw damaged }
        let payload = try readAll(byteCount, descriptor, path)
        guard payload.withUnsafeBytes({ bg_dnnl_xxh3_64($0.baseAddress, byteCount) }) == number(2) else {
            throw damaged
        }
        self.init(payload, target, on: primitive.engine)
    }
}

/// What the last system call has left in `errno`.
private func fileError(_ path: String) -> OneDNNError {
    OneDNNError(.fileInaccessible, path, status: String(cString: strerror(errno)))
}

private func writeAll(_ bytes: UnsafeRawBufferPointer, _ descriptor: Int32, _ path: String) throws(OneDNNError) {
    var written = 0
    while written < bytes.count {
        let count = write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { throw fileError(path) }
        written += count
    }
}

private func readAll(_ byteCount: Int, _ descriptor: Int32, _ path: String) throws(OneDNNError) -> AlignedBuffer {
    let buffer = AlignedBuffer(byteCount: byteCount)
    try buffer.withUnsafeMutableBytes { (bytes) throws(OneDNNError) in
        var filled = 0
        while filled < byteCount {
            let count = read(descriptor, bytes.baseAddress.map { $0 + filled }, byteCount - filled)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw fileError(path) }
            // The file has become shorter since it was looked at.
            guard count > 0 else { throw OneDNNError(.weightsDamaged, path) }
            filled += count
        }
    }
    return buffer
}
